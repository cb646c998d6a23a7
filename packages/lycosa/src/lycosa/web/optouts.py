"""Opt-outs: uses of a page that its owner forbids.

| declared in | form | rule |
|---|---|---|
| robots.txt | `Content-Signal: search=yes, ai-train=no` | in the group of our agent |
| robots.txt, header | `Content-Usage: train-ai=n`; in robots.txt optionally after a path | the longest path counts |
| header, meta | `tdm-reservation: 1` (TDMRep) | overrides the site's file |
| `/.well-known/tdmrep.json` | a list of `location` and `tdm-reservation` | the first matching location |
| meta robots, `X-Robots-Tag` | `noai`, `noimageai` | those for our agent |
| `/ai.txt` | as robots.txt | the group of our agent |

An opt-out is written as use and source: `ai-train:robots.txt`. `training` respects those on training models or all text
and data mining; `all` respects every opt-out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from lycosa.core.state import State
from lycosa.core.types import Outcome, Page, Task, Visit
from lycosa.web.robots import RobotsRules, product
from lycosa.web.urls import origin

CHOICES = ("", "training", "all")
RESERVATION = "tdm-reservation="  # prefix of a meta element's value among the directives
# uses that include training
TRAINING = frozenset({"ai-train", "train-ai", "train-genai", "ai", "bots", "tdm", "noai", "ai.txt"})
TDMREP, AI_TXT = "/.well-known/tdmrep.json", "/ai.txt"
FILES = (TDMREP, AI_TXT)
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
MAX_FILE_BYTES = 500_000
MAX_RULES = 1_000  # rules per file
_PAIR = re.compile(r"([a-z][a-z0-9-]{0,40})\s*=\s*\"?([a-z0-9?]{1,20})", re.ASCII)
_NO = frozenset({"no", "n", "0", "?0", "false", "disallow"})


def refused_uses(pairs: str) -> set[str]:
    """Return the refused uses of a Content-Signal or Content-Usage value."""
    return {name for name, value in _PAIR.findall(pairs.lower()) if value in _NO}


class RobotsSignals:
    """Content-Signal and Content-Usage lines of a robots.txt for one agent."""

    def __init__(self, body: bytes = b"", agent: str = "") -> None:
        self.signals: set[str] = set()  # refused for the whole site
        self.usages: list[tuple[str, set[str]]] = []  # path and the uses refused there
        own, others = _groups(body, product(agent))
        for key, value in own if own is not None else others:
            if key == "content-signal":
                self.signals |= refused_uses(value)
            else:
                path, _, pairs = value.partition(" ") if value.startswith("/") else ("/", "", value)
                self.usages.append((path, refused_uses(pairs)))
        self._rules = [RobotsRules([(False, path)]) for path, _ in self.usages]

    def opt_outs(self, url: str) -> list[str]:
        """Return the opt-outs of a URL; of several matching paths the longest counts."""
        fitting = [usage for usage, rule in zip(self.usages, self._rules, strict=True) if not rule.allowed(url)]
        longest = max((len(path) for path, _ in fitting), default=0)
        uses = self.signals.union(*(uses for path, uses in fitting if len(path) == longest))
        return [f"{use}:robots.txt" for use in sorted(uses)]

    def state(self) -> list[Any]:
        return [sorted(self.signals), [[path, sorted(uses)] for path, uses in self.usages]]

    @classmethod
    def of(cls, state: list[Any]) -> RobotsSignals:
        signals = cls()
        signals.signals = set(state[0])
        signals.usages = [(path, set(uses)) for path, uses in state[1]]
        signals._rules = [RobotsRules([(False, path)]) for path, _ in signals.usages]
        return signals


def _groups(body: bytes, agent: str) -> tuple[list[tuple[str, str]] | None, list[tuple[str, str]]]:
    """Return the signal lines of the agent's groups (None if it has none) and of the `*` groups."""
    own: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    named, current, open_list = False, [own, others], False  # lines before any group apply to every agent
    for line in body[:MAX_FILE_BYTES].decode("utf-8-sig", "replace").splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            current = current if open_list else []
            open_list = True
            if agent and product(value) == agent:
                named = True
                current.append(own)
            elif value == "*":
                current.append(others)
            continue
        open_list = False
        if key in ("content-signal", "content-usage"):
            for group in current:
                if len(group) < MAX_RULES:
                    group.append((key, value))
    return (own if named else None), others


class TdmRep:
    """A site's `tdmrep.json`: URLs for which text and data mining is reserved."""

    def __init__(self, body: bytes) -> None:
        self.rules: list[tuple[RobotsRules, bool]] = []
        try:
            data: Any = json.loads(body[:MAX_FILE_BYTES].decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return
        for rule in data[:MAX_RULES] if isinstance(data, list) else ():
            if isinstance(rule, dict) and isinstance(rule.get("location"), str):
                # JSON strings may contain lone surrogates.
                location = rule["location"].encode("utf-8", "replace").decode()
                pattern = location if location.startswith(("/", "*")) else f"/{location}"
                self.rules.append((RobotsRules([(False, pattern)]), rule.get("tdm-reservation") in (1, "1")))

    def reserves(self, url: str) -> bool:
        for rule, reserved in self.rules:
            if not rule.allowed(url):
                return reserved
        return False


def parse_ai_txt(body: bytes, agent: str) -> RobotsRules:
    text = body[:MAX_FILE_BYTES]
    if b"<html" in text[:2_000].lower():  # a "not found" page with status 200
        text = b""
    if b"user-agent" not in text.lower():  # the rules apply to all agents
        text = b"User-agent: *\n" + text
    return RobotsRules.parse(text, agent)


def site_opt_outs(
    url: str, robots: RobotsSignals | None, tdmrep: TdmRep | None, ai_txt: RobotsRules | None
) -> list[str]:
    opt_outs = robots.opt_outs(url) if robots is not None else []
    if tdmrep is not None and tdmrep.reserves(url):
        opt_outs.append(f"tdm:{TDMREP}")
    if ai_txt is not None and not ai_txt.allowed(url):
        opt_outs.append(f"ai.txt:{AI_TXT}")
    return opt_outs


def page_opt_outs(fields: Mapping[str, str], directives: Collection[str], known: Iterable[str]) -> list[str]:
    """Return the opt-outs of a fetched page; its own tdm-reservation overrides the file of its site."""
    opt_outs = dict.fromkeys(known)
    tdm = {"header": fields.get("tdm-reservation", "").strip()}
    tdm["meta"] = next((word[len(RESERVATION) :] for word in directives if word.startswith(RESERVATION)), "")
    if {"0", "1"} & set(tdm.values()):
        opt_outs.pop(f"tdm:{TDMREP}", None)
    opt_outs |= {f"tdm:{where}": None for where, value in tdm.items() if value == "1"}
    for name in ("content-usage", "content-signal"):
        opt_outs |= {f"{use}:header": None for use in sorted(refused_uses(fields.get(name, "")))}
    opt_outs |= {f"{use}:robots": None for use in ("noai", "noimageai") if use in directives}
    return list(opt_outs)


def respected(opt_outs: Iterable[str], respect: str) -> list[str]:
    """Filter opt-outs by the `respect` option."""
    if respect == "all":
        return list(opt_outs)
    return [opt_out for opt_out in opt_outs if opt_out.partition(":")[0] in TRAINING] if respect == "training" else []


def parse_x_robots_tag(value: str, agent: str) -> frozenset[str]:
    """Return the directives of X-Robots-Tag that apply to us: those for all agents and those for our name."""
    directives: set[str] = set()
    for line in value.lower().split("\n"):
        directives |= _line_directives(line, agent.lower())
    return frozenset(directives | {"noindex", "nofollow"} if "none" in directives else directives)


def _line_directives(line: str, agent: str) -> set[str]:
    directives: set[str] = set()
    applies = True
    for part in line.split(","):
        name, colon, rest = part.partition(":")
        name = name.strip()
        # `name: value` is a directive with a value or a user agent; a piece of a date (unavailable_after) is neither.
        if colon and name.replace("-", "").replace("_", "").isalpha() and name not in _VALUED:
            applies = name == agent
            part = rest
        if applies:
            directives.add(part.strip())
    return directives


class Policies:
    """The opt-out files of each origin, and the opt-outs to respect."""

    def __init__(self, respect: str, agent: str) -> None:
        self.respect = respect  # "training", "all" or "" (ignore opt-outs)
        self.agent = agent
        self._files: dict[str, dict[str, bytes]] = {}  # origin -> path -> content
        self._read: dict[str, tuple[TdmRep, RobotsRules]] = {}  # origin -> parsed files

    def prerequisite(
        self, node: str, rules: RobotsRules, signals: RobotsSignals | None
    ) -> Task | tuple[Outcome, str] | None:
        """Return the policy file to fetch first, or the outcome if the node is opted out; None to go on."""
        if not self.respect:
            return None
        base = origin(node)
        known = self._files.get(base, {})
        for path in FILES:
            if path not in known and rules.allowed(base + path):
                return Task(base + path, "policy", origin=node)
        opt_outs = respected(self._known_opt_outs(node, signals), self.respect)
        return ("denied", f"opted out: {', '.join(opt_outs)}") if opt_outs else None

    def record_opt_outs(
        self,
        node: str,
        fields: Mapping[str, str],
        directives: frozenset[str],
        signals: RobotsSignals | None,
        page: Page,
    ) -> bool:
        """Record the opt-outs of a page; return True if it must be dropped."""
        opt_outs = page_opt_outs(fields, directives, self._known_opt_outs(node, signals))
        if not opt_outs:
            return False
        page.data["opt_outs"] = opt_outs
        left_out = respected(opt_outs, self.respect)
        if left_out:
            page.outcome, page.exchange, page.note = "unwanted", None, f"opted out: {', '.join(left_out)}"[:300]
        return bool(left_out)

    def _known_opt_outs(self, node: str, signals: RobotsSignals | None) -> list[str]:
        base = origin(node)
        files = self._files.get(base)
        tdmrep, ai_txt = None, None
        if files:
            if base not in self._read:
                bodies = [files.get(path, b"") for path in FILES]
                self._read[base] = TdmRep(bodies[0]), parse_ai_txt(bodies[1], self.agent)
            tdmrep, ai_txt = self._read[base]
        return site_opt_outs(node, signals, tdmrep, ai_txt)

    def learn(self, visit: Visit) -> None:
        """Store a fetched policy file; a failed request counts as an empty file."""
        base = origin(visit.origin)
        self._files.setdefault(base, {})[visit.node[len(origin(visit.node)) :]] = visit.data.get("body", b"")
        self._read.pop(base, None)

    def state(self) -> State:
        return {base: dict(files) for base, files in self._files.items()}

    def restore(self, state: State) -> None:
        self._files = {base: dict(files) for base, files in state.items()}
