"""Which pages a browser should look at: by how they look, and by what rendering brought on their host before.

A fold over the log. Of each page that was rendered the log has the words and the links with and without, so that both
are always compared on the same page; pages that were not rendered are counted, and now and then one of them is
rendered after all, so that a site that has changed is noticed. A page without scripts is never rendered.
"""

from __future__ import annotations

import re
from collections import Counter

from lycosa.core.state import State, Untold
from lycosa.core.types import Visit
from lycosa.web.rendering import Look
from lycosa.web.urls import lane

FADE = 0.6
"""What the past weighs against the last page of the same kind."""

ENOUGH = 0.5
"""Share of useful renderings, the last counting most, from which on a kind of page is always rendered."""

TRIES = 3
"""Renderings in vain of pages that look like empty shells before their kind is left alone."""

SAMPLE_AFTER = 500
"""Pages of a host without a rendering after which one is tried; twice as many after each that was in vain."""

KNOWN = 10
"""Pages of a host that needed no browser, after which a page that only lacks links is taken for a short one."""

READ, MOST_KINDS = 10, 10_000
"""Pages of a kind whose scripts are read to see whether they add something later; and kinds that are counted."""

THIN, THIN_SHARE = 2, 0.02
"""Tries in vain at pages that look thin: so many, and this share of all pages."""

SHARE = 0.0005
"""Tries in vain at pages that show no need, as a share of all pages: one takes as long as some two hundred pages."""

MORE_WORDS, MORE_LINKS = 20, 3
"""What rendering has to add at least to be useful, or a fifth of what was there."""

_NUMBER, _ID = re.compile(r"\d+"), re.compile(r"[0-9a-f]{8,}|.*[-_.%].*|.{25,}", re.IGNORECASE)


def template(node: str) -> str:
    """The kind of page that an address is of, as far as it tells: its host and the shape of its path.

    >>> template("http://a.test/posts/2024/how-reefs-grow?page=3")
    'a.test /posts/0/* page'
    >>> template("http://a.test/posts/2023/why-reefs-die") == template("http://a.test/posts/2024/how-reefs-grow")
    True
    """
    path, _, route = node.partition("#")
    path, _, query = path.partition("?")
    pieces = path.split("/")[3:] + (["#", *route.split("/")[1:]] if route else [])
    shape = ["*" if _ID.fullmatch(_NUMBER.sub("", piece)) else _NUMBER.sub("0", piece) for piece in pieces]
    names = sorted({pair.partition("=")[0] for pair in query.split("&") if pair})
    return f"{lane(node)} /{'/'.join(shape[:6])}{' ' + ' '.join(names[:6]) if names else ''}"


def is_useful(render: dict[str, list[int]]) -> bool:
    """Whether a rendering brought more words or links."""
    (words, more_words), (links, more_links) = render["words"], render["links"]
    return more_words - words >= max(MORE_WORDS, words / 5) or more_links - links >= max(MORE_LINKS, links / 5)


class Needs:
    """What is known of hosts and of kinds of pages."""

    def __init__(self, always: bool = False) -> None:
        self.always = always
        self.tried: Counter[str] = Counter()
        """Renderings, by kind of page and by host."""
        self.useful: dict[str, float] = {}
        """The share of them that brought more, the last counting most."""
        self.since: Counter[str] = Counter()
        """Pages of each host since the last rendering."""
        self.in_vain: Counter[str] = Counter()
        """Tries in a row, by host, that brought nothing."""
        self.pages = 0
        self.thin = self.samples = 0
        """Tries in vain at thin pages, and at those that show no need."""
        self._trying: dict[str, set[str]] = {}  # by host the pages that are tried just now
        self._read: Counter[str] = Counter()  # by kind of page how many have had their scripts read

    def wants(self, node: str, look: Look) -> str:
        """Why a page should be rendered; empty: it should not."""
        if "#" in node:
            return "route"
        if not look.scripts:
            return ""
        if self.always:
            return "always"
        return self._known(node, look) or self._tried(node, look)

    def _known(self, node: str, look: Look) -> str:
        """What this kind of page, or its host, or its looks say."""
        kind, host = template(node), lane(node)
        if self.tried[kind]:
            if self.useful[kind] >= ENOUGH:
                return "kind"
            return "shell" if look.is_shell and self.tried[kind] < TRIES else ""
        if self.tried[host] >= 2 * TRIES and self.useful[host] < 0.2:
            return ""
        if look.is_shell:
            return "shell"
        needy = bool(self.tried[host]) and self.useful[host] >= ENOUGH
        return "host" if needy and (look.is_thin or look.lacks_links or look.later()) else ""

    def _tried(self, node: str, look: Look) -> str:
        """Whether to try one that need not be rendered, as far as is known."""
        kind, host = template(node), lane(node)
        trying = len(self._trying.get(host, ()))
        why = ""
        untried = not self.tried[kind] and self.in_vain[host] + trying < TRIES
        if untried and (look.is_thin or (look.lacks_links and self.since[host] < KNOWN) or self._adds(kind, look)):
            why = "thin" if self.thin < THIN + THIN_SHARE * self.pages else ""
        elif not trying and self.since[host] >= SAMPLE_AFTER * 2 ** self.in_vain[host]:
            why = "sample" if self.samples < SHARE * self.pages else ""
        if why:
            self._trying.setdefault(host, set()).add(node)
        return why

    def _adds(self, kind: str, look: Look) -> bool:
        """Whether its scripts seem to add something later. Pages of a kind have the same scripts: a few are read."""
        if self._read[kind] >= READ:
            return False
        if len(self._read) > MOST_KINDS:
            self._read.clear()
        self._read[kind] += 1
        return look.later()

    def learn(self, visit: Visit) -> None:
        """See a recorded visit."""
        if visit.kind not in ("page", "revisit"):
            return
        if lane(visit.node) in self._trying:
            self._trying[lane(visit.node)].discard(visit.node)
        if visit.outcome != "ok" and "render" not in visit.data:
            return
        self.pages += 1
        host, render = lane(visit.node), visit.data.get("render")
        if render is None:
            self.since[host] += 1
            return
        useful = is_useful(render)
        for name in (template(visit.node), host):
            before = self.useful.get(name, float(useful))
            self.useful[name] = FADE * before + (1 - FADE) * useful
            self.tried[name] += 1
        self.since[host] = 0
        self.in_vain[host] = 0 if useful else self.in_vain[host] + 1
        self.thin += not useful and render["why"] == "thin"
        self.samples += not useful and render["why"] == "sample"

    def state(self) -> State:
        """All of it."""
        return {
            "tried": dict(self.tried), "useful": dict(self.useful), "since": dict(self.since),
            "in_vain": dict(self.in_vain), "pages": self.pages, "thin": self.thin, "samples": self.samples,
        }  # fmt: skip

    def restore(self, state: State) -> None:
        """Know of that."""
        if "tried" not in state:
            raise Untold("there was no browser then")
        self.tried, self.since, self.in_vain = (Counter(state[name]) for name in ("tried", "since", "in_vain"))
        self.useful, self.pages = dict(state["useful"]), state["pages"]
        self.thin, self.samples = state["thin"], state["samples"]
