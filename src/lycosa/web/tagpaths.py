"""Where a link stands in the document: the tags from the root down to it, each with its id and classes.

    html body div#content ul.nav li a.ref

Menus, listings, footers and prose have paths of their own, which the pages of a site share. That a link's path tells
what it leads to is what Gauquier, Manolescu and Senellart group links by (the sleeping-bandit crawler).

A path is bounded: the `DEEPEST` tags nearest to the link, of each tag `MOST_CLASSES` classes, `MOST_NAME` characters of
its name, its id and each class, and `MOST_PATH` characters in all; what is too much is left out at the root's end. So
the path of an element follows from that of its parent, and each element is looked at once.
"""

from __future__ import annotations

from turbohtml import Element

DEEPEST = 32
"""Tags of a path; few pages have more."""

MOST_CLASSES = 3
"""Classes of a tag, the first ones."""

MOST_NAME = 32
"""Characters of a tag's name, of an id and of a class."""

MOST_PATH = 500
"""Characters of a path."""

MOST_PATHS = 2
"""Characters of all distinct paths of a page for each of its bytes, beyond the first 10,000; further ones are empty."""


class TagPaths:
    """The paths of one page's links. Links with the same path have the same string.

    >>> from turbohtml import parse
    >>> page = parse("<div id=content><ul class=nav><li><a class='ref x' href=/b>b</a></ul></div>")
    >>> TagPaths(100).of(page.select("a")[0])
    'html body div#content ul.nav li a.ref.x'
    """

    def __init__(self, size: int) -> None:
        self._left = MOST_PATHS * size + 10_000
        self._known: dict[Element, str] = {}
        """Paths of elements that hold links."""
        self._joined: dict[tuple[str, str], str] = {}
        self._given: dict[str, str] = {}

    def of(self, element: Element) -> str:
        """The path of a link."""
        parent = element.parent
        above = self._above(parent) if isinstance(parent, Element) else ""
        path = self._join(above, element)
        given = self._given.get(path)
        if given is None:
            self._left -= len(path)
            given = self._given[path] = path if self._left >= 0 else ""
        return given

    def _above(self, element: Element) -> str:
        """The path of an element that holds links: up to one whose path is known, to the root, or as far as counts."""
        known = self._known
        path = known.get(element)
        if path is not None:
            return path
        chain = [element]
        while isinstance(above := chain[-1].parent, Element):
            path = known.get(above)
            if path is not None or len(chain) == DEEPEST:
                break
            chain.append(above)
        else:
            path = ""
        within = path is not None
        path = path or ""
        for each in reversed(chain):
            path = self._join(path, each)
            if within or each is element:  # the others' paths would begin too late
                known[each] = path
        return path

    def _join(self, above: str, element: Element) -> str:
        """A path and one tag more; nothing of what is too far away."""
        step = above, _name(element)
        path = self._joined.get(step)
        if path is None:
            self._joined[step] = path = _cut(f"{above} {step[1]}" if above else step[1])
        return path


def _name(element: Element) -> str:
    """A tag with its id and classes."""
    attributes = element.attrs
    name = element.tag[:MOST_NAME]
    if "id" in attributes:
        name = f"{name}#{'_'.join(_words(attributes['id']))[:MOST_NAME]}"  # no blanks: they separate tags
    if "class" in attributes:
        for word in _words(attributes["class"])[:MOST_CLASSES]:
            name += "." + word[:MOST_NAME]
    return name


def _words(value: str | list[str] | None) -> list[str]:
    """The parser splits some attributes into lists."""
    return value.split() if isinstance(value, str) else value or []


def _cut(path: str) -> str:
    """At most so many tags and characters, those at the end."""
    if path.count(" ") >= DEEPEST:
        path = path.split(" ", path.count(" ") + 1 - DEEPEST)[-1]
    return path[path.index(" ", len(path) - MOST_PATH - 1) + 1 :] if len(path) > MOST_PATH else path
