"""The main part of a page, without menus, footers, cookie notices, comments and share bars.

The parser's tree is marked before it is rendered (`mark`): control characters around possible boilerplate and around
candidates for the main part. The text is then rendered once and split at marks and line breaks (`main_part`):

1.  Boilerplate is recognised by tag (nav, footer, aside), role, class and id (`sidebar`, `share-bar`), or because it is
    hidden. An element that holds most of the page's prose is never boilerplate, whatever its class.
2.  The main part is the narrowest element that holds much of the prose: `article`, `main`, an element with such a class
    or id, or the one that the parser finds densest. Without one, or if it is wide, the stretch of lines richest in
    prose is cut out, provided that it holds nearly all of the text. A headline and a lead before it are included.
3.  Within it, lines that are mostly short links are menus.
4.  If next to nothing would be left, the page is a directory, and removed parts are restored in this order: menus,
    comments, boilerplate by class, all boilerplate. The main part of a page with text is never empty.

The time is linear in the size of the page. Text and link density are features of Kohlschütter et al. 2010 (Boilerplate
Detection using Shallow Text Features); rules and numbers are our own.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from turbohtml import Document as Tree
from turbohtml import Element, Text

OPEN, CLOSE = "\x01", "\x02"  # around each link
MARK = "\x03"  # followed by one of these letters
BOILERPLATE, NAMED_BOILERPLATE, COMMENTS, BODY, ARTICLE, MAIN, CONTENT, HEADING, HEAD, DENSEST, IMAGE, END = (
    "FNCBAMTHDRIE"
)

PLACES = BODY + ARTICLE + MAIN + CONTENT + DENSEST
PLAIN_MARKS = HEADING + IMAGE + DENSEST
REMOVED = BOILERPLATE + NAMED_BOILERPLATE + COMMENTS + HEAD + IMAGE
MAX_MARKED = 5_000  # maximum number of marked elements
MAX_MARKS = 5 * MAX_MARKED  # maximum number of marks; a text with more had mark characters in its source
MAX_LINES = 20_000  # later lines are not analysed
LEAD_LENGTH = 600  # characters
MENU_LINK_SHARE = 0.5  # share of a line's letters within links: more may be a menu
MIN_PROSE = 40  # letters outside links
MAJORITY = 0.5  # share of the prose: an element that holds more is not boilerplate
NEARLY_ALL = 0.85  # share of a candidate's unlinked text that a stretch of it must hold
MIN_PLACE_SHARE = 0.3  # share of a page's unlinked text that a candidate must hold
_SELECTED = (
    "[class],[id],[role],[itemprop],[hidden],nav,footer,aside,header,dialog,menu,main,article,h1,h2,h3,h4,h5,h6,"
    "svg,form,button,noscript,[style*=none]"
)
_VOID = frozenset(
    "area br col embed hr img input link meta param source track wbr html body script style a i b".split()
)
_LISTS = frozenset("ul ol dl menu dir".split())
TAGS = {
    **dict.fromkeys("nav footer aside dialog menu svg button noscript".split(), BOILERPLATE),
    **dict.fromkeys("h1 h2 h3 h4 h5 h6".split(), HEADING),
    "header": HEAD,
    "article": ARTICLE,
    "main": MAIN,
}
_OTHER_ROLES = "navigation banner contentinfo complementary search menu menubar toolbar dialog alertdialog tablist"
_ROLES = {**dict.fromkeys(_OTHER_ROLES.split(), BOILERPLATE), "main": MAIN, "article": ARTICLE}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_NAMES = (
    r"ads?|adbox|adslot|advert\w*|adsense|author-?(?:bio|box|info)|back-?to-?top|banner|bookmarks?|bottom-?bar|"
    r"breadcrumbs?|bread-?crumb\w*|byline|captcha|catlinks|consent|cookies?\w*|copyright|dropdown|editsection|editlink|"
    r"footer|footnav|foot|gdpr|hatnote|hidden|jump-?(?:to-?)?nav|language-?\w*|legal|links-?bar|login|masthead|menus?|"
    r"mega-?menu|meta-?nav|modal|navbar|navbox|navi?|navigation|nav-?links|newsletter|noprint|outbrain|overlay|pager|"
    r"paginat\w*|paywall|popup|prev-?next|printfooter|promo\w*|quick-?_?links|recommend\w*|related\w*|rss|search-?(?:box|form|bar)?|"
    r"see-?also|share\w*|sharing|sharedaddy|side-?bar\w*|side-?nav|sign-?(?:in|up)|site-?(?:header|footer|nav)|"
    r"skip-?(?:link|to|nav)?\w*|social\w*|sponsor\w*|sr-only|subscri\w*|tags?-?(?:cloud|list|links)|taboola|tag-?cloud|"
    r"teasers?|tooltip|toolbar|tools|top-?bar|top-?nav|topics-?list|trending|vcard|visually-?hidden|widgets?|"
    r"widget-?area|you-?may-?\w*|most-?(?:read|popular|viewed)|popular(?:-?posts)?|read-?(?:more|next)|up-?next|"
    r"mw-jump\w*|mw-editsection|disclaimer|toc|table-?of-?contents"
)
_PREFIX = r"(?!has|with|without|no|is|js|elementor|wp|can|hide|show)[a-z0-9]+[-_]{1,2}"
_BOILERPLATE_NAME = re.compile(rf"(?:^|\s)(?:(?:{_NAMES})(?:[-_]\S*)?|{_PREFIX}(?:{_NAMES}))(?=\s|$)")
_COMMENTS_NAME = re.compile(
    r"(?:^|\s)(?:[a-z0-9]+[-_])?(?:comments?(?:-?(?:list|area|section|form|wrap\w*|thread|respond|container))?|"
    r"commentlist|commentary-list|disqus\w*|respond|reply-?form|discussion|livefyre\w*|fb-comments)(?=\s|$)"
)
_BODY_NAME = re.compile(
    r"(?:^|\s)(?:[a-z0-9]+[-_]{1,2})?(?:article-?(?:body|text|content|copy)\S*|(?:entry|post|story|news|blog|page|body)-?_?"
    r"(?:content|body|text|copy)|post-?bodycopy|story-?body\S*|mw-parser-output|mw-content-text|bodycontent|"
    r"message-?(?:body|content|text)|post-?message\S*|postbody|cooked|bbwrapper|markdown-body|rich-?text|richtext|product-?description|postcontent|entrytext|articlebody)(?=\s|$)"
)
_CONTENT_NAME = re.compile(
    r"(?:^|\s)(?:(?:main|page|site|primary|the|body|inner)?[-_]?content(?:[-_](?:main|area|body|inner|wrapper|primary))?|"
    r"main(?:[-_](?:content|column|col|body|text))?|article|post|story|entry|hentry|primary|maincol\w*)(?=\s|$)"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_CHATTER = re.compile(
    r"(?i)(?:share(?: (?:this|on|via|to)\b.*)?|tweet|pin it|print(?: this\b.*)?|e-?mail(?: this\b.*)?|advertisements?|"
    r"sponsored|(?:read|show|see|view|load) (?:more|less|all)|continue reading|subscribe(?: now)?|sign (?:in|up)|"
    r"log ?(?:in|out)|follow(?: us\b.*)?|skip to\b.*|back to top|loading|\d* ?comments?|"
    r"(?:leave|post|add) a (?:comment|reply)|reply|"
    r"all rights reserved|(?:copyright|©).*|close|menu|search|next|previous|home|top|permalink|edit|advertise\w*)\W*"
)


@dataclass(slots=True)
class MainPart:
    """Text, headings and first paragraphs of the main part, one block per line."""

    text: str = ""
    headings: str = ""  # one per line
    lead: str = ""  # the first paragraphs


@lru_cache(maxsize=20_000)
def _named(names: str) -> str:
    """Return the mark letter for the classes and id of an element; "" if they mean nothing.

    >>> _named("share-bar") == NAMED_BOILERPLATE, _named("entry-content") == BODY, _named("has-sidebar wide")
    (True, True, '')
    """
    names = _CAMEL.sub("-", names).lower()
    if _COMMENTS_NAME.search(names):
        return COMMENTS
    if _BODY_NAME.search(names):
        return BODY
    if _BOILERPLATE_NAME.search(names):
        return NAMED_BOILERPLATE
    return CONTENT if _CONTENT_NAME.search(names) else ""


def mark(tree: Tree, size: int) -> bool:
    """Mark elements for `main_part`, and turn table rows into lines; return False if there are too many table elements.

    The renderer would pad table columns to the longest cell and indent quotations.
    """
    # The search takes a tenth of a second on bad pages of this size.
    dense = tree.main_content() if size < 500_000 else None
    if dense is not None and dense.tag not in _VOID and dense.tag not in _LISTS:
        dense.insert(0, Text(MARK + DENSEST))
        dense.append(Text(MARK + END))
    for element in tree.select(_SELECTED)[:MAX_MARKED]:
        tag = element.tag
        if tag in _VOID:
            continue
        letter = TAGS.get(tag, "")
        attributes = element.attrs
        if attributes and letter != BOILERPLATE:
            letter = by_attributes(attributes, tag, letter)
        if letter and tag in _LISTS:  # text directly inside a list, outside its items, is not rendered
            element.insert_before(Text(MARK + letter))
            element.insert_after(Text(MARK + END))
        elif letter:
            element.insert(0, Text(MARK + letter))
            element.append(Text(MARK + END))
    for element in tree.select("img[alt]")[:MAX_MARKED]:
        if element.attr("alt"):
            element.insert_before(Text(MARK + IMAGE))
            element.insert_after(Text(MARK + END))
    return _without_tables(tree)


def _without_tables(tree: Tree) -> bool:
    cells = tree.select("td,th,tr,table,tbody,thead,tfoot,caption,blockquote,ol")
    if len(cells) > 20_000:
        return False
    for element in cells:
        tag = element.tag
        if tag in ("td", "th"):
            element.tag = "span"
            element.append(Text(" \t"))
        elif tag == "ol":
            _unindent(element)
        else:
            element.tag = "li" if tag == "tr" else "div"
    return True


def _unindent(numbered: Element) -> None:
    """Prevent wide indentation: drop the numbers of deeply nested lists and long start numbers."""
    around: Element | None = numbered
    for _ in range(3):
        parent = around.parent if around is not None else None
        around = parent.closest("ol") if isinstance(parent, Element) else None
    if around is not None:
        numbered.tag = "ul"
    elif len(numbered.attr("start") or "") > 4:
        del numbered.attrs["start"]


def by_attributes(attributes: Mapping[str, str | list[str] | None], tag: str, letter: str) -> str:
    """Return the mark letter of an element by its attributes; `letter` is the one of its tag, or ""."""
    role = attributes.get("role")
    if role and (named := _ROLES.get(str(role).lower(), "")):
        return named
    if "hidden" in attributes:
        return BOILERPLATE
    style = attributes.get("style")
    if style and _HIDDEN.search(str(style)[:1000]):
        return BOILERPLATE
    if letter:
        return COMMENTS if letter == ARTICLE and _named(_names(attributes)) == COMMENTS else letter
    if attributes.get("itemprop") == "articleBody":
        return BODY
    named = _named(_names(attributes))
    if tag == "p" or (tag in ("span", "em", "strong", "td", "th") and named in (CONTENT, BODY, COMMENTS)):
        return ""
    return named


def _names(attributes: Mapping[str, str | list[str] | None]) -> str:
    classes, name = attributes.get("class"), attributes.get("id")
    if classes is None:
        return str(name)[:300] if name else ""
    words = classes if isinstance(classes, str) else " ".join(classes)
    return f"{words} {name}"[:300] if name else words[:300]


def unmarked(text: str) -> str:
    """Return a rendered text without the marks of this module, as if it had been rendered without them.

    >>> unmarked(f"Reefs\\n\\n{MARK}N\\n\\nHome\\n\\n{MARK}E\\n\\nCoral {MARK}Nlives{MARK}E.")
    'Reefs\\n\\nHome\\n\\nCoral lives.'
    """
    if text.count(MARK) > MAX_MARKS:
        return text.replace(MARK, "")
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
    def __init__(self, text: str) -> None:
        self.texts: list[str] = []
        self.rows: list[int] = []  # line numbers
        self.letters: list[int] = []
        self.linked: list[int] = []  # letters within links
        self.links: list[int] = []
        self.words: list[int] = []  # words within links
        self.ranges: list[tuple[str, int, int]] = []  # mark, first fragment, end
        stack: list[tuple[str, int]] = []
        first, *rest = text.split(MARK)
        row = self._lines(first, 0)
        for piece in rest:
            letter = piece[:1]
            if letter != END:
                stack.append((letter, len(self.texts)))
            elif stack:
                letter, start = stack.pop()
                if start < len(self.texts):
                    self.ranges.append((letter, start, len(self.texts)))
            if len(piece) > 1:
                row = self._lines(piece[1:], row)
        self.ranges += [
            (letter, start, len(self.texts)) for letter, start in reversed(stack) if start < len(self.texts)
        ]
        self.unlinked = [n - m for n, m in zip(self.letters, self.linked, strict=True)]
        self.heads = self.covered(HEADING)

    def _lines(self, piece: str, row: int) -> int:
        row -= 1  # the first line continues the last line of the previous piece
        for line in piece.split("\n"):
            row += 1
            if not line or line.isspace():
                continue
            linked = links = words = 0
            if OPEN in line or CLOSE in line:
                inside = [anchor for part in line.split(OPEN)[1:] if (anchor := part.partition(CLOSE)[0])]
                if inside:
                    joined = " ".join(inside)
                    links, words = len(inside), joined.count(" ") + 1
                    linked = (len(joined) if joined.isascii() else _length(joined)) - links + 1
                line = line.replace(OPEN, "").replace(CLOSE, "")
            self.texts.append(line)
            self.rows.append(row)
            self.letters.append(len(line) if line.isascii() else _length(line))
            self.linked.append(linked)
            self.links.append(links)
            self.words.append(words)
        return row

    def covered(self, marks: str, without: Container[int] = ()) -> list[int]:
        """Return for each fragment how many of these marks enclose it."""
        edges = [0] * (len(self.texts) + 1)
        for number, (letter, start, end) in enumerate(self.ranges):
            if letter in marks and number not in without:
                edges[start] += 1
                edges[end] -= 1
        return list(accumulate(edges[:-1]))


def _length(text: str) -> int:
    """Return the length in UTF-8 bytes, which counts a Chinese character as three letters."""
    return len(text.encode("utf-8", "replace"))


def main_part(text: str) -> MainPart:
    """Return the main part of a rendered text with marks.

    >>> text = "<FHome<E\\n\\n<HReefs<E\\n\\nCoral lives in the sea.\\n\\n<F(c)<E".replace("<", MARK)
    >>> main_part(text)
    MainPart(text='Reefs\\nCoral lives in the sea.', headings='Reefs', lead='Coral lives in the sea.')
    """
    rest = ""
    if text.count(MARK) > MAX_MARKS:
        text = text.replace(MARK, "")
    if text.count("\n") > MAX_LINES:
        *lines, rest = text.split("\n", MAX_LINES)
        text = "\n".join(lines)
    parts = _Fragments(text)
    part = _written(parts, _kept(parts)) if parts.texts else MainPart()
    if rest:
        part.text = f"{part.text}\n{unmarked(rest).replace(OPEN, '').replace(CLOSE, '')}".strip()
    return part


def _kept(parts: _Fragments) -> list[int]:
    wide = _misnamed_boilerplate(parts)
    out = parts.covered(REMOVED, wide)
    plain = [0 if left else n for n, left in zip(parts.unlinked, out, strict=True)]
    inside = _place(parts, plain)
    shown = [at for at in inside if not out[at]]
    links = parts.links
    lines = [at for at in shown if not links[at] or not _is_menu(parts, at)]
    if _is_story(parts, plain, lines, shown):
        return lines
    # Restore removed parts of a directory or forum, or if boilerplate names are everywhere.
    for marks in (REMOVED, REMOVED.replace(COMMENTS, ""), BOILERPLATE):
        out = parts.covered(marks, wide)
        lines = [at for at in inside if not out[at]]
        if _is_enough(parts, lines, inside):
            return lines
    return [at for at, left in enumerate(parts.covered(BOILERPLATE, wide)) if not left] or list(range(len(parts.texts)))


def _is_story(parts: _Fragments, plain: list[int], lines: list[int], shown: list[int]) -> bool:
    """Return True if the lines without menus are prose, or most of the text."""
    named = any(letter not in PLAIN_MARKS for letter, _, _ in parts.ranges)
    if not _is_enough(parts, lines, shown):
        return False
    prose = sum(_prose(plain[at]) for at in lines)
    # Minimum letters of prose for short links to count as menus; old pages without semantic markup often have lists.
    return prose > (400 if named else 2_000) or _is_enough(parts, lines, shown, 0.6 if named else NEARLY_ALL)


def _misnamed_boilerplate(parts: _Fragments) -> set[int]:
    """Return the ranges that only look like boilerplate: most of the text is in them, or they head an article."""
    prose, unlinked = _sums([n if n >= MIN_PROSE else 0 for n in parts.unlinked]), _sums(parts.unlinked)
    places = parts.covered(ARTICLE + MAIN + BODY)
    return {
        number
        for number, (letter, start, end) in enumerate(parts.ranges)
        if (letter == HEAD and places[start])
        or (
            letter in REMOVED
            and prose[end] - prose[start] > MAJORITY * prose[-1]
            and unlinked[end] - unlinked[start] > MIN_PLACE_SHARE * unlinked[-1]
        )
    }


def _prose(letters: int) -> int:
    return letters if letters >= MIN_PROSE else 0


def _sums(values: Iterable[int]) -> list[int]:
    return [0, *accumulate(values)]


def _is_menu(parts: _Fragments, at: int) -> bool:
    links = parts.links[at]
    return links > 0 and parts.linked[at] > MENU_LINK_SHARE * parts.letters[at] and parts.words[at] < 5 * links


def _is_enough(parts: _Fragments, kept: list[int], of: list[int], share: float = 0.2) -> bool:  # directories keep less
    letters, heads = parts.letters, parts.heads
    return sum(letters[at] for at in kept if not heads[at]) > share * sum(letters[at] for at in of)


def _place(parts: _Fragments, plain: list[int]) -> list[int]:
    """Return the fragments of the narrowest place that holds most of the prose."""
    sums, unlinked, sizes = _sums([n if n >= MIN_PROSE else 0 for n in plain]), _sums(plain), _sums(parts.letters)
    least = 0.4 * sums[-1]  # minimum prose of a place
    places = [
        (sizes[end] - sizes[start], start, end, letter)
        for letter, start, end in parts.ranges
        if letter in PLACES
        and sums[end] - sums[start] > least
        and unlinked[end] - unlinked[start] > (MAJORITY if letter == DENSEST else MIN_PLACE_SHARE) * unlinked[-1]
    ]
    if places:
        _, start, end, letter = min(places)
        inside = _several(parts, sums, sums[end] - sums[start])
        if inside:
            return inside
        inside = list(range(start, end))
        if letter != BODY:
            inside = _stretch(parts, inside, plain)
        return [*_before(parts, inside[0], plain if letter in (BODY, DENSEST) else []), *inside]
    for marks in (BODY, ARTICLE):
        inside = [at for at, flag in enumerate(parts.covered(marks)) if flag]
        if sum(_prose(plain[at]) for at in inside) > least:
            return inside
    return _stretch(parts, list(range(len(plain))), plain)


def _several(parts: _Fragments, sums: list[int], held: int) -> list[int]:
    """Return all article bodies if they hold much more than the best single place, as in a forum."""
    if held > NEARLY_ALL * sums[-1]:
        return []
    bodies = [at for at, flag in enumerate(parts.covered(BODY)) if flag]
    return bodies if sum(sums[at + 1] - sums[at] for at in bodies) - held > 0.2 * sums[-1] else []


def _before(parts: _Fragments, start: int, plain: list[int]) -> range:
    """Return the lead and headline right before the place, if no menu is between."""
    reached = start
    for at in range(start - 1, max(-1, start - 6), -1):  # five lines at most
        if parts.heads[at] or (plain and plain[at] >= MIN_PROSE and not parts.links[at]):
            reached = at
        elif parts.linked[at] > MENU_LINK_SHARE * parts.letters[at]:
            break
    return range(reached, start)


def _stretch(parts: _Fragments, inside: list[int], plain: list[int]) -> list[int]:
    """Return the stretch of lines that is richest in prose if it holds nearly all of the text, else all lines."""
    best = run = 0
    first, last, start = 0, -1, 0
    links, linked = parts.links, parts.linked
    for number, at in enumerate(inside):
        if plain[at] >= MIN_PROSE:
            run += plain[at]
            if run > best:
                best, first, last = run, start, number
        else:
            run -= 15 + linked[at] if links[at] else 1  # a line of links soon ends a stretch
            if run <= 0:
                run, start = 0, number + 1
    if last < 0 or sum(plain[at] for at in inside[first : last + 1]) < NEARLY_ALL * sum(plain[at] for at in inside):
        return inside
    rows = parts.rows
    while first > 0 and (parts.heads[inside[first - 1]] or rows[inside[first - 1]] == rows[inside[first]]):
        first -= 1
    while last + 1 < len(inside) and not links[inside[last + 1]] and not parts.heads[inside[last + 1]]:
        last += 1
    return inside[first : last + 1]


def _written(parts: _Fragments, kept: list[int]) -> MainPart:
    texts, rows, heads = parts.texts, parts.rows, parts.heads
    written: list[str] = []
    titles: list[int] = []
    last = -1
    for at in kept:
        if rows[at] == last:
            written[-1] += texts[at]
        else:
            last = rows[at]
            written.append(texts[at])
            titles.append(heads[at])
    lines = list(zip(map(_line, written), titles, strict=True))
    # Drop lines without content, unless all lack it, and headings without text at the end.
    lines = [each for each in lines if len(each[0]) >= MIN_PROSE or (each[0] and not _is_chatter(each[0]))] or lines
    while len(lines) > 1 and lines[-1][1]:
        lines.pop()
    headings = "\n".join(line for line, title in lines if title)
    lead = "\n".join(_lead([line for line, title in lines if not title]))
    return MainPart("\n".join(line for line, _ in lines), headings, lead[: LEAD_LENGTH + 200])


@lru_cache(maxsize=2_000)  # pages of a site repeat their short lines
def _is_chatter(line: str) -> bool:
    return _CHATTER.fullmatch(line) is not None


def _lead(lines: list[str]) -> list[str]:
    """Return lines from the first line of prose up to LEAD_LENGTH characters; without prose the first three lines."""
    lead: list[str] = []
    size = 0
    for line in lines:
        if size < LEAD_LENGTH and (len(line) >= MIN_PROSE or lead):
            lead.append(line)
            size += len(line)
    return lead or lines[:3]


def _line(text: str) -> str:
    if not text.isascii():
        text = text.replace("\xad", "")
    return " ".join(text.split()) if "  " in text or "\t" in text else text.strip()
