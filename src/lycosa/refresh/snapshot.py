"""One version of a page as the detectors see it. What is costly is computed when it is first asked for.

Changes count in the main part of a page (web/mainpart.py), without dates and counters. To find it in the document tree,
texts are held against that of the main part, in order, and those that are found there belong to it, as do pictures
among them. They fall into blocks: paragraphs, items of lists, rows of tables. Blocks lose what changes by itself
(stamps.py). One that has nothing left is not there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lycosa.core.types import Exchange
from lycosa.refresh.stamps import unstamped
from lycosa.text.fingerprint import Signs
from lycosa.text.tokens import stems
from lycosa.web.decoding import charset_of, decode
from lycosa.web.html import HTML
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.reading import read_again
from lycosa.web.tree import Tree, base_of, images, tree_of
from lycosa.web.urls import resolve

INFLATED = 10_000_000
"""Bytes of a body that are compared: as many as are read while crawling."""

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


@dataclass
class Picture:
    """An image, as far as two of them can be compared."""

    digest: bytes
    print: int = -1
    """Its perceptual hash, 64 bits; -1 where none could be made."""


@dataclass
class Snapshot:
    """A version. Equal `body` means equal in every way but the headers."""

    url: str
    body: bytes = b""
    """Inflated; empty where nothing is archived, and then the detectors that read it have nothing to say."""
    content_type: str = ""
    title: str = ""
    text: str = ""
    """As a reader sees it."""
    links: list[str] = field(default_factory=list)
    simhash: int = 0
    beta: float = 0.0
    threshold: float = 0.0
    """What a page has to score to count as found."""
    pictures: dict[str, Picture] = field(default_factory=dict)
    """Its images that were fetched, by address."""

    @classmethod
    def of(
        cls,
        url: str,
        body: bytes,
        content_type: str = "",
        *,
        beta: float = 0.0,
        threshold: float = 0.0,
        simhash: int = 0,
        pictures: dict[str, Picture] | None = None,
    ) -> Snapshot:
        """A version from its inflated body: title, text and links are read from it.

        >>> page = Snapshot.of("http://a.test/", b"<title>Reefs</title><nav>Home</nav><p>On <a href=/b>coral</a>")
        >>> page.title, page.main_text, page.links
        ('Reefs', 'Reefs\\nOn coral', ['http://a.test/b'])
        """
        document = read_again(body, url, content_type)
        title, text, links = document.title, document.text, document.links.urls
        return cls(url, body, content_type, title, text, links, simhash, beta, threshold, pictures or {})

    @cached_property
    def is_html(self) -> bool:
        """Whether the body is a page of markup."""
        kind = self.content_type.partition(";")[0].strip().lower()
        return bool(self.body) and (kind in HTML if kind else self.body.lstrip()[:1] == b"<")

    @cached_property
    def is_read(self) -> bool:
        """Whether anything is known of what it says."""
        return self.is_html or bool(self.text)

    @cached_property
    def source(self) -> str:
        """The body, decoded."""
        return decode(self.body, charset_of(self.content_type))

    @cached_property
    def tree(self) -> Tree:
        """The page's document tree; an empty one for what is no HTML."""
        return tree_of(self.source) if self.is_html else Tree()

    @cached_property
    def main(self) -> MainBlocks:
        """What a reader came for; of a text without markup every line, and nothing is furniture."""
        if self.is_html:
            return main_blocks(self.tree, read_again(self.body, self.url, self.content_type).main)
        lines = (" ".join(line.split()) for line in self.text.splitlines())
        return MainBlocks([line for line in lines if line])

    @property
    def main_text(self) -> str:
        """The text of the main part, without dates and counters, a line for each block."""
        return "\n".join(self.main.blocks)

    @cached_property
    def main_links(self) -> list[str]:
        """Where the main part links to, each once; all links where there is no tree to tell."""
        if not self.is_html:
            return list(dict.fromkeys(self.links))
        urls = resolve(base_of(self.tree, self.url), self.main.hrefs)
        return list(dict.fromkeys(url for url in urls if url))

    @cached_property
    def images(self) -> list[str]:
        """The addresses of the page's images."""
        return images(self.tree, self.url)

    @cached_property
    def text_print(self) -> int:
        """The fingerprint of the text, by English stems: for two versions of which one has no stored `simhash`."""
        counts = Counter(stems(self.text))
        signs = Signs()
        signs.extend(list(counts))
        return signs.simhash(
            np.arange(len(counts), dtype=np.uint32),
            np.fromiter((min(n, 65_535) for n in counts.values()), np.uint16, len(counts)),
        )


def inflated(exchange: Exchange) -> bytes:
    """The body of an answer, unpacked; as it came if it can't be."""
    try:
        return inflate(exchange.body, exchange.header("content-encoding"), INFLATED)[0]
    except BadEncoding:
        return exchange.body


@dataclass(slots=True)
class MainBlocks:
    """What is left of a page, block by block."""

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


def words_of(blocks: Iterable[str]) -> list[str]:
    """The words of some blocks, without punctuation around them; of Chinese and Japanese the characters.

    >>> words_of(["Reefs (coral), 4.31 m -", "珊瑚"])
    ['Reefs', 'coral', '4.31', 'm', '珊', '瑚']
    """
    return [word for block in blocks for word in _WORDS.findall(block)]


def main_blocks(tree: Tree, main: str) -> MainBlocks:
    """The main part of a page in its tree, by its text.

    >>> from lycosa.web.tree import tree_of
    >>> page = "<nav><a href=/>Home</a></nav><h1>Reefs</h1><p>Coral lives.<p>Updated 3 May 2024<footer>(c)</footer>"
    >>> main_blocks(tree_of(page), "Reefs\\nCoral lives.\\nUpdated 3 May 2024").blocks
    ['Reefs', 'Coral lives.']
    """
    reader = _Reader(tree, main)
    reader.read()
    part = MainBlocks(inside=bytearray(len(tree)), plain=bytearray(len(tree)))
    for block in reader.blocks:
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
    _fill(tree, reader.states, part.inside)
    _fill(tree, reader.states, part.plain)
    part.hrefs = [tree.attributes[node]["href"] for node in reader.links if part.inside[node]]
    return part


@dataclass(slots=True)
class _Block:
    at: int
    state: int
    texts: list[int] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    plain: list[int] = field(default_factory=list)
    line: str = ""


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
            place = self.main.find(sought, max(0, self.at - BACK), self.at + AHEAD + len(sought))
            if place < 0:
                return False
            self.at = place
        self.at += len(sought)
        return True


class _Reader:
    """One pass over a tree, linear whatever the markup: states of nodes, the page's blocks, its link elements."""

    def __init__(self, tree: Tree, main: str) -> None:
        self.tree = tree
        self.states: list[int] = []
        self.blocks: list[_Block] = []
        self.links: list[int] = []
        self._trace = _Trace(main)
        self._block = _Block(-1, SKIP)
        self._broken = True  # whether the next text begins a block

    def read(self) -> None:
        """Visit all nodes, parents first, and make the lines of the blocks."""
        holders: list[int] = []  # for each node the innermost block element it is in
        linked: list[int] = []  # and the link
        for node, (name, parent) in enumerate(zip(self.tree.names, self.tree.parents, strict=True)):
            state, holder, link = (self.states[parent], holders[parent], linked[parent]) if parent >= 0 else (0, -1, -1)
            if name:
                state = _state(name, state, self.tree.attributes[node])
                if name in _BLOCKS:
                    holder, self._broken = node, True
                elif name in ("td", "th") and not self._broken and self._block.at == holder:
                    self._block.pieces.append(" | ")
                if name == "a" and "href" in self.tree.attributes[node]:
                    link = node
                    self.links.append(node)
            elif not state & SKIP:
                state = self._text(node, state, holder, link)
            self.states.append(state)
            holders.append(holder)
            linked.append(link)
        for block in self.blocks:
            line = " ".join("".join(block.pieces).split())
            if block.state & TITLE:
                line = _UNREAD.sub("", line)
            block.line = unstamped(line, table=bool(block.state & TABLE))

    def _text(self, node: int, state: int, holder: int, link: int) -> int:
        """A text joins the block, or begins one where an element or the main part begins or ends; its state."""
        text = self.tree.texts[node]
        if not text or text.isspace():
            if not self._broken:
                self._block.pieces.append(" ")
            return state
        if not state & TITLE and not self._trace.has(text):
            state |= OUTSIDE
        if self._broken or self._block.at != holder or (self._block.state ^ state) & OUTSIDE:
            self._block = _Block(holder, state)
            self.blocks.append(self._block)
            self._broken = False
        block = self._block
        block.texts.append(node)
        if state & STAMPED:
            text = " " + unstamped(" ".join(text.split()), stamped=True) + " "
        block.pieces.append(text)
        if link < 0:
            block.plain.append(node)
            block.unlinked.append(text)
        return state


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
