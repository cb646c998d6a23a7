"""The main part of a page: what a reader came for, without menus, footers, cookie notes, comments and share bars.

The parser's tree is marked before it is rendered (`mark`): control characters around what may be furniture or the place
of the main part. The text is then rendered once, and read as fragments between marks and line breaks (`main_part`):

1.  Furniture is what a page names so by tag (nav, footer, aside), role, or class and id (`sidebar`, `share-bar`), and
    what it hides. What a page only names by a class is none where it holds most of the page's prose.
2.  The place of the main part is the narrowest element that holds most of the prose: what is called the body of an
    article, then `article`, then `main`, then what is called content. Without one it is the whole page.
3.  Within it, lines that are mostly short links are menus.
4.  A page that would have next to nothing left is a directory, and what was left out last comes back first: menus, the
    place, comments, furniture by class, all furniture. A page with text never has an empty main part.

All of it is linear in the size of the page. That text and links tell the main part is the idea of Kohlschütter et al.
2010 (Boilerplate Detection using Shallow Text Features); rules and numbers are our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from turbohtml import Document as Tree
from turbohtml import Text

MARK = "\x03"
"""Begins a mark; one of these letters follows."""

FURNITURE, NAMED, COMMENTS, BODY, ARTICLE, MAIN, CONTENT, HEADING, HEAD, END = "FNCBAMTHDE"

MOST_MARKED = 5_000
"""Elements of a page that are looked at."""

MOST_LINES = 20_000
"""Lines of a page that are read; what is beyond them is not in the main part."""

MOST_CELLS = 20_000
"""Cells of tables beyond which rows are no lines: a page with more is a machine's, not a reader's."""

LEAD = 600
"""Characters of the main part's first paragraphs."""

HEADLINE = 5
"""Words of a link that tells of something; those of menus have fewer."""

DENSE = 0.5
"""Share of a line's letters within links beyond which it may be a menu."""

PROSE = 40
"""Letters outside of links that make a line prose."""

MOST = 0.5
"""Share of the prose that the place of the main part has to hold."""

HUB = 0.2
"""A page that would keep less than this share of its letters is made of what would be left out."""

_SELECTED = (
    "[class],[id],[role],[itemprop],[hidden],nav,footer,aside,header,dialog,menu,main,article,h1,h2,h3,h4,h5,h6,"
    "svg,form,button,noscript,[style*=none]"
)
_VOID = frozenset(
    "area br col embed hr img input link meta param source track wbr html body script style a i b".split()
)
_LISTS = frozenset("ul ol dl menu dir".split())
_TAGS = {
    **dict.fromkeys("nav footer aside dialog menu svg button noscript".split(), FURNITURE),
    **dict.fromkeys("h1 h2 h3 h4 h5 h6".split(), HEADING),
    "header": HEAD,
    "article": ARTICLE,
    "main": MAIN,
}
_ROLES = {
    **dict.fromkeys(
        "navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist".split(),
        FURNITURE,
    ),
    "main": MAIN,
    "article": ARTICLE,
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_NAMES = (
    r"ads?|adbox|adslot|advert\w*|adsense|author-?(?:bio|box|info)|back-?to-?top|banner|bookmarks?|bottom-?bar|"
    r"breadcrumbs?|bread-?crumb\w*|byline|captcha|catlinks|consent|cookies?\w*|copyright|dropdown|editsection|editlink|"
    r"footer|footnav|foot|gdpr|hatnote|hidden|jump-?(?:to-?)?nav|language-?\w*|legal|links-?bar|login|masthead|menus?|"
    r"mega-?menu|meta-?nav|modal|navbar|navbox|navi?|navigation|nav-?links|newsletter|noprint|outbrain|overlay|pager|"
    r"paginat\w*|paywall|popup|prev-?next|printfooter|promo\w*|recommend\w*|related\w*|rss|search-?(?:box|form|bar)?|"
    r"see-?also|share\w*|sharing|sharedaddy|side-?bar\w*|side-?nav|sign-?(?:in|up)|site-?(?:header|footer|nav)|"
    r"skip-?(?:link|to|nav)?\w*|social\w*|sponsor\w*|sr-only|subscri\w*|tags?-?(?:cloud|list|links)|taboola|tag-?cloud|"
    r"teasers?|tooltip|toolbar|tools|top-?bar|top-?nav|topics-?list|trending|vcard|visually-?hidden|widgets?|"
    r"widget-?area|you-?may-?\w*|most-?(?:read|popular|viewed)|popular(?:-?posts)?|read-?(?:more|next)|up-?next|"
    r"mw-jump\w*|mw-editsection|disclaimer|toc|table-?of-?contents"
)
_PREFIX = r"(?!has|with|without|no|is|js|elementor|wp|can|hide|show)[a-z0-9]+[-_]{1,2}"
_FURNISHED = re.compile(rf"(?:^|\s)(?:{_PREFIX})?(?:{_NAMES})(?:[-_]\S*)?(?=\s|$)")
_COMMENTED = re.compile(
    r"(?:^|\s)(?:[a-z0-9]+[-_])?(?:comments?(?:-?(?:list|area|section|form|wrap\w*|thread|respond|container))?|"
    r"commentlist|commentary-list|disqus\w*|respond|reply-?form|discussion|livefyre\w*|fb-comments)(?=\s|$)"
)
_BODIES = re.compile(
    r"(?:^|\s)(?:[a-z0-9]+[-_]{1,2})?(?:article-?(?:body|text|content|copy)\S*|(?:entry|post|story|news|blog|page|body)-?_?"
    r"(?:content|body|text|copy)|post-?bodycopy|story-?body\S*|mw-parser-output|mw-content-text|bodycontent|"
    r"markdown-body|rich-?text|richtext|product-?description|postcontent|entrytext|articlebody)(?=\s|$)"
)
_CONTENTS = re.compile(
    r"(?:^|\s)(?:(?:main|page|site|primary|the|body|inner)?[-_]?content(?:[-_](?:main|area|body|inner|wrapper|primary))?|"
    r"main(?:[-_](?:content|column|col|body|text))?|article|post|story|entry|hentry|primary|maincol\w*)(?=\s|$)"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_CHATTER = re.compile(
    r"(?:share|tweet|print|e-?mail|advertisement|read more|continue reading|related|see also|subscribe|sign (?:in|up)|"
    r"log ?in|follow us|click here|skip to|back to top|loading|comments?|leave a (?:comment|reply)|reply|copyright|©|"
    r"all rights reserved|posted (?:in|by|on)|tags?:|filed under|photo(?:graph)?:|image:|close|menu|search|more|next|"
    r"previous|home)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class MainPart:
    """What is left of a page: its blocks, one a line."""

    text: str = ""
    headings: str = ""
    """Its headings, one a line."""
    lead: str = ""
    """Its first paragraphs."""


@lru_cache(maxsize=20_000)
def _named(names: str) -> str:
    """What an element is by its class and id; empty if these say nothing.

    >>> _named("share-bar") == NAMED, _named("entry-content") == BODY, _named("has-sidebar wide")
    (True, True, '')
    """
    names = _CAMEL.sub("-", names).lower()
    if _COMMENTED.search(names):
        return COMMENTS
    if _BODIES.search(names):
        return BODY
    if _FURNISHED.search(names):
        return NAMED
    return CONTENT if _CONTENTS.search(names) else ""


def mark(tree: Tree) -> bool:
    """Put marks around what may matter, and make lines of the rows of tables, for `main_part` to read.

    The renderer would lay out columns, as wide as the longest cell. False if there are too many to be made lines.
    """
    for element in tree.select(_SELECTED)[:MOST_MARKED]:
        tag = element.tag
        if tag in _VOID:
            continue
        found = _TAGS.get(tag, "")
        attributes = element.attrs
        if attributes and found != FURNITURE:
            found = _by_attributes(attributes, tag, found)
        if found and tag in _LISTS:  # text within them, but not within an item, is not rendered
            element.insert_before(Text(MARK + found))
            element.insert_after(Text(MARK + END))
        elif found:
            element.insert(0, Text(MARK + found))
            element.append(Text(MARK + END))
    cells = tree.select("td,th,tr,table,tbody,thead,tfoot,caption")
    if len(cells) > MOST_CELLS:
        return False
    for element in cells:
        tag = element.tag
        if tag in ("td", "th"):
            element.tag = "span"
            element.append(Text(" \t"))
        else:
            element.tag = "li" if tag == "tr" else "div"
    return True


def _by_attributes(attributes: Mapping[str, str | list[str] | None], tag: str, found: str) -> str:
    role = attributes.get("role")
    if role and (said := _ROLES.get(str(role).lower(), "")):
        return said
    if "hidden" in attributes:
        return FURNITURE
    style = attributes.get("style")
    if style and _HIDDEN.search(str(style)[:1000]):
        return FURNITURE
    if found:
        if found in (MAIN, ARTICLE):
            names = _names(attributes)
            return COMMENTS if found == ARTICLE and names and _named(names) == COMMENTS else found
        return found
    if attributes.get("itemprop") == "articleBody":
        return BODY
    names = _names(attributes)
    said = _named(names) if names else ""
    return "" if tag in ("span", "p", "em", "strong", "td", "th") and said in (CONTENT, BODY, COMMENTS) else said


def _names(attributes: Mapping[str, str | list[str] | None]) -> str:
    classes, name = attributes.get("class"), attributes.get("id")
    if classes is None:
        return str(name)[:300] if name else ""
    told = classes if isinstance(classes, str) else " ".join(classes)
    return f"{told} {name}"[:300] if name else told[:300]


def unmarked(text: str) -> str:
    """A rendered text without the marks of this module, as it would be without them.

    >>> unmarked(f"Reefs\\n\\n{MARK}N\\n\\nHome\\n\\n{MARK}E\\n\\nCoral {MARK}Nlives{MARK}E.")
    'Reefs\\n\\nHome\\n\\nCoral lives.'
    """
    first, *rest = text.split(MARK)
    pieces = [first]
    gap = len(first) - len(first.rstrip("\n")) if first else 2
    for piece in rest:
        inner = piece[1:]
        bare = inner.lstrip("\n")
        if len(inner) - len(bare) > gap:
            pieces.append("\n" * (len(inner) - len(bare) - gap))
            gap = len(inner) - len(bare)
        if bare:
            pieces.append(bare)
            gap = len(bare) - len(bare.rstrip("\n"))
    return "".join(pieces)


class _Fragments:
    """A rendered text, cut at marks and line breaks."""

    def __init__(self, text: str) -> None:
        self.texts: list[str] = []
        self.glued: list[bool] = []
        """Whether it goes on in the line of the fragment before it."""
        self.letters: list[int] = []
        self.linked: list[int] = []
        self.links: list[int] = []
        self.words: list[int] = []
        """Within links."""
        self.ranges: list[tuple[str, int, int]] = []
        """Marks with the fragments that they are around."""
        stack: list[tuple[str, int]] = []
        glued = False
        first, *rest = text.split(MARK)
        glued = self._lines(first, glued)
        for piece in rest:
            found = piece[:1]
            if found != END:
                stack.append((found, len(self.texts)))
            elif stack:
                found, start = stack.pop()
                if start < len(self.texts):
                    self.ranges.append((found, start, len(self.texts)))
            if len(piece) > 1:
                glued = self._lines(piece[1:], glued)
            if len(self.texts) > MOST_LINES:
                break
        while stack:
            found, start = stack.pop()
            self.ranges.append((found, start, len(self.texts)))

    def _lines(self, piece: str, glued: bool) -> bool:
        for number, line in enumerate(piece.split("\n", MOST_LINES)[:MOST_LINES]):
            glued = glued and not number
            if not line or line.isspace():
                continue
            linked = links = words = 0
            if "\x01" in line or "\x02" in line:
                for inside in line.split("\x01")[1:]:
                    if inside := inside.partition("\x02")[0]:
                        linked += len(inside)
                        links += 1
                        words += inside.count(" ") + 1
                line = line.replace("\x01", "").replace("\x02", "")
            self.texts.append(line)
            self.glued.append(glued)
            self.letters.append(len(line))
            self.linked.append(linked)
            self.links.append(links)
            self.words.append(words)
            glued = True
        return glued

    def covered(self, marks: str, without: Iterable[int] = ()) -> list[bool]:
        """Which fragments are within one of these marks."""
        edges = [0] * (len(self.texts) + 1)
        left = set(without)
        for number, (found, start, end) in enumerate(self.ranges):
            if found in marks and number not in left:
                edges[start] += 1
                edges[end] -= 1
        return [depth > 0 for depth in accumulate(edges)][:-1]


def main_part(text: str) -> MainPart:
    """The main part of a rendered text with marks.

    >>> text = "<FHome<E\\n\\n<HReefs<E\\n\\nCoral lives in the sea.\\n\\n<F(c)<E".replace("<", MARK)
    >>> main_part(text)
    MainPart(text='Reefs\\nCoral lives in the sea.', headings='Reefs', lead='Coral lives in the sea.')
    """
    parts = _Fragments(text)
    if not parts.texts:
        return MainPart()
    kept = _kept(parts)
    return _written(parts, kept)


def _kept(parts: _Fragments) -> list[bool]:
    """Which fragments are of the main part."""
    count = len(parts.texts)
    letters = parts.letters
    prose = [n - m if n - m >= PROSE else 0 for n, m in zip(letters, parts.linked, strict=True)]
    sums = [0, *accumulate(prose)]
    # What a page names so, but which holds most of what it says, is no furniture.
    wide = [
        number
        for number, (found, start, end) in enumerate(parts.ranges)
        if found in (NAMED, COMMENTS, HEAD) and sums[end] - sums[start] > MOST * sums[-1]
    ]
    sure = parts.covered(FURNITURE)
    named = parts.covered(NAMED + HEAD, wide)
    talk = parts.covered(COMMENTS, wide)
    heads = parts.covered(HEADING)
    inside = _place(parts, [n * (not (a or b or c)) for n, a, b, c in zip(prose, sure, named, talk, strict=True)])
    menus = [
        links > 0 and m > DENSE * n and words < HEADLINE * links
        for n, m, links, words in zip(letters, parts.linked, parts.links, parts.words, strict=True)
    ]
    everything = sum(letters)
    kept = [True] * count
    for without in (
        (sure, named, talk, menus),
        (sure, named, talk),
        (sure, named),
        (sure,),
    ):
        out = [any(flags) for flags in zip(*without, strict=True)]
        kept = [a and not b for a, b in zip(inside, out, strict=True)]
        if sum(n for n, keep, head in zip(letters, kept, heads, strict=True) if keep and not head) > HUB * sum(
            n for n, a, b, c in zip(letters, inside, sure, named, strict=True) if a and not b and not c
        ):
            break
    if sum(n for n, keep in zip(letters, kept, strict=True) if keep) > 0.02 * everything:
        return kept
    return [not a for a in sure] if not all(sure) else [True] * count


def _place(parts: _Fragments, prose: list[int]) -> list[bool]:
    """The narrowest place that holds most of the prose."""
    sums = [0, *accumulate(prose)]
    whole = sums[-1]
    for marks in (BODY, ARTICLE, MAIN, CONTENT):
        places = [(sums[end] - sums[start], start, end) for found, start, end in parts.ranges if found == marks]
        if not places:
            continue
        best = max(places)
        if best[0] > MOST * whole:
            return [best[1] <= at < best[2] for at in range(len(prose))]
        inside = parts.covered(marks)
        if sum(n for n, flag in zip(prose, inside, strict=True) if flag) > MOST * whole:
            return inside
    return [True] * len(prose)


def _written(parts: _Fragments, kept: list[bool]) -> MainPart:
    heads = parts.covered(HEADING)
    pieces: list[list[str]] = []
    titles: list[bool] = []
    last = -2
    for at, keep in enumerate(kept):
        if not keep:
            continue
        piece = parts.texts[at]
        if parts.glued[at] and last == at - 1:
            pieces[-1].append(piece)
        else:
            pieces.append([piece])
            titles.append(heads[at])
        last = at
    lines = [_line("".join(each)) for each in pieces]
    while lines and titles[-1] and len(lines) > 1:
        lines.pop()
        titles.pop()
    lead: list[str] = []
    size = 0
    for line, title in zip(lines, titles, strict=True):
        if not title and size < LEAD and (len(line) >= PROSE or lead):
            lead.append(line)
            size += len(line)
    if not lead:
        lead = [line for line, title in zip(lines, titles, strict=True) if not title][:3]
    headings = [line for line, title in zip(lines, titles, strict=True) if title]
    return MainPart("\n".join(lines), "\n".join(headings), "\n".join(lead)[: LEAD + 200])


def _line(text: str) -> str:
    return " ".join(text.split()) if "  " in text or "\t" in text else text.strip()
