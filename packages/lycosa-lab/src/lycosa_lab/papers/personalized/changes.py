"""Change detection: the kinds of change that each detector reports, its cost, and the paper's claims."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from random import Random
from time import perf_counter
from typing import Literal
from xml.etree.ElementTree import fromstring

from lycosa.core.types import Page
from lycosa.revisit.detectors import checksum
from lycosa.testweb import Web
from lycosa.web.html import CLOSE, OPEN
from lycosa.web.tree import parse_tree
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import NEGLIGIBLE, Cell, Claim, ReportTable, Ruling, claim_of, decide

# Visible effect of a change: nothing changed, nothing visible, other text, other elements.
Sort = Literal["none", "cosmetic", "content", "structure"]
# Function that returns the changed page, or None if the page has no place for the change.
Make = Callable[[str, Random], str | None]

_PARAGRAPH = re.compile(r"<p\b[^>]*>.*?</p>\n?", re.DOTALL)
_TEXT = re.compile(r">([^<>]*[A-Za-z]{4}[^<>]*)<")
_WORD = re.compile(r"[A-Za-z]{4,}")
_LINK = re.compile(r'(<a href=")([^"]+)(")')


def page_html(page: Page) -> str:
    """Return a recorded page as HTML with its title, paragraphs and links, which are all that is recorded."""
    urls = iter(page.links.urls)

    def linked(text: str) -> str:
        opened, html = False, ""
        for piece in re.split(f"([{OPEN}{CLOSE}])", text):
            if piece not in (OPEN, CLOSE):
                html += escape(piece, quote=False)
                continue
            html += "</a>" if opened else ""
            opened = piece == OPEN
            html += f'<a href="{escape(next(urls, "#"))}">' if opened else ""
        return html + ("</a>" if opened else "")

    body = "\n".join(f"<p>{linked(line.strip())}</p>" for line in page.marked.split("\n\n") if line.strip())
    head = f"<head>\n<title>{escape(page.title, quote=False)}</title>\n</head>"
    return f"<!DOCTYPE html>\n<html>\n{head}\n<body>\n{body}\n</body>\n</html>"


def _put(source: str, start: int, end: int, text: str) -> str:
    return source[:start] + text + source[end:]


def _in_word(change: Callable[[str, Random], str]) -> Make:

    def make(source: str, chance: Random) -> str | None:
        places = [
            (text.start(1) + word.start(), text.start(1) + word.end())
            for text in _TEXT.finditer(source, max(0, source.find("<body")))
            for word in _WORD.finditer(text[1])
        ]
        if not places:
            return None
        start, end = chance.choice(places)
        changed = _put(source, start, end, change(source[start:end], chance))
        return changed if changed != source else None

    return make


def _one(pattern: re.Pattern[str], change: Callable[[re.Match[str], Random], str], fewest: int = 1) -> Make:
    def make(source: str, chance: Random) -> str | None:
        matches = list(pattern.finditer(source))
        if len(matches) < fewest:
            return None
        match = chance.choice(matches)
        return _put(source, match.start(), match.end(), change(match, chance))

    return make


def _next_letter(word: str, chance: Random) -> str:
    at = chance.randrange(len(word))
    return _put(word, at, at + 1, "a" if word[at] in "zZ" else chr(ord(word[at]) + 1))


def _swapped(source: str, chance: Random) -> str | None:
    paragraphs = [match for match in _PARAGRAPH.finditer(source) if match[0].strip()]
    pairs = [(a, b) for a, b in pairwise(paragraphs) if a[0] != b[0] and a.end() == b.start()]
    if not pairs:
        return None
    first, second = chance.choice(pairs)
    return _put(source, first.start(), second.end(), second[0] + first[0])


def _quoted(paragraph: re.Match[str], _: Random) -> str:
    return "</blockquote>".join(paragraph[0].replace("<p", "<blockquote", 1).rsplit("</p>", 1))


# Changes of known kinds, so that the correct verdict of a detector is known.
CHANGES: dict[str, tuple[Sort, Make]] = {
    "fetched again, the same": ("none", lambda page, chance: page),
    "empty lines between paragraphs": (
        "cosmetic", lambda page, chance: page.replace("\n<p", "\n\n<p") if "\n<p" in page else None
    ),
    "a comment in the source": (
        "cosmetic",
        lambda page, chance: page.replace("</body>", f"<!-- served by {chance.randrange(10**6)} --></body>", 1),
    ),
    "an attribute with a number that changes": (
        "cosmetic",
        lambda page, chance: (
            page.replace("<body", f'<body data-visit="{chance.randrange(10**6)}"', 1) if "<body" in page else None
        ),
    ),
    "a letter becomes the next one": ("content", _in_word(_next_letter)),
    "another word": ("content", _in_word(lambda word, _: "another" if word != "another" else "different")),
    # the checksum stays the same
    "letters of a word in another order": ("content", _in_word(lambda word, _: word[1:] + word[0])),
    "two paragraphs change places": ("content", _swapped),
    "a link leads elsewhere": ("content", _one(_LINK, lambda link, _: f"{link[1]}{link[2]}-2{link[3]}")),
    "a paragraph becomes a quotation": ("structure", _one(_PARAGRAPH, _quoted)),
    "a paragraph more": (
        "structure",
        _one(_PARAGRAPH, lambda p, chance: f"{p[0]}<p>News of today, number {chance.randrange(10**6)}.</p>\n"),
    ),
    "a paragraph less": ("structure", _one(_PARAGRAPH, lambda paragraph, _: "", fewest=2)),
}  # fmt: skip


def levels(source: str, *, content: bool = False) -> list[list[object]]:
    """Return the nodes at each depth of the tree, from the left: tags and numbers of children.

    With `content` also their attributes and texts, with normalised white space.

    Paper: Trivedi et al. 2014, section II, Change Detection, 2): level by level, for structural changes; after Yadav et
    al. 2012. The paper leaves open whether text belongs to a level; "structural" suggests not. Both variants are here.
    """
    page = parse_tree(source)
    children = Counter(parent for parent, name in zip(page.parents, page.names, strict=True) if name)
    depths: list[list[object]] = [[*level.texts] if content else [] for level in page.by_level()]
    for node, (name, level) in enumerate(zip(page.names, page.levels, strict=True)):
        if name:
            depths[level - 1].append((name, children[node], *([page.attributes[node]] if content else ())))
    return depths


def as_xml(source: str) -> str:
    """Return the tree of a page as XML, which the paper stores instead of HTML, with normalised white space."""
    page = parse_tree(source)
    texts: dict[int, str] = {}
    children: dict[int, list[int]] = {}
    for node, (name, parent) in enumerate(zip(page.names, page.parents, strict=True)):
        if name:
            children.setdefault(parent, []).append(node)
        else:
            texts[parent] = texts.get(parent, "") + page.texts[node]

    def element(node: int) -> str:
        tag, attributes = page.names[node], page.attributes[node].items()
        opening = tag + "".join(f' {name}="{escape(value)}"' for name, value in attributes)
        inner = escape(" ".join(texts.get(node, "").split()), quote=False)
        inner += "".join(map(element, children.get(node, ())))
        return f"<{opening}>{inner}</{tag}>" if inner else f"<{opening}/>"

    return f"<page>{element(0)}</page>"


# Functions of a page whose values are stored and compared; the first two are the paper's.
DETECTORS: dict[str, Callable[[str], object]] = {
    "checksum": checksum,
    "tree": levels,
    "tree and text": lambda source: levels(source, content=True),
    "digest": lambda source: hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest(),
}
SUMS: dict[str, tuple[Sort, ...]] = {
    "all that a reader sees": ("content", "structure"),
    "false alarms: nothing that a reader sees": ("cosmetic",),
    "false alarms: nothing at all": ("none",),
}
KEPT = (
    "The checksum is the paper's, and so is the tree, of which it compares the structure; tree and text, and the "
    "digest (SHA-256), are there to compare. Share of the changed pages on which each says that something changed."
)


@dataclass
class Detected:
    change: str
    sort: Sort
    pages: int
    by: dict[str, int]

    def share(self, detector: str) -> float:
        return self.by[detector] / self.pages if self.pages else 0.0


def embedded_pages(count: int, random_seed: int) -> list[str]:
    web = Web(7, pages=3000, hosts=40, traps=())
    urls = Random(f"{random_seed} pages").sample(list(web.urls()), count)
    return [web.response(url).body.decode() for url in urls]


def editions(count: int) -> Iterator[tuple[str, str]]:
    """Yield two consecutive versions of embedded pages that change on every fetch."""
    web = Web(7, pages=3000, hosts=40, traps=("changing",))
    for url in web.trap_urls("changing")[:count]:
        yield web.response(url, version=0).body.decode(), web.response(url, version=1).body.decode()


def run_detectors(pages: Sequence[str], pairs: Sequence[tuple[str, str]] = (), random_seed: int = 0) -> list[Detected]:
    def seen(name: str, sort: Sort, pairs: Sequence[tuple[str, str]]) -> Detected:
        by = {detector: sum(keep(old) != keep(new) for old, new in pairs) for detector, keep in DETECTORS.items()}
        return Detected(name, sort, len(pairs), by)

    counts = []
    for name, (sort, make) in CHANGES.items():
        chance = Random(f"{random_seed} {name}")
        versions = [(page, make(page, chance)) for page in pages]
        counts.append(seen(name, sort, [(old, new) for old, new in versions if new is not None]))
    return [*counts, seen("the next edition of a news page", "content", pairs)] if pairs else counts


def detection_rate(seen: Sequence[Detected], detector: str, sorts: Sequence[Sort]) -> float:
    chosen = [each for each in seen if each.sort in sorts]
    return sum(each.by[detector] for each in chosen) / max(1, sum(each.pages for each in chosen))


def table_of(key: str, title: str, seen: Sequence[Detected], note: str) -> ReportTable:
    rows: list[list[Cell]] = [
        [each.change, each.sort, each.pages, *(each.share(name) for name in DETECTORS)] for each in seen if each.pages
    ]
    for sum_of, sorts in SUMS.items():
        pages = sum(each.pages for each in seen if each.sort in sorts)
        rows.append([sum_of, "together", pages, *(detection_rate(seen, name, sorts) for name in DETECTORS)])
    return ReportTable(key, title, ["change", "sort", "pages", *DETECTORS], rows, note=note)


def costs(pages: Sequence[str], xml: Sequence[str]) -> ReportTable:
    def timed(keep: Callable[[str], object], pages: Sequence[str]) -> float:
        began = perf_counter()
        for page in pages:
            keep(page)
        return 1e6 * (perf_counter() - began) / max(1, len(pages))

    rows: list[list[Cell]] = [[name, timed(keep, pages)] for name, keep in DETECTORS.items()]
    rows += [["read the HTML as a tree", timed(parse_tree, pages)], ["read the XML as a tree", timed(fromstring, xml)]]
    note = f"{len(pages)} pages of {sum(map(len, pages)) / max(1, len(pages)) / 1000:.1f} kB on average."
    return ReportTable(
        "personalized-change-costs", "What change detection costs", ["what is done", "microseconds a page"], rows,
        digits=1, note=note, timed=True,
    )  # fmt: skip


SOURCE = "Trivedi et al. 2014"
TREES = f"{SOURCE}, II, Change Detection, 2)"


def missed_changes(seen: Sequence[Detected], detector: str, sorts: Sequence[Sort] = ("content", "structure")) -> str:
    return "; ".join(
        f"{each.change} ({each.share(detector):.1%} seen)"
        for each in seen
        if each.sort in sorts and each.by[detector] < each.pages
    )


@claim_of(f"{SOURCE}, III, Change Detection", "A page whose checksum is the same has not changed.")
def checksum_sees_all(seen: Sequence[Detected]) -> Ruling:
    """Claim: the checksum detects every visible change on every page."""
    unseen = missed_changes(seen, "checksum")
    return decide(
        not unseen, f"Not seen by the checksum: {unseen or 'none of the changes result'}. A digest sees all."
    )  # fmt: skip


@claim_of(f"{SOURCE}, III, Change Detection", "A page whose checksum is another one has changed.")
def no_false_alarm(seen: Sequence[Detected]) -> Ruling:
    """Claim: the checksum of every unchanged page stays the same."""
    idle, cosmetic = detection_rate(seen, "checksum", ("none",)), detection_rate(seen, "checksum", ("cosmetic",))
    return decide(
        idle == 0,
        f"{idle:.0%} of the pages that were the same were taken for changed; of the changes that no reader "
        f"sees (white space, comments, attributes) {cosmetic:.0%} set it off.",
    )


@claim_of(TREES, "Comparing document trees level by level finds structural changes.")
def trees_see_structure(seen: Sequence[Detected]) -> Ruling:
    """Claim: the tree detects every structural change on every page."""
    unseen, blind = missed_changes(seen, "tree", ("structure",)), missed_changes(seen, "tree", ("content",))
    return decide(
        not unseen,
        f"Structural changes that the tree did not see: {unseen or 'none'}. It does not "
        f"look at text: {blind or 'yet it saw all changes of it'}.",
    )


@claim_of(TREES, "Pages stored as trees in XML are clearly smaller than their HTML.")
def xml_is_smaller(html: float, xml: float) -> Ruling:
    """Claim: all pages together are more than a twentieth smaller as XML than as HTML."""
    return decide(
        xml < (1 - NEGLIGIBLE) * html,
        f"XML has {xml / html if html else 1:.1%} of the bytes of the HTML; white space between elements and "
        "comments are what it leaves out.",
    )


ON_CHANGES = (checksum_sees_all, no_false_alarm, trees_see_structure)


def study(index: CorpusIndex, count: int, random_seed: int) -> tuple[list[ReportTable], list[Claim]]:
    """Run all measurements on pages of the embedded web, and the detectors on pages of the corpus, too."""
    pages = embedded_pages(count, random_seed)
    seen = run_detectors(pages, list(editions(count)), random_seed)
    tables = [
        table_of("personalized-changes", "Which changes are seen: pages as the embedded web serves them", seen, KEPT)
    ]
    if index.has_text and not str(index.facts.get("source", "")).startswith("embedded"):
        nodes = Random(f"{random_seed} corpus").sample(range(len(index)), min(count, len(index)))
        own = run_detectors([page_html(index.page(node)) for node in nodes], (), random_seed)
        tables.append(
            table_of(
                "personalized-changes-corpus", "Which changes are seen: pages of the corpus, written as HTML", own,
                f"{KEPT} An index has text and links of its pages, not their layout.",
            )
        )  # fmt: skip
    xml = [as_xml(page) for page in pages]
    smaller = xml_is_smaller(*(sum(len(text.encode()) for text in texts) for texts in (pages, xml)))
    return [*tables, costs(pages, xml)], [*(claim(seen) for claim in ON_CHANGES), smaller]
