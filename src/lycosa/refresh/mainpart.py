"""The main part of a page (web/mainpart.py) in its document tree, without dates and counters: what changes count in.

One pass over the tree, linear whatever the markup: texts are held against that of the main part, in order, and those
that are found there belong to it, as do pictures among them. They fall into blocks: paragraphs, items of lists, rows of
tables. Blocks lose what changes by itself (stamps.py). One that has nothing left is not there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from lycosa.refresh.change import Kind
from lycosa.refresh.stamps import unstamped
from lycosa.web.tree import Tree

SURE = 12
"""Letters of a text that is found again in the main part wherever it is; shorter ones have to follow the one before."""

AHEAD, BACK = 20_000, 200
"""Letters of the main part among which a text is looked for, after the last one that was found, and before it."""

NEAR = 10
"""Nodes beyond the first text and the last one of the main part among which pictures are its own."""

SKIP, OUTSIDE, STAMPED, TABLE, TITLE = 1, 2, 4, 8, 16

_SKIPPED = frozenset("head script style template noscript select textarea button datalist object iframe canvas".split())
_BLOCKS = frozenset(
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section summary table "
    "tbody tfoot thead title tr ul".split()
)
_MEDIA = frozenset("img picture video audio svg math".split())
_DATED = re.compile(
    r"(?:byline|date|dateline|datetime|entry-meta|lastmod|last-?(?:updated|modified)|meta|modified|post-?(?:date|meta)|"
    r"posted(?:-on)?|pubdate|published|time|timestamp|updated)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNREAD = re.compile(r"^\(\d{1,4}\+?\)\s*")
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_HAN}]|[^\W_](?:[^\s{_HAN}]*[^\W_])?")


@dataclass(slots=True)
class MainPart:
    """What is left of a page."""

    blocks: list[str] = field(default_factory=list)
    furniture: list[str] = field(default_factory=list)
    """The other blocks, treated alike."""
    inside: bytearray = field(default_factory=bytearray)
    """For each node of the tree, whether it belongs to the main part: its texts, what holds them, and its pictures."""
    hrefs: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    """What its blocks say outside of links."""
    plain: bytearray = field(default_factory=bytearray)
    """As `inside`, but for what only links say."""

    @property
    def words(self) -> list[str]:
        """Its words, in order."""
        return words_of(self.blocks)


@dataclass(slots=True)
class _Block:
    at: int
    state: int
    texts: list[int] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    plain: list[int] = field(default_factory=list)
    line: str = ""


def words_of(blocks: Iterable[str]) -> list[str]:
    """The words of some blocks, without punctuation around them; of Chinese and Japanese the characters.

    >>> words_of(["Reefs (coral), 4.31 m -", "珊瑚"])
    ['Reefs', 'coral', '4.31', 'm', '珊', '瑚']
    """
    return [word for block in blocks for word in _WORDS.findall(block)]


class _Trace:
    """Says of each text of a page, in order, whether it is in the main part."""

    def __init__(self, main: str) -> None:
        self.main = "".join(main.split())
        self.at = 0

    def has(self, text: str) -> bool:
        """Whether it is the next, or long enough to be told wherever it is."""
        sought = "".join(text.replace("\xad", "").split())
        if not self.main.startswith(sought, self.at):
            if len(sought) < SURE:
                return False
            found = self.main.find(sought, max(0, self.at - BACK), self.at + AHEAD + len(sought))
            if found < 0:
                return False
            self.at = found
        self.at += len(sought)
        return True


def main_part(tree: Tree, main: str) -> MainPart:
    """The main part of a page, by its text.

    >>> from lycosa.web.tree import tree_of
    >>> page = "<nav><a href=/>Home</a></nav><h1>Reefs</h1><p>Coral lives.<p>Updated 3 May 2024<footer>(c)</footer>"
    >>> main_part(tree_of(page), "Reefs\\nCoral lives.\\nUpdated 3 May 2024").blocks
    ['Reefs', 'Coral lives.']
    """
    states, blocks, links = _read(tree, _Trace(main))
    part = MainPart(inside=bytearray(len(tree)), plain=bytearray(len(tree)))
    for block in blocks:
        if not block.line:
            continue
        if block.state & OUTSIDE:
            part.furniture.append(block.line)
        else:
            part.blocks.append(block.line)
            for node in block.texts:
                part.inside[node] = 1
            for node in block.plain:
                part.plain[node] = 1
            line = " ".join(" ".join(block.unlinked).split())
            if line := unstamped(line, table=bool(block.state & TABLE)) if line else "":
                part.unlinked.append(line)
    _fill(tree, states, part.inside)
    _fill(tree, states, part.plain)
    part.hrefs = [tree.attributes[node]["href"] for node in links if part.inside[node]]
    return part


def _read(tree: Tree, trace: _Trace) -> tuple[list[int], list[_Block], list[int]]:
    """The state of each node, the page's blocks with their lines, and its link elements."""
    states: list[int] = []
    holder: list[int] = []  # for each node the innermost block element it is in
    link_of: list[int] = []
    links: list[int] = []
    blocks: list[_Block] = []
    block = _Block(-1, SKIP)
    broken = True
    for node, (name, parent) in enumerate(zip(tree.names, tree.parents, strict=True)):
        state = states[parent] if parent >= 0 else 0
        held = holder[parent] if parent >= 0 else -1
        link = link_of[parent] if parent >= 0 else -1
        if name:
            state = _state(name, state, tree.attributes[node])
            if name in _BLOCKS:
                held, broken = node, True
            elif name in ("td", "th") and not broken and block.at == held:
                block.pieces.append(" | ")
            if name == "a" and "href" in tree.attributes[node]:
                link = node
                links.append(node)
        elif not state & SKIP and (text := tree.texts[node]) and not text.isspace():
            if not state & TITLE and not trace.has(text):
                state |= OUTSIDE
            if broken or block.at != held or (block.state ^ state) & OUTSIDE:
                block = _Block(held, state)
                blocks.append(block)
                broken = False
            block.texts.append(node)
            if state & STAMPED:
                block.pieces.append(" " + unstamped(" ".join(text.split()), stamped=True) + " ")
            else:
                block.pieces.append(text)
            if link < 0:
                block.plain.append(node)
                block.unlinked.append(block.pieces[-1])
        elif not name and not broken and not state & SKIP:
            block.pieces.append(" ")
        states.append(state)
        holder.append(held)
        link_of.append(link)
    for block in blocks:
        line = " ".join("".join(block.pieces).split())
        if block.state & TITLE:
            line = _UNREAD.sub("", line)
        block.line = unstamped(line, table=bool(block.state & TABLE))
    return states, blocks, links


def _state(name: str, state: int, attributes: dict[str, str]) -> int:
    """The state of an element, from that of its parent."""
    if name in _SKIPPED:
        return state | SKIP
    if name == "title" and state & SKIP:
        state = state & ~SKIP | TITLE  # the one thing of the head that is shown
    elif name == "tr":
        state |= TABLE
    if attributes:
        if "hidden" in attributes or ("style" in attributes and _HIDDEN.search(attributes["style"][:1000])):
            state |= SKIP
        names = (attributes.get("class", "") + " " + attributes.get("id", ""))[:1000].split()
        if names and any(map(_DATED.fullmatch, names)):
            state |= STAMPED
    return state


def _fill(tree: Tree, states: list[int], inside: bytearray) -> None:
    """Mark pictures among what is marked, and whatever holds something that is marked."""
    first, last = inside.find(1), inside.rfind(1)
    for node in range(len(tree) - 1, 0, -1):
        if tree.names[node] in _MEDIA and first - NEAR <= node <= last + NEAR and not states[node] & SKIP:
            attributes = tree.attributes[node]
            if not {attributes.get("width"), attributes.get("height")} & {"0", "1"}:
                inside[node] = 1
        if inside[node]:
            inside[tree.parents[node]] = 1


@dataclass(slots=True, frozen=True)
class Difference:
    """How two main parts differ, in words."""

    lost: int = 0
    gained: int = 0
    moved: bool = False
    share: float = 0.0
    reordered: bool = False
    """The blocks are the same, in another order."""
    linked: bool = False
    """Whatever differs is said by links."""

    @property
    def kind(self) -> Kind:
        """What kind of change that is."""
        return "structure" if self.reordered else "link" if self.linked else "text"

    def __bool__(self) -> bool:
        return self.share > 0


def difference(old: MainPart, new: MainPart) -> Difference:
    """What the one says and the other doesn't.

    share = (max(lost, gained) - common) / max(words of old, words of new), over the words of blocks that only one has;
    where these have the same words, the share of neighbouring words that are no neighbours in the other.
    A block that the other has as furniture is not lost: it is the same text, and the rules judged its surroundings.

    >>> difference(MainPart(["one two", "three four"]), MainPart(["one two", "three five"]))
    Difference(lost=1, gained=1, moved=False, share=0.25, reordered=False, linked=False)
    """
    before, after = old.words, new.words
    if before == after:
        return Difference()
    most = max(len(before), len(after), 1)
    lost = Counter(words_of(_only(old.blocks, new)))
    gained = Counter(words_of(_only(new.blocks, old)))
    if not lost and not gained:  # the same blocks; are they in the same order?
        there, here = set(new.blocks), set(old.blocks)
        before = words_of(block for block in old.blocks if block in there)
        after = words_of(block for block in new.blocks if block in here)
        share = share_of_others(before, after)
        return Difference(moved=True, share=share, reordered=True) if before != after else Difference()
    common = (lost & gained).total()
    others = max(lost.total(), gained.total()) - common
    if not others:
        return Difference(moved=True, share=max(share_of_others(before, after), 1 / most))
    linked = bool(old.unlinked or new.unlinked) and words_of(old.unlinked) == words_of(new.unlinked)
    return Difference(lost.total() - common, gained.total() - common, share=others / most, linked=linked)


def _only(blocks: list[str], other: MainPart) -> list[str]:
    """The blocks that the other version does not have, neither here nor there."""
    elsewhere = set(other.furniture)
    have = Counter(other.blocks)
    only: list[str] = []
    for block in blocks:
        if have[block]:
            have[block] -= 1
        elif block not in elsewhere:
            only.append(block)
    return only


def share_of_others(old: list[str], new: list[str]) -> float:
    """The share of the longer sequence's items that the shorter does not have; where both have the same, of the pairs
    of neighbours. 0 for equal sequences and no others; linear.

    >>> share_of_others(list("aab"), list("abcd")), share_of_others(list("abcd"), list("dabc"))
    (0.5, 0.6)
    """
    if old == new:
        return 0.0
    if not old or not new:
        return 1.0
    most = max(len(old), len(new))
    others = most - (Counter(old) & Counter(new)).total()
    if others:
        return others / most
    pairs = [Counter(zip(["", *items], [*items, ""], strict=True)) for items in (old, new)]
    return max(most + 1 - (pairs[0] & pairs[1]).total(), 1) / (most + 1)
