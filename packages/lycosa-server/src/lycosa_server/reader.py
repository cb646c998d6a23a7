"""Render an archived page as a safe document.

The page is parsed into our own tree (web/tree.py) and written again from scratch: a short list of elements, no
attributes except link URLs, all text escaped. No markup of the page is copied. Scripts, styles, frames, drawings and
controls are dropped with their content. The document is sandboxed as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lycosa.revisit.ledger import day_and_time
from lycosa.revisit.snapshot import main_blocks
from lycosa.web.html import CLOSE, OPEN, ParsedPage, extract
from lycosa.web.tree import DomTree, base_url, parse_tree
from lycosa.web.urls import resolve

CSP = (
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
STYLE = "/static/reader.css"

# Limits: characters of source read, characters and elements shown, nesting.
MAX_SOURCE_CHARACTERS, MAX_CHARACTERS, MAX_ELEMENTS, MAX_DEPTH = 2_000_000, 500_000, 30_000, 40
MAX_TOKENS = 50_000  # maximum tags and texts parsed per page, which take at most a third of a second
MAX_MAIN_SIZE = 300_000  # maximum characters and elements of pages whose main content is separated from the rest

KEPT_TAGS = frozenset(
    "h1 h2 h3 h4 h5 h6 p ul ol li blockquote pre table caption thead tbody tfoot tr th td dl dt dd hr "
    "em strong code sub sup br a div".split()
)
REPLACED_TAGS = {"b": "strong", "menu": "ul", "dir": "ul"}
REPLACED_TAGS |= dict.fromkeys(("i", "cite", "dfn", "var"), "em")
REPLACED_TAGS |= dict.fromkeys(("kbd", "samp", "tt"), "code") | dict.fromkeys(("xmp", "listing", "plaintext"), "pre")
REPLACED_TAGS |= dict.fromkeys(
    "address article aside center details fieldset figcaption figure footer form header hgroup legend main nav "
    "optgroup option search section summary".split(),
    "div",
)
DROPPED_TAGS = frozenset(
    "script style template noscript iframe object embed applet svg math canvas video audio map head select textarea "
    "button input datalist frameset noframes noembed dialog progress meter portal fencedframe".split()
)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)


def render_nodes(tree: DomTree, url: str, wanted: Sequence[int]) -> tuple[str, bool]:
    """Return the wanted nodes as markup, and whether it is truncated; browsers repair misnested elements safely."""
    base, out, letters, elements = base_url(tree, url), list[str](), 0, 0
    open_: list[tuple[int, str]] = []  # tree levels and tags
    dropped = 0  # level of the element being dropped with its content; 0 if none
    cut = False
    for node, (name, level) in enumerate(zip(tree.names, tree.levels, strict=True)):
        if dropped and (level > dropped or (not name and level == dropped)):
            continue
        dropped = level if name in DROPPED_TAGS else 0
        cut = letters > MAX_CHARACTERS or elements > MAX_ELEMENTS
        if cut:
            break
        while open_ and open_[-1][0] >= level + (not name):
            out.append(f"</{open_.pop()[1]}>")
        inside = wanted[tree.parents[node]] if name in ("td", "th", "br", "hr") else wanted[node]
        if dropped or not inside:
            continue
        tag, text = REPLACED_TAGS.get(name, name), tree.texts[node]
        if name == "img" and (alt := tree.attributes[node].get("alt", "")[:500].strip()):
            text = f" [{alt}] "
        if text:
            text = text[: MAX_CHARACTERS + 1 - letters]
            letters += len(text)
            out.append(escape(_printable(text), quote=False))
        attributes = _link_attributes(tree, node, base) if tag == "a" else ""
        if tag not in KEPT_TAGS or (tag == "a" and not attributes) or len(open_) >= MAX_DEPTH:
            continue
        elements += 1
        out.append(f"<{tag}{attributes}>")
        if tag not in {"br", "hr"}:
            open_.append((level, tag))
    out += [f"</{tag}>" for _, tag in reversed(open_)]
    return "".join(out), cut


def _link_attributes(tree: DomTree, node: int, base: str) -> str:
    href = tree.attributes[node].get("href")
    url = None if href is None else resolve(base, [href])[0]
    return f' href="{escape(url)}" rel="noreferrer noopener" target="_blank"' if url else ""


@dataclass(frozen=True, slots=True)
class Readable:
    main: str
    rest: str = ""
    cut: bool = False


def render_html(source: str, url: str) -> Readable:
    tree = parse_tree(source[:MAX_SOURCE_CHARACTERS], MAX_TOKENS)
    # Finding the main content of a very long page would take seconds, so all of it is shown.
    long = tree.is_truncated or len(tree) + sum(map(len, tree.texts)) > MAX_MAIN_SIZE
    inside = bytearray(b"\1") * len(tree)
    if not long:
        page = extract(source[:MAX_SOURCE_CHARACTERS].encode("utf-8", "replace"), url, "utf-8")
        inside = main_blocks(tree, page.main).inside
    main, cut = render_nodes(tree, url, inside)
    others = bytearray(len(tree))
    for node in range(len(tree) - 1, 0, -1):
        if not tree.names[node] and not inside[node] and not tree.texts[node].isspace():
            others[node] = 1
        if others[node]:
            others[tree.parents[node]] = 1
    rest, cut_too = render_nodes(tree, url, others)
    return Readable(main, rest, cut or cut_too or len(source) > MAX_SOURCE_CHARACTERS or tree.is_truncated)


def render_text(text: str) -> Readable:
    shown = escape(_printable(text[:MAX_CHARACTERS]), quote=False)
    return Readable(f"<pre>{shown}</pre>\n", "", len(text) > MAX_CHARACTERS)


def render_document(page: ParsedPage) -> Readable:
    headings = set(page.headings.split("\n"))
    hrefs = dict(zip(page.links.positions, page.links.urls, strict=True))
    out: list[str] = []
    link = 0
    for line in page.marked[:MAX_CHARACTERS].split("\n"):
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
        if len(out) >= MAX_ELEMENTS:
            break
    return Readable("".join(out), "", len(page.marked) > MAX_CHARACTERS or len(out) >= MAX_ELEMENTS)


def _escaped(text: str) -> str:
    return escape(_printable(text.replace(CLOSE, "")), quote=False)


def document(readable: Readable, title: str, url: str, fetched: float, theme: str = "system") -> str:
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
