"""What the changes so far have made of a page: edits folded one by one, no two versions ever alike.

A reader may compare any two versions, so none may come back: paragraphs have a number of their own and are not
written twice, what is dropped is the oldest, numbers in tables only grow, titles are used once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from .chance import dice, stir
from .change_process import COSMETICS, Edit
from .graph import Graph
from .prose import NOWHERE, TOPICS, subject_of, title

MOST_LINKS = 8
"""Added links on a page; with one more, the oldest goes."""

_FEWEST, _GROWTH = 3, 6  # paragraphs a page keeps at least, and may have more than at first
_NEW = 0.15  # of the added links, those to pages that did not exist before

Links: TypeAlias = Callable[[int], frozenset[int]]


class Block(NamedTuple):
    """A paragraph: written in which change (0: there from the beginning), the how manieth, on what."""

    change: int
    number: int
    topic: int


class Birth(NamedTuple):
    """A page that begins to be with a link to it."""

    number: int
    at: float
    topic: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What changes: a clean page (`part` 0), a page born of one (`part` the number of the change), its picture (-1)."""

    page: int
    part: int
    topic: int
    born: float = float("-inf")

    @property
    def key(self) -> tuple[int, int]:
        """What everything about it is drawn by."""
        return self.page, self.part


@dataclass(frozen=True, slots=True)
class State:
    """A page as its changes left it."""

    topic: int
    blocks: tuple[Block, ...]
    first: int
    """How many paragraphs it began with."""
    table: tuple[int, ...] = ()
    """How much has been added to each number."""
    title: str = ""
    used: frozenset[str] = frozenset()
    """Titles it has had."""
    layout: int = 0
    links: tuple[int, ...] = ()
    """Pages that links were added to; a negative number -n: the page born with change n."""
    births: tuple[Birth, ...] = ()
    turns: int = 0
    """Times that it turned to another topic, or back."""
    real: int = 0
    every: int = 0
    changed: float | None = None
    """When it last changed in earnest, in days; None for never."""
    touched: float | None = None
    """The same for changes of any sort."""
    looks: tuple[int, ...] = (0,) * len(COSMETICS)
    """How often each cosmetic change was made."""


def apply(state: State, edit: Edit, subject: Subject, graph: Graph, links: Links) -> State:
    """Make one change; `links` tells which pages a clean page links to from the beginning."""
    every = state.every + 1
    if not edit.real:
        looks = state.looks
        if edit.how in COSMETICS:
            at = COSMETICS.index(edit.how)
            looks = (*looks[:at], looks[at] + 1, *looks[at + 1 :])
        return replace(state, every=every, touched=edit.at, looks=looks)
    n = state.real + 1
    code = stir(graph.seed, "edit", subject.page, subject.part, n)
    made: dict[str, Any] = {}
    if edit.how == "structure":
        made = {"layout": state.layout + 1}
    elif edit.how == "table" and state.table:
        at = code % len(state.table)
        grown = state.table[at] + 1 + code // 100 % 20
        made = {"table": (*state.table[:at], grown, *state.table[at + 1 :])}
    elif edit.how == "title":
        made = _retitle(state, n, state.topic, subject, graph)
    elif edit.how == "link":
        made = _add_link(state, n, edit.at, subject, graph, links)
    elif edit.how == "topic":
        made = _turn(state, n, code, subject, graph)
    elif state.blocks:
        made = {"blocks": _write(state, edit.how, n, code)}
    # Nothing is made of a picture: its number is all there is to it.
    return replace(state, real=n, every=every, changed=edit.at, touched=edit.at, **made)


def _write(state: State, how: str, n: int, code: int) -> tuple[Block, ...]:
    """Add, replace or drop a paragraph, as far as there is room."""
    blocks, new = list(state.blocks), Block(n, 0, state.topic)
    oldest = min(range(len(blocks)), key=lambda i: blocks[i][:2])
    if how == "drop" and len(blocks) > max(2, min(_FEWEST, state.first - 1)):
        del blocks[oldest]
    elif how == "add" and len(blocks) < state.first + _GROWTH:
        blocks.insert(code % (len(blocks) + 1), new)
    elif how == "add":
        del blocks[oldest]
        blocks.insert(0, new)
    else:
        blocks[code % len(blocks)] = new
    return tuple(blocks)


def _retitle(state: State, n: int, topic: int, subject: Subject, graph: Graph) -> dict[str, Any]:
    """Give the page a title that it never had."""
    if topic != NOWHERE:
        for attempt in range(20):
            words = title(topic, graph.seed, "retitled", subject.page, subject.part, n, attempt)
            if words not in state.used:
                return {"title": words, "used": state.used | {words}}
    site = graph.names[graph.section(subject.page).host].removesuffix(".localhost")
    return {"title": f"{site.replace('-', ' ').title()}, edition {n}"}


def _add_link(state: State, n: int, at: float, subject: Subject, graph: Graph, links: Links) -> dict[str, Any]:
    """Link to a page that was not linked to before: one on the same topic, or a new one."""
    rng = dice(graph.seed, "added link", subject.page, subject.part, n)
    topic = state.topic
    if topic == NOWHERE:
        own = [section.topic for section in graph.of_host[graph.section(subject.page).host][1:]]
        topic = own[int(rng.random() * len(own))]
    if subject.part == 0 and rng.random() < _NEW:
        return {"links": (*state.links, -n)[-MOST_LINKS:], "births": (*state.births, Birth(n, at, topic))}
    there = links(subject.page)
    drawn = (graph.mainland(rng, topic) for _ in range(20))
    fresh = (page for page in drawn if page != subject.page and page not in there and page not in state.links)
    # Where the topic has no other page, any page will do.
    target = next(fresh, None)
    if target is None:
        target = next(p for p in range(graph.pages) if p != subject.page and p not in there and p not in state.links)
    return {"links": (*state.links, target)[-MOST_LINKS:]}


def _turn(state: State, n: int, code: int, subject: Subject, graph: Graph) -> dict[str, Any]:
    """Write all anew, on another topic or again on the first."""
    others = [t for t in range(len(TOPICS)) if subject_of(t) != subject_of(subject.topic)]
    topic = others[code // 100 % len(others)] if state.turns % 2 == 0 else subject.topic
    blocks = tuple(Block(n, i, topic) for i in range(max(_FEWEST, min(8, state.first))))
    titled = _retitle(state, n, topic, subject, graph)
    return {"topic": topic, "turns": state.turns + 1, "blocks": blocks, **titled}
