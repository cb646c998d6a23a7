"""HTML pages as document trees, for the comparison of two versions of a page.

The tree is built from tokens with a stack of our own, not by the parser: the HTML standard reopens unclosed formatting
elements (`<font>`, `<b>`) in each following paragraph, so a page of 1 MB can become 30 million elements. Here every
node but html, head and body comes from the source, so time and memory are linear. Other error recovery of the standard
is left out: both versions of a page are parsed alike, which suffices for a comparison.

Paper: Trivedi et al. 2014, II, Change Detection, 2: "In the first step document tree is generated [...] while in the
second step, level by level comparison"; pages "are transformed into XML files", see `to_xml`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from turbohtml import TokenType, tokenize

from lycosa.web.html import MAX_SOURCE
from lycosa.web.urls import resolve

VOID = frozenset("area base br col embed frame hr img input link meta param source track wbr".split())
_HEAD = frozenset("title meta link base script style template noscript".split())
_CLOSE_P = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup hr main menu nav ol p pre section summary table ul".split()
)
_ROWS, _CELLS, _TERMS = ("tbody", "thead", "tfoot"), ("td", "th"), ("dt", "dd")
# an end tag inside one of these does not close elements outside
_SCOPES = frozenset("table td th caption button object template".split())
_INVISIBLE = frozenset({"script", "style"})
# start tag -> elements that it closes, and those inside which they must be
_IMPLIED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li",), ("ul", "ol", "menu")),
    **dict.fromkeys(_TERMS, (_TERMS, ("dl",))),
    "option": (("option",), ("select", "optgroup", "datalist")),
    "optgroup": (("option", "optgroup"), ("select",)),
    "tr": (("tr",), ("table",)),
    **dict.fromkeys(_CELLS, (_CELLS, ("table", "tr"))),
    **dict.fromkeys(_ROWS, (_ROWS, ("table",))),
}
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(slots=True)
class DomLevel:
    elements: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # stripped, without scripts


@dataclass(slots=True)
class DomTree:
    """The nodes of a page in document order; parents precede their children."""

    names: list[str] = field(default_factory=list)  # lower case; empty for a text
    levels: list[int] = field(default_factory=list)  # the root is at level 1, a text at the level of its element
    parents: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    attributes: list[dict[str, str]] = field(default_factory=list)
    is_truncated: bool = False  # only the beginning of the page was parsed

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, parent: int, text: str = "", attributes: dict[str, str] | None = None) -> int:
        self.levels.append((self.levels[parent] if parent >= 0 else 0) + bool(name))
        self.names.append(name)
        self.parents.append(parent)
        self.texts.append(text)
        self.attributes.append(attributes or {})
        return len(self.names) - 1

    def by_level(self, inside: Sequence[int] | None = None) -> list[DomLevel]:
        """Return the levels from the root down; `inside` selects nodes, all by default."""
        levels: list[DomLevel] = []
        for node, (name, level) in enumerate(zip(self.names, self.levels, strict=True)):
            if level > len(levels):  # a level begins with an element
                levels.append(DomLevel())
            if inside is not None and not inside[node]:
                continue
            if not name:
                if self.names[self.parents[node]] not in _INVISIBLE and (text := " ".join(self.texts[node].split())):
                    levels[level - 1].texts.append(text)
            else:
                levels[level - 1].elements.append(name)
        return levels


class _TreeBuilder:
    def __init__(self) -> None:
        self.tree = DomTree()
        self.open: list[int] = []
        self._names: list[str] = []
        self._places: dict[str, list[int]] = {}  # for each tag, its positions in the stack
        self._scopes: list[int] = []
        self.head = self.body = -1
        self.push("html", {})

    def push(self, name: str, attributes: dict[str, str]) -> int:
        node = self.tree.add(name, self.open[-1] if self.open else -1, attributes=attributes)
        if name in _SCOPES:
            self._scopes.append(len(self.open))
        self._places.setdefault(name, []).append(len(self.open))
        self.open.append(node)
        self._names.append(name)
        return node

    def position(self, name: str) -> int:
        places = self._places.get(name)
        return places[-1] if places else -1

    def close(self, place: int) -> None:
        while len(self.open) > place:
            self.open.pop()
            self._places[self._names.pop()].pop()
            if self._scopes and self._scopes[-1] == len(self.open):
                self._scopes.pop()

    def open_body(self) -> None:
        """Open the body before visible content, unless an element of the head is open."""
        if self.body < 0 and self.open[-1] in (0, self.head):
            self.close(1)
            self.body = self.push("body", {})

    def start_singleton(self, name: str, attributes: dict[str, str]) -> None:
        """Handle html, head and body, which exist once: repeated tags only add attributes."""
        if name == "head":
            if self.head < 0 and self.body < 0:
                self.head = self.push("head", attributes)
        elif name == "body" and self.body < 0:
            self.close(1)
            self.body = self.push("body", attributes)
        else:
            node = 0 if name == "html" else self.body
            own = self.tree.attributes[node]
            for key, value in attributes.items():
                own.setdefault(key, value)

    def start(self, name: str, attributes: dict[str, str], closed: bool) -> None:
        if name in ("html", "head", "body"):
            self.start_singleton(name, attributes)
            return
        if self.body < 0 and name in _HEAD:
            if self.head < 0:
                self.head = self.push("head", {})
        else:
            self.open_body()
        if name in _CLOSE_P and (place := self.position("p")) > (self._scopes[-1] if self._scopes else 0):
            self.close(place)
        ends, inside = _IMPLIED.get(name, ((), ()))
        if ends:
            place = max(map(self.position, ends))
            if place > max(map(self.position, inside)):
                self.close(place)
        if name in VOID or (closed and (self.position("svg") >= 0 or self.position("math") >= 0)):
            self.tree.add(name, self.open[-1], attributes=attributes)
        else:
            self.push(name, attributes)

    def end(self, name: str) -> None:
        place = self.position(name)
        if name in ("html", "body") or place < 1:
            return
        if name in _SCOPES or name in _ROWS or name == "tr" or not self._scopes or place > self._scopes[-1]:
            self.close(place)

    def text(self, text: str) -> None:
        if text and not text.isspace():
            self.open_body()
        elif self.body < 0:
            return
        self.tree.add("", self.open[-1], text)


def parse_tree(source: str, max_nodes: int = 200_000) -> DomTree:
    """Parse a page into a tree, of at most `max_nodes` tags and texts."""
    builder = _TreeBuilder()
    tokens = iter(tokenize(source[:MAX_SOURCE]))
    for token in islice(tokens, max_nodes):
        if token.type is TokenType.START_TAG:
            attributes = {key: value or "" for key, value in token.attrs} if token.attrs else {}
            builder.start(token.tag or "", attributes, token.self_closing)
        elif token.type is TokenType.TEXT:
            builder.text(token.data or "")
        elif token.type is TokenType.END_TAG:
            builder.end(token.tag or "")
    builder.tree.is_truncated = len(source) > MAX_SOURCE or next(tokens, None) is not None
    return builder.tree


def base_url(tree: DomTree, url: str) -> str:
    for node, name in enumerate(tree.names):
        if name == "base" and "href" in tree.attributes[node]:
            return resolve(url, [tree.attributes[node]["href"]])[0] or url
    return url


def to_xml(tree: DomTree) -> bytes:
    """Return the tree as well-formed XML.

    Characters that XML cannot hold become U+FFFD, and `_` in names. `xmlns` is written `_xmlns`, because it would
    rename all elements below it. If two attributes get the same name, the first is kept, as in HTML.
    """
    pieces = ['<?xml version="1.0" encoding="UTF-8"?>\n']
    ends: list[str] = []
    for node, (name, level) in enumerate(zip(tree.names, tree.levels, strict=True)):
        while len(ends) >= level + (not name):
            pieces.append(f"</{ends.pop()}>")
        if not name:
            pieces.append(_escape(tree.texts[node]))
            continue
        tag = _name(name)
        written: dict[str, str] = {}
        for key, value in tree.attributes[node].items():
            written.setdefault(_name(key), value)
        pieces.append(f"<{tag}{''.join(f' {key}={_quoted(value)}' for key, value in written.items())}>")
        ends.append(tag)
    pieces += [f"</{tag}>" for tag in reversed(ends)]
    return "".join([*pieces, "\n"]).encode()


def _name(name: str) -> str:
    name = _NOT_IN_NAMES.sub("_", name)
    return name if (name[:1].isalpha() or name[:1] == "_") and name != "xmlns" else "_" + name


def _escape(text: str) -> str:
    text = _ILLEGAL.sub("\ufffd", text).replace("&", "&amp;").replace("<", "&lt;")
    return text.replace(">", "&gt;").replace("\r", "&#13;")


def _quoted(value: str) -> str:
    return '"' + _escape(value).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;") + '"'
