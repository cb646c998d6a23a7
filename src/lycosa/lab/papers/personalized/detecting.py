"""Has a page changed? The two ways of the paper, and two more to hold against them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""Elements that have no end."""


def checksum(source: str) -> float:
    """The sum of all code points divided by the number of different characters; 0 for an empty page.

    It knows neither where a character stands nor which ones make up the sum: "listen" and "silent" are one to it, and
    so is any other order of the same letters.

    >>> checksum("aab"), checksum("aba"), checksum("")                                  # (97 + 97 + 98) / 2
    (146.0, 146.0, 0.0)

    Paper: Trivedi et al. 2014, section III, Change Detection. "ASCII" is read as code points; the empty page is ours.
    """
    return sum(map(ord, source)) / len(set(source)) if source else 0.0


@dataclass
class Element:
    """A node of a document tree: its tag, its attributes, the text right below it."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    children: list[Element] = field(default_factory=list)


class _Grower(HTMLParser):
    """Grows a tree from tags; an end tag closes up to the element that it names, or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("")
        self.path = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, tuple((name, value or "") for name, value in attrs))
        self.path[-1].children.append(element)
        if tag not in VOID:
            self.path.append(element)

    def handle_endtag(self, tag: str) -> None:
        for depth in range(len(self.path) - 1, 0, -1):
            if self.path[depth].tag == tag:
                del self.path[depth:]
                return

    def handle_data(self, data: str) -> None:
        self.path[-1].text += data


def tree(source: str) -> Element:
    """The document tree of a page, below a root without a name."""
    grower = _Grower()
    grower.feed(source)
    grower.close()
    return grower.root


Level = list[tuple[object, ...]]


def levels(source: str, *, content: bool = False) -> list[Level]:
    """What stands at each depth of the tree, from the left: tags and how many children each has.

    With `content` also their attributes and their text, without white space at the ends and in a row.

    >>> levels("<p>a<b>c</b></p><p>d</p>")
    [[('p', 1), ('p', 0)], [('b', 0)]]

    Paper: Trivedi et al. 2014, section II, Change Detection, 2): level by level, for structural changes; after
    Yadav et al. 2012. Whether text belongs to a level is left open there: "structural" says not. Both are here.
    """
    found: list[Level] = []
    here = tree(source).children
    while here:
        found.append(
            [
                (node.tag, len(node.children), *((node.attributes, " ".join(node.text.split())) if content else ()))
                for node in here
            ]
        )
        here = [child for node in here for child in node.children]
    return found


def as_xml(source: str) -> str:
    """The tree of a page as XML: what the paper stores in place of HTML, to be read faster."""

    def written(node: Element) -> str:
        told = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes)
        inner = escape(" ".join(node.text.split()), quote=False) + "".join(map(written, node.children))
        return f"<{node.tag}{told}>{inner}</{node.tag}>" if inner else f"<{node.tag}{told}/>"

    return "<page>" + "".join(map(written, tree(source).children)) + "</page>"


def digest(source: str) -> str:
    """A cryptographic digest: any other page has another one."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


DETECTORS: dict[str, Callable[[str], object]] = {
    "checksum": checksum,
    "tree": levels,
    "tree and text": lambda source: levels(source, content=True),
    "digest": digest,
}
"""What is kept of a page; a page whose kept value is another one has changed. The first two are the paper's."""
