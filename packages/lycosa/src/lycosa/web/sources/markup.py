"""A lenient XML scanner in linear time.

Many sitemaps and feeds are made by string concatenation: unescaped ampersands, HTML entities, undeclared prefixes,
missing ends. A strict parser gives up on the first of these; this one returns tags and text in order and skips the
rest. Only entities defined by XML and HTML are expanded, so entity declarations have no effect.

>>> [piece for piece in pieces("<a:loc x='1'>http://b.test/?c&amp;d</a:loc>")]
[('open', 'a:loc', " x='1'"), ('text', '', 'http://b.test/?c&d'), ('close', 'a:loc', '')]
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

MAX_TEXT = 5_000  # characters of an element's text
_MAX_RAW_TEXT = 4 * MAX_TEXT  # allows for entities, which are longer than the characters they encode

# No match can cross a `<`, so each character is scanned a few times at most.
_TAG = re.compile(r"<(/?)([^\s<>/=\"'!?]++)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
_UNBALANCED = re.compile(r"<(/?)([^\s<>/=\"'!?]++)([^<>]*+)>")
_DECLARATION = re.compile(r"<[!?][^<>]*+>?")
_ATTRIBUTE = re.compile(r"(?<![^\s\"'/])([^\s=\"'<>/]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))")
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def unescape(text: str) -> str:
    """Expand entities that end with a semicolon; `&copy=1` in a URL stays as it is."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text) if "&" in text else text


def attributes(rest: str) -> dict[str, str]:
    """Return the attributes of a tag, with names in lower case."""
    return {name.lower(): unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(rest)}


def local(name: str) -> str:
    return name.rpartition(":")[2]


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield tags and text in order: ("open", name, attributes), ("close", name, ""), ("text", "", text).

    Names are in lower case and keep their prefix. A self-closing tag is an open and a close.
    """
    at = 0
    for _ in range(3_000_000):  # 50,000 entries with ten translations each have 1.6 million
        start = text.find("<", at)
        if start < 0:
            if at < len(text):
                yield "text", "", unescape(text[at : at + _MAX_RAW_TEXT])
            return
        if start > at:
            yield "text", "", unescape(text[at : min(start, at + _MAX_RAW_TEXT)])
        if tag := _TAG.match(text, start) or _UNBALANCED.match(text, start):
            at = tag.end()
            yield from _tag(*tag.groups())
        elif text.startswith("<!--", start):
            at = _behind(text, "-->", start + 4)
        elif text.startswith("<![CDATA[", start):
            at = _behind(text, "]]>", start + 9)
            yield "text", "", text[start + 9 : min(at, start + 12 + _MAX_RAW_TEXT)].removesuffix("]]>")[:_MAX_RAW_TEXT]
        elif declaration := _DECLARATION.match(text, start):
            at = declaration.end()
        else:
            yield "text", "", "<"
            at = start + 1


def _behind(text: str, end: str, start: int) -> int:
    at = text.find(end, start)
    return at + len(end) if at >= 0 else len(text)


def _tag(slash: str, name: str, rest: str) -> Iterator[tuple[str, str, str]]:
    name = name.lower()
    if not slash:
        yield "open", name, rest
    if slash or rest.endswith("/"):
        yield "close", name, ""


@dataclass(slots=True)
class MarkupElement:
    """An element with selected children and grandchildren."""

    name: str
    rest: str
    fields: list[tuple[str, str, str]] = field(default_factory=list)  # name, attributes, text

    def take(self, elements: list[_Open], wanted: Set[str]) -> None:
        for element in elements:
            if element.path in wanted and len(self.fields) < 100:
                self.fields.append((element.path, element.rest, "".join(element.text)[:MAX_TEXT].strip()))

    def text(self, *names: str) -> str:
        """Return the first non-empty text among the child elements with these names, in the order of the names."""
        for wanted in names:
            for name, _, text in self.fields:
                if name == wanted and text:
                    return text
        return ""


def records(text: str, names: Set[str], wanted: Set[str]) -> Iterator[MarkupElement]:
    """Yield elements with one of `names` and their wanted children (`link`) and grandchildren (`:news/title`).

    A child whose prefix differs from the record's has a colon before its name. A record ends at its end tag or where
    another one begins, a child at its end tag or with its record, so missing end tags do no harm.
    """
    core = ""
    record: MarkupElement | None = None
    inside: list[_Open] = []
    for kind, name, rest in pieces(text):
        if kind == "text":
            for element in inside:
                element.text.append(rest)
            continue
        prefix, _, short = name.rpartition(":")
        if short in names and (record is None or prefix == core):
            if record is not None:
                record.take(inside, wanted)
                yield record
            record = MarkupElement(short, rest) if kind == "open" else None
            core, inside = prefix, []
        elif record is None:
            continue
        elif kind == "open" and len(inside) < 2:
            path = f"{inside[0].path}/{short}" if inside else short if prefix == core else f":{short}"
            inside.append(_Open(name, path, rest))
        elif kind == "close":
            depth = next((depth for depth, element in enumerate(inside) if element.name == name), 2)
            record.take(inside[depth:], wanted)
            del inside[depth:]
    if record is not None and record.fields:  # an open child may be truncated
        yield record


@dataclass(slots=True)
class _Open:
    name: str
    path: str
    rest: str
    text: list[str] = field(default_factory=list)
