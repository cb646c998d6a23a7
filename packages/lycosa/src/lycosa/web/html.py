"""HTML to text and links.

One pass: markers are put around each `a[href]`, the text is rendered once (block-aware, without scripts), and anchors
and contexts are cut out of it. The time is linear in the size of the page, for any markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from turbohtml import Document as Tree
from turbohtml import Element, PlainText, Text, parse
from turbohtml.detect import detect_language

from lycosa.core.files import read_input
from lycosa.core.types import Links, Page
from lycosa.web.browser_protocols import has_scripts
from lycosa.web.declared import META, add_value, as_href, find_urls, read_json_ld
from lycosa.web.inflate import charset_of, decode
from lycosa.web.mainpart import CLOSE as CLOSE
from lycosa.web.mainpart import OPEN as OPEN
from lycosa.web.mainpart import main_part, mark, unmarked
from lycosa.web.urls import resolve, resolve_routes

HTML = frozenset({"text/html", "application/xhtml+xml"})

# content type of rendered pages, whose fragments may be routes of a single-page application
DOM = "text/html; charset=utf-8; source=dom"
CONTEXT_WORDS = 20  # words of a link's context, including the anchor
MAX_LINKS = 10_000  # links read per page; pages with more are machine-generated
MAX_TEXT_PER_BYTE = 9  # characters of text, main part, anchors and contexts per byte of the page
MAX_URL_CHARS_PER_BYTE = 10  # characters of URLs per byte of the page, beyond the first 100,000
ARTICLE_PROBE = 60  # characters at either end of an article that are searched for on the page
_RENDER = PlainText(images=True, bullet="")
_HEAD = (
    "meta[name],meta[property],meta[http-equiv],base[href],link[rel=canonical],link[rel~=license],a[rel~=license],"
    "script[type='application/ld+json'],template"
)
_REFRESH_URL = re.compile(r"^\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_TWO_LETTERS = dict(
    pair.split("=")
    for pair in """
    afr=af ara=ar aze=az bel=be ben=bn bul=bg cat=ca ces=cs cmn=zh dan=da deu=de ell=el eng=en epo=eo est=et fin=fi
    fra=fr guj=gu heb=he hin=hi hrv=hr hun=hu hye=hy ind=id ita=it jav=jv jpn=ja kan=kn kat=ka khm=km kor=ko lat=la
    lav=lv lit=lt mal=ml mar=mr mkd=mk mya=my nep=ne nld=nl nob=no ori=or pan=pa pes=fa pol=pl por=pt ron=ro rus=ru
    sin=si slk=sk slv=sl sna=sn spa=es srp=sr swe=sv tam=ta tel=te tgl=tl tha=th tuk=tk tur=tr ukr=uk urd=ur uzb=uz
    vie=vi yid=yi zul=zu
    """.split()
)


@dataclass(slots=True)
class ParsedPage:
    """Text, links and metadata of a page."""

    title: str = ""
    marked: str = ""
    main: str = ""  # empty if the markup does not show the main part
    headings: str = ""  # headings of the main part, one per line
    lead: str = ""  # the first paragraphs of the main part
    language: str = ""
    links: Links = field(default_factory=Links)
    directives: frozenset[str] = frozenset()  # directives of meta robots: noindex, nofollow, ...
    canonical: str = ""  # for display only; never used as the page's identity
    about: dict[str, str] = field(default_factory=dict)  # author, published, modified, site, licence, pages
    flags: list[str] = field(default_factory=list)  # such as "truncated:document", "no-text"
    error: str = ""  # why it cannot be read
    scripts: bool = False  # has scripts that a browser would run

    @property
    def text(self) -> str:
        return self.marked.replace(OPEN, "").replace(CLOSE, "")

    @property
    def content(self) -> str:
        """The text of the main part, or the whole text if the main part is unknown."""
        return self.main or self.text

    def without_main_part(self) -> ParsedPage:
        """Return a copy without a main part, so that all of its text counts."""
        return replace(self, main="", headings="", lead="")

    def fill(self, page: Page) -> Page:
        page.title, page.marked, page.links = self.title, self.marked, self.links
        page.main, page.headings, page.lead, page.scripts = self.main, self.headings, self.lead, self.scripts
        return page

    def page(self) -> Page:
        return self.fill(Page("ok", language=self.language))


def extract(body: bytes, url: str, charset: str = "", agent: str = "", *, routes: bool = False) -> ParsedPage:
    """Parse an HTML page of any charset; malformed markup never raises.

    >>> page = extract(b"<title>Reefs</title><p>On <a href=/b>bleached coral</a> today", "http://a.test/")
    >>> page.title, page.links.urls, page.links.anchors, page.links.contexts
    ('Reefs', ['http://a.test/b'], ['bleached coral'], ['On bleached coral today'])
    """
    source = decode(body, charset)
    tree = parse(limit_markup(source, body.count(b"<")), positions=False)  # "<" is one byte in all supported charsets
    document = ParsedPage(scripts=has_scripts(source))
    base, refresh = _head(tree, url, document, agent)

    hrefs: list[str] = []
    rels: list[str] = []
    elements: list[Element] = []
    paths: list[str] = []
    path_of = TagPaths(len(body)).of
    for element in tree.select("a[href],area[href],frame[src],iframe[src]")[:MAX_LINKS]:
        attributes = element.attrs
        if element.tag == "a":
            element.insert(0, Text(OPEN))
            element.append(Text(CLOSE))
            hrefs.append(_text_of(attributes["href"]))
        else:
            label = _words(_text_of(attributes.get("alt") or attributes.get("title")))
            element.insert_before(Text(OPEN + label + CLOSE))
            hrefs.append(_text_of(attributes.get("href") or attributes.get("src")))
        rels.append(_text_of(attributes["rel"]).lower() if "rel" in attributes else "")
        elements.append(element)
        paths.append(path_of(element))

    is_marked = mark(tree, len(body))
    root = tree.find("body") or tree.root
    rendered = "" if root is None else root.to_text(_RENDER) if is_marked else _strings(tree, root)
    part = main_part(rendered)
    article, document.main, document.headings, document.lead = document.main, part.text, part.headings, part.lead
    marked = unmarked(rendered)
    if article and (hidden := _hidden_article(article, marked)):  # text that only scripts would display
        document.main, document.lead = f"{part.text}\n{hidden}".strip(), part.lead or hidden[:600]
        marked = f"{marked}\n{hidden}"
    left = MAX_TEXT_PER_BYTE * len(body) - len(marked) - len(part.text) - len(part.headings) - len(part.lead)
    spans = _spans(marked)
    if len(spans) == len(elements) == marked.count(OPEN) == marked.count(CLOSE):
        anchors, contexts = _cut(marked, spans, left)
    else:  # the page contains our markers, or some of its links are hidden: anchors without context
        marked = marked.replace(OPEN, "").replace(CLOSE, "")
        anchors = _texts(elements, min(left, 2 * len(body)))  # nested links repeat each other's words
        contexts = [""] * len(elements)
    rows = list(zip(hrefs, anchors, contexts, rels, paths, strict=True))
    if refresh:
        rows.append((refresh, "", "", "refresh", ""))
    document.marked = marked
    urls = (resolve_routes if routes else resolve)(base, [row[0] for row in rows])
    _keep(document.links, urls, rows, len(body))
    return document


def read_body(body: bytes, url: str, content_type: str, agent: str = "") -> ParsedPage:
    """Parse a decompressed body by its content type: HTML, plain text, or an empty page for other types.

    >>> read_body(b"<title>Reefs</title>", "http://a.test/", "").title
    'Reefs'
    """
    kind, _, parameters = content_type.partition(";")
    kind = kind.strip().lower()
    if not kind:
        kind = "text/html" if body.lstrip()[:1] == b"<" else "text/plain"
    if kind in HTML:
        return extract(body, url, charset_of(parameters), agent, routes=content_type == DOM)
    return read_plain_text(body, charset_of(parameters), url) if kind.startswith("text/") else ParsedPage()


def read_plain_text(body: bytes, charset: str = "", url: str = "") -> ParsedPage:
    """Parse a text file; URLs in it become links.

    >>> read_plain_text(b"On reefs, see http://b.test/reefs.", url="http://a.test/").links.contexts
    ['On reefs, see http://b.test/reefs .']
    """
    text = decode(body, charset, markup=False)[:MAX_SOURCE].replace(OPEN, "").replace(CLOSE, "")
    spans = find_urls(text)[:MAX_LINKS]
    if not spans:
        return ParsedPage(marked=text)
    hrefs = [as_href(text[start:end]) for start, end in spans]
    pieces = [text[: spans[0][0]]]
    for (start, end), (after, _) in zip(spans, [*spans[1:], (len(text), 0)], strict=True):
        pieces += [OPEN, text[start:end], CLOSE, text[end:after]]
    document = ParsedPage(marked="".join(pieces))
    anchors, contexts = _cut(document.marked, _spans(document.marked), MAX_TEXT_PER_BYTE * len(body))
    rows = [(*row, "", "") for row in zip(hrefs, anchors, contexts, strict=True)]
    _keep(document.links, resolve(url, hrefs), rows, len(body))
    return document


def detect_language_code(text: str) -> str:
    """Return the language of a text as an ISO 639-1 code (639-3 if it has none), or "" if unsure."""
    match = detect_language(text[:2000])
    if match is None or match.confidence < 0.3:  # below this the detection is unreliable
        return ""
    return _TWO_LETTERS.get(match.language or "", match.language or "")


def _head(tree: Tree, url: str, document: ParsedPage, agent: str) -> tuple[str, str]:
    """Read title, language and meta elements; return the base URL of links and the target of a meta refresh."""
    document.title = _title(tree)
    document.language = "" if tree.root is None else _text_of(tree.root.attrs.get("lang")).lower()[:20]
    base = refresh = ""
    for element in tree.select(_HEAD):
        attributes = element.attrs
        if element.tag == "template":
            element.decompose()  # templates are never shown, so their links must not count
        elif element.tag == "script":
            document.main = read_json_ld(document.about, element.text) or document.main
        elif element.tag == "meta":
            refresh = _meta(attributes, document, agent) or refresh
        else:
            target = resolve(url, [_text_of(attributes.get("href"))])[0] or ""
            if element.tag == "base":
                base = base or target or url  # only the first base element is used
            elif "license" in _text_of(attributes.get("rel")).lower().split():
                document.about.setdefault("licence", target)
            else:
                document.canonical = target
    return base or url, refresh


def _meta(attributes: Mapping[str, str | list[str] | None], document: ParsedPage, agent: str) -> str:
    named = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
    name, content = _text_of(named).lower(), _text_of(attributes.get("content"))
    if name in META:
        add_value(document.about, META[name], content)
    if name == "robots" or (agent and name == agent.lower()):
        document.directives |= _directives(content)
    elif name == "tdm-reservation":
        document.directives |= {f"tdm-reservation={content.strip()[:10]}"}
    elif name == "refresh" and (match := _REFRESH_URL.match(content)):
        return match[1].strip()
    return ""


def _directives(content: str) -> set[str]:
    words = {word.strip().lower() for word in content.split(",")}
    return words | {"noindex", "nofollow"} if "none" in words else words


def _title(tree: Tree) -> str:
    title = tree.find("title")
    if title is not None and title.closest("svg") is not None:
        title = next((other for other in tree.select("title")[:10] if other.closest("svg") is None), None)
    return "" if title is None else _words(title.text)[:500]


def _hidden_article(article: str, marked: str) -> str:
    """Return a JSON-LD article as text, or "" if its beginning or end is already on the page."""
    article = article.replace(OPEN, "").replace(CLOSE, "")
    if "<" in article or "&" in article:
        article = parse(limit_markup(article)).to_text(_RENDER)
    lines = [" ".join(line.split()) for line in article.split("\n")]
    text = "\n".join(line for line in lines if line)
    shown, sought = "".join(marked.split()), "".join(text.split())
    return "" if not sought or sought[:ARTICLE_PROBE] in shown or sought[-ARTICLE_PROBE:] in shown else text


def _strings(tree: Tree, root: Element) -> str:
    for hidden in tree.select("script,style"):
        hidden.decompose()
    return " ".join(root.strings)


def _texts(elements: list[Element], left: int) -> list[str]:
    texts: list[str] = []
    for element in elements:
        text = element.text if left > 0 else ""
        left -= len(text)
        texts.append(_words(text))
    return texts


def _spans(marked: str) -> list[tuple[int, int]]:
    """Return start and end of each link in page order; empty if the markers do not pair up."""
    pieces = marked.split(OPEN)
    at = len(pieces[0])
    spans: list[tuple[int, int]] = []
    for piece in pieces[1:]:
        end = piece.find(CLOSE)
        if end < 0:
            return []
        spans.append((at, at + 1 + end))
        at += 1 + len(piece)
    return spans


def _cut(marked: str, spans: list[tuple[int, int]], left: int) -> tuple[list[str], list[str]]:
    """Cut anchor and context of each link out of the marked text, at most `left` characters in all."""
    anchors: list[str] = []
    contexts: list[str] = []
    clean = marked.replace(OPEN, " ").replace(CLOSE, " ")  # same offsets; other links in the window appear unmarked
    for start, end in spans:
        inside = clean[start:end].split()
        anchor = " ".join(inside)[:1000]
        anchors.append(anchor)
        around = CONTEXT_WORDS - len(inside)
        if around < 2:
            contexts.append(anchor)
            continue
        # Ten words have 65 letters on average: a slice of twice that nearly always holds them.
        earlier, later = around // 2, around - around // 2
        reach = 10 * later + 30
        before = clean[max(0, start - reach) : start].rsplit(None, earlier)  # the last item is the unsplit rest
        if len(before) <= earlier and start > reach:
            before = before[1:]  # the first word may be cut
        after = clean[end : end + reach].split(None, later)
        if len(after) <= later and end + reach < len(clean):
            after = after[:-1]
        contexts.append(" ".join([*before[-earlier:], anchor, *after[:later]]))
    left -= sum(map(len, anchors))
    if sum(map(len, contexts)) > left:
        for at, context in enumerate(contexts):
            left -= len(context)
            if left < 0:
                contexts[at] = ""
    return anchors, contexts


def _keep(links: Links, urls: list[str | None], rows: list[tuple[str, str, str, str, str]], size: int) -> None:
    """Add links that can be followed, without repeated (URL, anchor) pairs; `size` is that of the page in bytes."""
    left = MAX_URL_CHARS_PER_BYTE * size + 100_000
    seen: set[tuple[str, str]] = set()
    for position, (url, (_, anchor, context, rel, path)) in enumerate(zip(urls, rows, strict=True)):
        if url is None or (url, anchor) in seen:
            continue
        left -= len(url)
        if left < 0:
            break
        seen.add((url, anchor))
        links.urls.append(url)
        links.anchors.append(anchor)
        links.contexts.append(context)
        links.rels.append(rel)
        links.positions.append(position)
        links.paths.append(path)


def _words(text: str) -> str:
    return " ".join(text.replace(OPEN, " ").replace(CLOSE, " ").split())[:1000]


def _text_of(value: str | list[str] | None) -> str:
    """Return an attribute as text; the parser splits some attributes into lists."""
    if value is None:
        return ""
    return value if isinstance(value, str) else " ".join(value)


def read_example_page(file: str, *, whole_text: bool = False) -> Page:
    body = read_input(Path(file), 10_000_000, "the example")
    is_text = file.endswith((".txt", ".text", ".md"))
    document = read_plain_text(body) if is_text else extract(body, "http://example.invalid/")
    return (document.without_main_part() if whole_text else document).page()


# In HTML5 an unclosed formatting element is reopened, with all its attributes, in every following block, and the
# attributes of a second `<body>` join those of the first. So 60 kB of markup can become gigabytes. The functions below
# bound the expansion by counting tags before parsing; ordinary pages cost one length check and one count.

MAX_SOURCE = 3_000_000  # characters of a page that are parsed
MAX_TAGS = 300_000
SAFE_MARKUP = 40_000_000  # tags times characters: below this, no page takes more than 250 MB
MAX_REOPENED = 8_000_000  # tags times characters of formatting elements that may be reopened in every block
SHORT_SOURCE = 80_000  # characters: below this, joining attributes is always fast
MAX_REPEATED_TAGS = 10  # <html> and <body> tags that are kept: pages repeat them in conditional comments
_NAMES = "big code em font nobr small strike strong tt".split()
_FORMATTING = "(?=[bcefinstuBCEFINSTU])(?:[bisuBISU]|{})(?=[\\s/>])".format(
    "|".join("".join(f"[{c}{c.upper()}]" for c in name) for name in _NAMES)
)
# An unclosed quotation extends to the end: overestimating is safe.
_ATTRIBUTES = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+"""
_REOPENED = re.compile(rf"<{_FORMATTING}{_ATTRIBUTES}")
_LINK = re.compile(rf"<[aA](?=[\s/]){_ATTRIBUTES}")
_FORMATTING_TAG = re.compile(rf"<(/?){_FORMATTING}")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_BETWEEN = re.compile(r"[\s/\"']+")
_BODY = re.compile(r"<[hHbB](?:[tT][mM][lL]|[oO][dD][yY])(?=[\s/>])")
# Matches only attributes that every parser reads alike, so the end of the tag is certain.
_PLAIN_END = re.compile(r"""(?:[ \t\r\n]++[\w:.-]++(?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`]++))?+)*+[ \t\r\n]*+/?>""")


def limit_markup(source: str, max_tags: int = MAX_TAGS) -> str:
    """Return the markup cut to a safe length, without anything that multiplies; it has at most `max_tags` tags."""
    if len(source) <= SHORT_SOURCE and max_tags * len(source) < SAFE_MARKUP:
        return source
    source = source[:MAX_SOURCE]
    tags = max_tags if max_tags < MAX_TAGS else source.count("<")
    if tags > MAX_TAGS:
        source = "<".join(source.split("<", MAX_TAGS + 1)[: MAX_TAGS + 1])
        tags = MAX_TAGS
    harmless = tags * len(source) < SAFE_MARKUP
    if not harmless or len(source) > SHORT_SOURCE:
        source = _with_few_bodies(source)
    if harmless:
        return source
    if tags * sum(map(len, _REOPENED.findall(source))) > MAX_REOPENED:
        source = _FORMATTING_TAG.sub(r"<\1span", source)
    max_words = MAX_REOPENED // tags
    if any(_has_more(link, max_words) for link in _LINK.findall(source)):  # only one link is open at any time
        source = _LINK.sub(lambda link: f"<span{link[0][2:]}" if _has_more(link[0], max_words) else link[0], source)
    return source


def _with_few_bodies(source: str) -> str:
    names = [name.lower() for name in _BODY.findall(source)]
    if len(names) == len(set(names)):
        return source
    left: dict[str, int] = {}

    def kept(tag: re.Match[str]) -> str:
        name = tag[0].lower()
        first, more = name not in left, left.get(name, MAX_REPEATED_TAGS)
        brief = more > 0 and _PLAIN_END.match(source, tag.end(), tag.end() + 1_000) is not None
        left[name] = more - 1 if brief else 0 if first else more
        return tag[0] if brief or first else "<span"

    return _BODY.sub(kept, source)


def _has_more(tag: str, max_words: int) -> bool:
    return len(tag) > 2 * max_words and len(_BETWEEN.findall(_QUOTED.sub('"', tag))) > max_words


# The tag path of a link: the tags from the root down to it, each with its id and classes.
# Menus, listings, footers and prose have different paths, which the pages of a site share. Gauquier, Manolescu and
# Senellart group links by them (the sleeping-bandit crawler).
#
# A path has at most `MAX_PATH_TAGS` tags, `MAX_CLASSES` classes per tag, `MAX_NAME` characters per name, id and class,
# and `MAX_PATH` characters in all; it is cut at the root's end. The path of an element follows from that of its parent,
# so each element is visited once.

MAX_PATH_TAGS = 32  # tags of a path; few pages have more
MAX_CLASSES = 3  # per tag
MAX_NAME = 32  # characters of a tag's name, of an id and of a class
MAX_PATH = 500  # characters
MAX_PATH_CHARS_PER_BYTE = 2  # characters of all distinct paths per byte of the page, beyond the first 10,000


class TagPaths:
    """The tag paths of one page's links; equal paths share one string.

    >>> from turbohtml import parse
    >>> page = parse("<div id=content><ul class=nav><li><a class='ref x' href=/b>b</a></ul></div>")
    >>> TagPaths(100).of(page.select("a")[0])
    'html body div#content ul.nav li a.ref.x'
    """

    def __init__(self, size: int) -> None:
        self._left = MAX_PATH_CHARS_PER_BYTE * size + 10_000
        self._known: dict[Element, str] = {}  # paths of elements that contain links
        self._joined: dict[tuple[str, str], str] = {}
        self._shared: dict[str, str] = {}

    def of(self, element: Element) -> str:
        parent = element.parent
        above = self._above(parent) if isinstance(parent, Element) else ""
        path = self._join(above, element)
        shared = self._shared.get(path)
        if shared is None:
            self._left -= len(path)
            shared = self._shared[path] = path if self._left >= 0 else ""
        return shared

    def _above(self, element: Element) -> str:
        known = self._known
        path = known.get(element)
        if path is not None:
            return path
        chain = [element]
        while isinstance(above := chain[-1].parent, Element):
            path = known.get(above)
            if path is not None or len(chain) == MAX_PATH_TAGS:
                break
            chain.append(above)
        else:
            path = ""
        is_complete = path is not None
        path = path or ""
        for each in reversed(chain):
            path = self._join(path, each)
            if is_complete or each is element:  # other paths would lack their beginning
                known[each] = path
        return path

    def _join(self, above: str, element: Element) -> str:
        step = above, _name(element)
        path = self._joined.get(step)
        if path is None:
            self._joined[step] = path = _cut_path(f"{above} {step[1]}" if above else step[1])
        return path


def _name(element: Element) -> str:
    attributes = element.attrs
    name = element.tag[:MAX_NAME]
    if "id" in attributes:
        name = f"{name}#{'_'.join(_path_words(attributes['id']))[:MAX_NAME]}"  # no blanks: they separate tags
    if "class" in attributes:
        for word in _path_words(attributes["class"])[:MAX_CLASSES]:
            name += "." + word[:MAX_NAME]
    return name


def _path_words(value: str | list[str] | None) -> list[str]:
    return value.split() if isinstance(value, str) else value or []


def _cut_path(path: str) -> str:
    if path.count(" ") >= MAX_PATH_TAGS:
        path = path.split(" ", path.count(" ") + 1 - MAX_PATH_TAGS)[-1]
    return path[path.index(" ", len(path) - MAX_PATH - 1) + 1 :] if len(path) > MAX_PATH else path
