"""What owners of pages don't want done with them: opt-outs, as they are told today.

| told in | form | read |
|---|---|---|
| robots.txt | `Content-Signal: search=yes, ai-train=no` | in the group that is for us |
| robots.txt, header | `Content-Usage: train-ai=n`; in robots.txt a path may stand before it | the longest counts |
| header, meta | `tdm-reservation: 1` (TDMRep) | the page's own word counts before the file's |
| `/.well-known/tdmrep.json` | a list of `location` and `tdm-reservation` | the first location that fits |
| meta robots, `X-Robots-Tag` | `noai`, `noimageai` | those that are for us |
| `/ai.txt` | as robots.txt | the group that is for us |

An opt-out is a use that is not wanted, and where that is said: `ai-train:robots.txt`. `training` are those that speak
of training models, or of all mining; `all` are all of them.
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

MOST_BYTES = 500_000
MOST = 1_000  # rules of a file
_PAIR = re.compile(r"([a-z][a-z0-9-]{0,40})\s*=\s*\"?([a-z0-9?]{1,20})", re.ASCII)
_NO = frozenset({"no", "n", "0", "?0", "false", "disallow"})


def refused_uses(pairs: str) -> set[str]:
    """The uses that are refused in a list of them, in either of the forms.

    >>> sorted(refused_uses("search=yes, ai-train=no")), sorted(refused_uses("train-ai=n;exceptions=(x), ai=y"))
    (['ai-train'], ['train-ai'])
    """
    return {name for name, value in _PAIR.findall(pairs.lower()) if value in _NO}


class RobotsSignals:
    """The lines of a robots.txt that speak of use, for one agent."""

    def __init__(self, body: bytes = b"", agent: str = "") -> None:
        self.signals: set[str] = set()  # refused for the whole site
        self.usages: list[tuple[str, set[str]]] = []  # path, and what is refused there
        own, others = _groups(body, product(agent))
        for key, value in own if own is not None else others:
            if key == "content-signal":
                self.signals |= refused_uses(value)
            else:
                path, _, pairs = value.partition(" ") if value.startswith("/") else ("/", "", value)
                self.usages.append((path, refused_uses(pairs)))
        self._fits = [RobotsRules([(False, path)]) for path, _ in self.usages]

    def told(self, url: str) -> list[str]:
        """The opt-outs that hold for an address: of several paths the longest counts."""
        fitting = [usage for usage, rule in zip(self.usages, self._fits, strict=True) if not rule.allowed(url)]
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
        signals._fits = [RobotsRules([(False, path)]) for path, _ in signals.usages]
        return signals


def _groups(body: bytes, agent: str) -> tuple[list[tuple[str, str]] | None, list[tuple[str, str]]]:
    """The lines on use in the groups of an agent, None if it has none, and in those for everybody."""
    own: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    named, current, open_list = False, [own, others], False  # before any group: for everybody
    for line in body[:MOST_BYTES].decode("utf-8-sig", "replace").splitlines():
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
                if len(group) < MOST:
                    group.append((key, value))
    return (own if named else None), others


class TdmRep:
    """A site's `tdmrep.json`: where text and data mining is reserved."""

    def __init__(self, body: bytes) -> None:
        self.rules: list[tuple[RobotsRules, bool]] = []
        try:
            told: Any = json.loads(body[:MOST_BYTES].decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return
        for rule in told[:MOST] if isinstance(told, list) else ():
            if isinstance(rule, dict) and isinstance(rule.get("location"), str):
                location = rule["location"].encode("utf-8", "replace").decode()  # JSON can tell what is no text
                pattern = location if location.startswith(("/", "*")) else f"/{location}"
                self.rules.append((RobotsRules([(False, pattern)]), rule.get("tdm-reservation") in (1, "1")))

    def reserves(self, url: str) -> bool:
        for rule, reserved in self.rules:
            if not rule.allowed(url):
                return reserved
        return False


class AiTxt:
    """A site's `ai.txt`, which has the form of robots.txt."""

    def __init__(self, body: bytes, agent: str) -> None:
        text = body[:MOST_BYTES]
        if b"<html" in text[:2_000].lower():  # a page that says "not found", with 200
            text = b""
        # Patterns of file types (`Disallow: *.txt`) are as those of robots.txt; without an agent they are for all.
        if b"user-agent" not in text.lower():
            text = b"User-agent: *\n" + text
        self.rules = RobotsRules.parse(text, agent)

    def forbids(self, url: str) -> bool:
        return not self.rules.allowed(url)


def site_opt_outs(url: str, robots: RobotsSignals | None, tdmrep: TdmRep | None, ai_txt: AiTxt | None) -> list[str]:
    """The opt-outs of an address that are known before it is fetched."""
    told = robots.told(url) if robots is not None else []
    if tdmrep is not None and tdmrep.reserves(url):
        told.append(f"tdm:{TDMREP}")
    if ai_txt is not None and ai_txt.forbids(url):
        told.append(f"ai.txt:{AI_TXT}")
    return told


def page_opt_outs(fields: Mapping[str, str], directives: Collection[str], known: Iterable[str]) -> list[str]:
    """All opt-outs of a page that has come: those known before, and those of its header and its meta elements.

    What a page says itself of text and data mining counts, not the file of its site.
    """
    told = dict.fromkeys(known)
    tdm = {"header": fields.get("tdm-reservation", "").strip()}
    tdm["meta"] = next((word[len(RESERVATION) :] for word in directives if word.startswith(RESERVATION)), "")
    if {"0", "1"} & set(tdm.values()):
        told.pop(f"tdm:{TDMREP}", None)
    told |= {f"tdm:{where}": None for where, value in tdm.items() if value == "1"}
    for name in ("content-usage", "content-signal"):
        told |= {f"{use}:header": None for use in sorted(refused_uses(fields.get(name, "")))}
    told |= {f"{use}:robots": None for use in ("noai", "noimageai") if use in directives}
    return list(told)


def respected(told: Iterable[str], respect: str) -> list[str]:
    """Those that are respected.

    >>> respected(["ai-train:robots.txt", "search:robots.txt"], "training")
    ['ai-train:robots.txt']
    """
    if respect == "all":
        return list(told)
    return [one for one in told if one.partition(":")[0] in TRAINING] if respect == "training" else []


# -- X-Robots-Tag: what it says of a page, and to whom ---------------------------------------------------------------


def parse_x_robots_tag(value: str, agent: str) -> frozenset[str]:
    """The directives of X-Robots-Tag that concern us: unnamed ones, and those for our name."""
    directives: set[str] = set()
    for line in value.lower().split("\n"):
        directives |= _line_directives(line, agent.lower())
    return frozenset(directives | {"noindex", "nofollow"} if "none" in directives else directives)


def _line_directives(line: str, agent: str) -> set[str]:
    """Those of one header line; an agent's name stands before the directives that are for it alone."""
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


# -- what a site has said ----------------------------------------------------------------------------------


class Policies:
    """The files of each origin that speak of the use of pages, and which opt-outs are heeded."""

    def __init__(self, respect: str, agent: str) -> None:
        self.respect = respect  # "training", "all" or "": none
        self.agent = agent
        self._files: dict[str, dict[str, bytes]] = {}  # of each origin, by path
        self._read: dict[str, tuple[TdmRep, AiTxt]] = {}  # the same, read

    def prerequisite(
        self, node: str, rules: RobotsRules, signals: RobotsSignals | None
    ) -> Task | tuple[Outcome, str] | None:
        """Where opt-outs are heeded: what has to be read first, or what is said against the node."""
        if not self.respect:
            return None
        base = origin(node)
        known = self._files.get(base, {})
        for path in FILES:
            if path not in known and rules.allowed(base + path):
                return Task(base + path, "policy", origin=node)
        told = respected(self._told(node, signals), self.respect)
        return ("denied", f"opted out: {', '.join(told)}") if told else None

    def heed(
        self,
        node: str,
        fields: Mapping[str, str],
        directives: frozenset[str],
        signals: RobotsSignals | None,
        page: Page,
    ) -> bool:
        """Note the opt-outs of a page; whether it has to be left out for one of them."""
        told = page_opt_outs(fields, directives, self._told(node, signals))
        if not told:
            return False
        page.data["opt_outs"] = told
        left_out = respected(told, self.respect)
        if left_out:
            page.outcome, page.exchange, page.note = "unwanted", None, f"opted out: {', '.join(left_out)}"[:300]
        return bool(left_out)

    def _told(self, node: str, signals: RobotsSignals | None) -> list[str]:
        """The opt-outs of a node that are known before it is fetched."""
        base = origin(node)
        files = self._files.get(base)
        tdmrep, ai_txt = None, None
        if files:
            if base not in self._read:
                bodies = [files.get(path, b"") for path in FILES]
                self._read[base] = TdmRep(bodies[0]), AiTxt(bodies[1], self.agent)
            tdmrep, ai_txt = self._read[base]
        return site_opt_outs(node, signals, tdmrep, ai_txt)

    def learn(self, visit: Visit) -> None:
        """See one of these files; one that did not come is none."""
        base = origin(visit.origin)
        self._files.setdefault(base, {})[visit.node[len(origin(visit.node)) :]] = visit.data.get("body", b"")
        self._read.pop(base, None)

    def state(self) -> State:
        return {base: dict(files) for base, files in self._files.items()}

    def restore(self, state: State) -> None:
        self._files = {base: dict(files) for base, files in state.items()}
