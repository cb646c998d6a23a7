"""Change detection: which changes of a page each way of looking sees, what it costs, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter
from xml.etree.ElementTree import fromstring

from lycosa.lab.findings import Cell, Claim, Table, Verdict
from lycosa.lab.index import Index
from lycosa.lab.papers.personalized.changing import CHANGES, Sort, written
from lycosa.lab.papers.personalized.detecting import DETECTORS, as_xml, tree
from lycosa.lab.papers.weighing import NEGLIGIBLE
from lycosa.testing import Web

SOURCE = "Trivedi et al. 2014"
EDITION = "the next edition of a news page"


@dataclass
class Seen:
    """One kind of change: on how many pages it was made, and on how many of them each detector saw it."""

    change: str
    sort: Sort
    pages: int
    by: dict[str, int]

    def share(self, detector: str) -> float:
        """The share of the pages on which it was seen."""
        return self.by[detector] / self.pages if self.pages else 0.0


def embedded_pages(count: int, random_seed: int) -> list[str]:
    """HTML of some pages of the embedded web, as it is served."""
    web = Web(7, pages=3000, hosts=40, traps=())
    urls = Random(f"{random_seed} pages").sample(list(web.urls()), count)
    return [web.response(url).body.decode() for url in urls]


def editions(count: int) -> Iterator[tuple[str, str]]:
    """Pages of the embedded web that are different each time, in two versions that follow each other."""
    web = Web(7, pages=3000, hosts=40, traps=("changing",))
    for url in web.trap_urls("changing")[:count]:
        yield web.response(url, version=0).body.decode(), web.response(url, version=1).body.decode()


def corpus_pages(index: Index, count: int, random_seed: int) -> list[str]:
    """Pages of a corpus with text, written as HTML: their text and links are theirs, their layout is not."""
    nodes = Random(f"{random_seed} corpus").sample(range(len(index)), min(count, len(index)))
    return [written(index.page(node)) for node in nodes]


def detected(pages: Sequence[str], pairs: Sequence[tuple[str, str]] = (), random_seed: int = 0) -> list[Seen]:
    """Make every change on every page, and ask every detector; `pairs` are real versions of pages."""
    found = []
    for change in CHANGES:
        chance = Random(f"{random_seed} {change.name}")
        made = [(page, change.make(page, chance)) for page in pages]
        found.append(_asked(change.name, change.sort, [(old, new) for old, new in made if new is not None]))
    if pairs:
        found.append(_asked(EDITION, "content", pairs))
    return found


def _asked(name: str, sort: Sort, pairs: Sequence[tuple[str, str]]) -> Seen:
    by = {detector: sum(keep(old) != keep(new) for old, new in pairs) for detector, keep in DETECTORS.items()}
    return Seen(name, sort, len(pairs), by)


def rate(found: Sequence[Seen], detector: str, sorts: Sequence[Sort]) -> float:
    """The share of the changes of some sorts that a detector saw; of all changed pages together."""
    chosen = [seen for seen in found if seen.sort in sorts]
    pages = sum(seen.pages for seen in chosen)
    return sum(seen.by[detector] for seen in chosen) / pages if pages else 0.0


def table_of(key: str, title: str, found: Sequence[Seen], note: str) -> Table:
    """What each detector sees, kind by kind, with the sums below."""
    rows: list[list[Cell]] = [
        [seen.change, seen.sort, seen.pages, *(seen.share(name) for name in DETECTORS)] for seen in found if seen.pages
    ]
    for title_of, sorts in (
        ("all that a reader sees", ("content", "structure")),
        ("false alarms: nothing that a reader sees", ("cosmetic",)),
        ("false alarms: nothing at all", ("none",)),
    ):
        pages = sum(seen.pages for seen in found if seen.sort in sorts)
        rows.append([title_of, "together", pages, *(rate(found, name, sorts) for name in DETECTORS)])  # type: ignore[arg-type]
    return Table(key, title, ["change", "sort", "pages", *DETECTORS], rows, note=note)


def costs(pages: Sequence[str]) -> Table:
    """Microseconds that each detector takes for a page."""
    rows: list[list[Cell]] = []
    xml = [as_xml(page) for page in pages]
    ways = [*DETECTORS.items(), ("read the HTML as a tree", tree), ("read the XML as a tree", fromstring)]
    for name, keep in ways:
        began = perf_counter()
        for page in xml if keep is fromstring else pages:
            keep(page)
        rows.append([name, 1e6 * (perf_counter() - began) / max(1, len(pages))])
    note = f"{len(pages)} pages of {sum(map(len, pages)) / max(1, len(pages)) / 1000:.1f} kB on average."
    titles = ["what is done", "microseconds a page"]
    return Table(
        "personalized-change-costs", "What change detection costs", titles, rows, digits=1, note=note, timed=True
    )


def sizes(pages: Sequence[str]) -> tuple[float, float]:
    """Bytes of all pages as HTML and as XML."""
    return sum(len(page.encode()) for page in pages), sum(len(as_xml(page).encode()) for page in pages)


def missed(found: Sequence[Seen], detector: str, sorts: Sequence[Sort] = ("content", "structure")) -> list[str]:
    """The kinds of change that a detector did not see on all pages, with the share that it saw."""
    return [
        f"{seen.change} ({seen.share(detector):.1%} seen)"
        for seen in found
        if seen.sort in sorts and seen.pages and seen.by[detector] < seen.pages
    ]


def claims_of(found: Sequence[Seen], html: float, xml: float) -> list[Claim]:
    """What the paper says of change detection, against what was seen."""
    unseen = missed(found, "checksum")
    idle = rate(found, "checksum", ("none",))
    unseen_structure = missed(found, "tree", ("structure",))
    blind = missed(found, "tree", ("content",))
    return [
        Claim(
            "A page whose checksum is the same has not changed.", f"{SOURCE}, III, Change Detection",
            _if(not unseen),
            "Not seen by the checksum: " + ("; ".join(unseen) or "none of the changes made") + ". A digest sees all.",
        ),
        Claim(
            "A page whose checksum is another one has changed.", f"{SOURCE}, III, Change Detection",
            _if(idle == 0),
            f"{idle:.0%} of the pages that were the same were taken for changed; of the changes that no reader sees "
            f"(white space, comments, attributes) {rate(found, 'checksum', ('cosmetic',)):.0%} set it off.",
        ),
        Claim(
            "Comparing document trees level by level finds structural changes.", f"{SOURCE}, II, Change Detection, 2)",
            _if(not unseen_structure),
            "Structural changes that the tree did not see: " + ("; ".join(unseen_structure) or "none")
            + ". It does not look at text: " + ("; ".join(blind) or "yet it saw all changes of it") + ".",
        ),
        Claim(
            "Pages stored as trees in XML are clearly smaller than their HTML.", f"{SOURCE}, II, Change Detection, 2)",
            _if(xml < (1 - NEGLIGIBLE) * html),
            f"XML has {xml / html if html else 1:.1%} of the bytes of the HTML; white space between elements and "
            "comments are what it leaves out.",
        ),
    ]  # fmt: skip


def _if(true: bool) -> Verdict:
    return "holds" if true else "does not hold"


def study(index: Index, count: int, random_seed: int) -> tuple[list[Table], list[Claim]]:
    """All of it: on pages as the embedded web serves them, and on those of the corpus."""
    pages = embedded_pages(count, random_seed)
    pairs = list(editions(count))
    found = detected(pages, pairs, random_seed)
    kept = (
        "The checksum is the paper's, and so is the tree, of which it compares the structure; tree and text, and the "
        "digest (SHA-256), are there to compare. Share of the changed pages on which each says that something changed."
    )
    tables = [
        table_of("personalized-changes", "Which changes are seen: pages as the embedded web serves them", found, kept)
    ]
    if index.has_text and not str(index.facts.get("source", "")).startswith("embedded"):
        own = corpus_pages(index, count, random_seed)
        tables.append(
            table_of(
                "personalized-changes-corpus",
                "Which changes are seen: pages of the corpus, written as HTML",
                detected(own, (), random_seed),
                f"{kept} An index has text and links of its pages, not their layout.",
            )
        )
    tables.append(costs(pages))
    return tables, claims_of(found, *sizes(pages))
