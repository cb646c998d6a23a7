"""An archived page to be read, and nothing else: what it says, in elements that can do nothing.

The page is read into a tree of our own (web/tree.py). From that a new document is written, out of a short list of
elements, without any attribute but the address of a link; every text is escaped. Nothing of the page's source is ever
copied as markup, so what a browser would have made of it does not matter. What only runs, loads or decorates (scripts,
styles, frames, drawings, controls) is left out with all that is inside it.

Whoever opens the document gets it sandboxed as well: no script could run if there were one, and nothing is loaded but
our own style sheet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from lycosa.refresh.ledger import day_and_time
from lycosa.refresh.snapshot import main_blocks
from lycosa.web.html import CLOSE, OPEN, Document, extract
from lycosa.web.tree import Tree, base_of, tree_of
from lycosa.web.urls import resolve

CSP = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
STYLE = "/static/reader.css"

# characters of the source that are read; letters and elements that are shown; how deep these are nested
SOURCE, LETTERS, ELEMENTS, DEPTH = 2_000_000, 500_000, 30_000, 40
TOKENS = 50_000  # tags and texts of a page that are looked at: a third of a second, whatever they are
MAIN = 300_000  # letters and elements of a page up to which its main part is told from the rest

BLOCKS = frozenset(
    "h1 h2 h3 h4 h5 h6 p ul ol li blockquote pre table caption thead tbody tfoot tr th td dl dt dd hr".split()
)
INLINE = frozenset("em strong code sub sup br a".split())
SHOWN = BLOCKS | INLINE
OTHERS = {"b": "strong", "i": "em", "cite": "em", "dfn": "em", "var": "em", "kbd": "code", "samp": "code", "tt": "code"}
OTHERS |= {"xmp": "pre", "listing": "pre", "plaintext": "pre", "menu": "ul", "dir": "ul"}
EMPTY = frozenset({"br", "hr"})
# blocks that may hold words themselves
HOLDERS = frozenset("li blockquote th td dt dd caption pre h1 h2 h3 h4 h5 h6 p".split())
TEXTUAL = frozenset("p h1 h2 h3 h4 h5 h6 pre".split())  # blocks in which no other block may be

DROPPED = frozenset(
    "script style template noscript iframe object embed applet svg math canvas video audio map head select textarea "
    "button input datalist frameset noframes noembed dialog progress meter portal fencedframe".split()
)
# not shown, but begin a line and end it
BREAKING = frozenset(
    "address article aside body center details div fieldset figcaption figure footer form header hgroup html legend "
    "main nav optgroup option search section summary".split()
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(slots=True)
class _Writer:
    """Writes elements one after the other, well nested."""

    base: str
    out: list[str] = field(default_factory=list)
    # level in the source's tree, and tag; -1 is the paragraph that we opened ourselves
    open: list[tuple[int, str]] = field(default_factory=list)
    letters: int = 0
    elements: int = 0
    dirty: bool = False  # whether words were written since the last break
    # levels of elements that are not shown, but end a line when they end
    lines: list[int] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return self.letters > LETTERS or self.elements > ELEMENTS

    def close(self, level: int) -> None:
        """End all that is at this level of the source's tree, or deeper."""
        at = len(self.open)
        while at and (self.open[at - 1][0] >= level or self._own(at - 1, level)):
            at -= 1
        self._end(at)
        if self.lines and self.lines[-1] >= level:
            while self.lines and self.lines[-1] >= level:
                self.lines.pop()
            self.pause()

    def _own(self, at: int, level: int) -> bool:
        """Whether a paragraph of ours is there that belongs to something that ends."""
        return self.open[at][0] < 0 and at > 0 and self.open[at - 1][0] >= level

    def _end(self, at: int) -> None:
        while len(self.open) > at:
            _, tag = self.open.pop()
            self.out.append(f"</{tag}>")
            if tag in BLOCKS:
                self.out.append("\n")
                self.dirty = False

    def pause(self) -> None:
        """A line ends here."""
        if self.open and self.open[-1][0] == -1:
            self._end(len(self.open) - 1)
        elif self.dirty:
            if any(tag in HOLDERS for _, tag in self.open):
                self.out.append("<br>")
            self.dirty = False

    def start(self, level: int, tag: str, href: str = "") -> None:
        if tag in BLOCKS:
            self._make_way()
        elif tag == "a" and any(other == "a" for _, other in self.open):
            return
        if len(self.open) >= DEPTH:
            return
        if tag not in BLOCKS:
            self._hold()
        self.elements += 1
        if tag in EMPTY:
            self.out.append(f"<{tag}>")
            return
        told = f' href="{escape(href)}" rel="noreferrer noopener" target="_blank"' if tag == "a" else ""
        self.out.append(f"<{tag}{told}>")
        self.open.append((level, tag))

    def _make_way(self) -> None:
        """A block begins: what can't hold one ends."""
        self.pause()
        at = next((at for at, (_, tag) in enumerate(self.open) if tag in TEXTUAL or tag in INLINE), None)
        if at is not None:
            self._end(at)

    def _hold(self) -> None:
        """Words and what marks them need a block."""
        if not any(tag in HOLDERS for _, tag in self.open):
            self.open.append((-1, "p"))
            self.out.append("<p>")

    def text(self, text: str) -> None:
        text = text[: max(0, LETTERS + 1 - self.letters)]
        preformatted = any(tag == "pre" for _, tag in self.open)
        if not text:
            return
        if not preformatted:
            shown = " ".join(text.split())
            if not shown:
                if self.dirty:
                    self.out.append(" ")
                return
            text = " " * text[0].isspace() + shown + " " * text[-1].isspace()
        self._hold()
        self.letters += len(text)
        self.out.append(escape(_printable(text), quote=False))
        self.dirty = True


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)


def content(tree: Tree, url: str, wanted: Sequence[int]) -> tuple[str, bool]:
    """The nodes that are wanted, as markup; and whether it had to be cut short."""
    base = base_of(tree, url)
    writer = _Writer(base)
    dropping = 0  # the level of an element that is left out with all inside it
    for node, (name, level) in enumerate(zip(tree.names, tree.levels, strict=True)):
        if dropping and (level > dropping or (not name and level == dropping)):
            continue
        dropping = 0
        if writer.full:
            return _ended(writer), True
        if not name:
            writer.close(level + 1)
            if wanted[node]:
                writer.text(tree.texts[node])
            continue
        if name in DROPPED:
            dropping = level
            continue
        _element(writer, tree, node, level, base, wanted)
    return _ended(writer), False


def _element(writer: _Writer, tree: Tree, node: int, level: int, base: str, wanted: Sequence[int]) -> None:
    name, parent = tree.names[node], tree.parents[node]
    writer.close(level)
    if name in ("td", "th", "br", "hr"):
        if not wanted[parent]:
            return
    elif not wanted[node]:
        return
    if name == "img":
        if alt := " ".join(tree.attributes[node].get("alt", "")[:500].split()):
            writer.text(f" [{alt}] ")
        return
    tag = OTHERS.get(name, name)
    if name in BREAKING:
        writer.pause()
        writer.lines.append(level)
    elif tag == "a":
        href = resolve(base, [tree.attributes[node].get("href", "")])[0] if "href" in tree.attributes[node] else None
        if href is not None:
            writer.start(level, "a", href)
    elif tag in SHOWN:
        writer.start(level, tag)


def _ended(writer: _Writer) -> str:
    writer._end(0)
    return "".join(writer.out)


@dataclass(frozen=True, slots=True)
class Readable:
    """A page's words as markup: what a reader came for, and the rest."""

    main: str
    rest: str = ""
    cut: bool = False


def of_html(source: str, url: str) -> Readable:
    tree = tree_of(source[:SOURCE], TOKENS)
    # Of a very long page all is shown: to tell what matters in it would take seconds.
    long = tree.cut or len(tree) + sum(map(len, tree.texts)) > MAIN
    if long:
        inside = bytearray(b"\1") * len(tree)
    else:
        inside = main_blocks(tree, extract(source[:SOURCE].encode("utf-8", "replace"), url, "utf-8").main).inside
    main, cut = content(tree, url, inside)
    others = bytearray(len(tree))
    for node in range(len(tree) - 1, 0, -1):
        if not tree.names[node] and not inside[node] and not tree.texts[node].isspace():
            others[node] = 1
        if others[node]:
            others[tree.parents[node]] = 1
    rest, cut_too = content(tree, url, others)
    return Readable(main, rest, cut or cut_too or len(source) > SOURCE or tree.cut)


def of_text(text: str) -> Readable:
    return Readable(f"<pre>{escape(_printable(text[:LETTERS]), quote=False)}</pre>\n", "", len(text) > LETTERS)


def of_document(told: Document) -> Readable:
    """A document without markup of its own: its paragraphs, headings and links."""
    headings = set(told.headings.split("\n"))
    hrefs = dict(zip(told.links.positions, told.links.urls, strict=True))
    out: list[str] = []
    link = 0
    for line in told.marked[:LETTERS].split("\n"):
        first, *others = line.split(OPEN)
        parts = [_escaped(first)]
        for other in others:
            inside, _, after = other.partition(CLOSE)
            href, words = hrefs.get(link, ""), _escaped(inside)
            if href.startswith(("http://", "https://")):
                words = f'<a href="{escape(href)}" rel="noreferrer noopener" target="_blank">{words}</a>'
            parts += [words, _escaped(after)]
            link += 1
        tag = "h2" if line and line.replace(OPEN, "").replace(CLOSE, "") in headings else "p"
        if any(part.strip() for part in parts):
            out.append(f"<{tag}>{''.join(parts)}</{tag}>\n")
        if len(out) >= ELEMENTS:
            break
    return Readable("".join(out), "", len(told.marked) > LETTERS or len(out) >= ELEMENTS)


def _escaped(text: str) -> str:
    return escape(_printable(text.replace(CLOSE, "")), quote=False)


def document(readable: Readable, title: str, url: str, fetched: float, theme: str = "system") -> str:
    """The whole document, in the colours that the person has chosen."""
    name = escape(_printable(title or url))
    day = day_and_time(fetched) if fetched > 0 else ""
    chosen = f' data-theme="{theme}"' if theme in ("light", "dark") else ""
    link = escape(_printable(url))
    if url.startswith(("http://", "https://")):
        link = f'<a href="{link}" rel="noreferrer noopener" target="_blank">{link}</a>'
    parts = [
        f'<!DOCTYPE html>\n<html lang=""{chosen}>\n<head>\n<meta charset="utf-8">\n<title>',
        name,
        f'</title>\n<meta name="viewport" content="width=device-width">\n<link rel="stylesheet" href="{STYLE}">\n',
        "</head>\n<body>\n<header>\n",
        f"<p>Archived copy{' of ' + day if day else ''}. The original: {link}</p>\n</header>\n",
        f"<article>\n{readable.main or '<p>Nothing readable is archived of this page.</p>'}\n</article>\n",
    ]
    if readable.rest:
        parts.append(f"<details>\n<summary>The rest of the page</summary>\n{readable.rest}\n</details>\n")
    if readable.cut:
        parts.append("<footer>\n<p>The page goes on: this is its beginning.</p>\n</footer>\n")
    return "".join([*parts, "</body>\n</html>\n"])
