"""Cost per page of the judges that use word meaning, compared with `vector` and with an implementation without caches.

    python benchmarks/meaning.py PAGES.warc.gz [--pages 600] [--words 3500] [--links 40] [--ontology DIR]

The pages come from a WARC file, in order, and are made equally long: texts are joined up to the number of words and
cut, and the first links are kept. CPU time of `judge` alone: pages are already parsed and their words numbered, which
`vector` needs as well. *First 50* is the beginning of a crawl, when every word is new; *after* are all other pages.
*Naive* looks every word up again with `word_similarity`, without caches or arrays, and is timed on a few pages only.
Each judge runs in a process of its own, with garbage collection as in a crawl.
"""

from __future__ import annotations

import argparse
import gc
import time
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from lycosa.core.types import Links, Page, Visit
from lycosa.judges import JUDGES
from lycosa.replay.captures import RESPONSE
from lycosa.replay.records import ArchiveIterator
from lycosa.text.meanings import load_ontology
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure, word_similarity
from lycosa.text.tokens import fold, stem_all
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import read_body

TOPIC = "astronomy star galaxy telescope planet solar system orbit universe"
COMPARED = ("vector", "ehrig", "ssrm", "corley-mihalcea", "synset-expansion")
NAIVE: dict[str, Measure] = {"ehrig": "ehrig", "ssrm": "li"}
FIRST, FEW = 50, 3
MOST = 5.0
"""Maximum milliseconds per page."""


def pages(path: Path, most: int, words: int, links: int) -> list[Page]:
    """Return pages with this number of words and links."""
    found: list[Page] = []
    text, anchors = "", []
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, parse_http=True):
            if int(record.record_type) != RESPONSE:
                continue
            kind = record.http_headers.get("content-type") or ""
            document = read_body(record.reader.read(), record.headers.get("WARC-Target-URI") or "", kind)
            text += " " + document.marked.replace("\x01", "").replace("\x02", "")
            anchors += document.links.anchors
            if text.count(" ") >= words and len(anchors) >= links:
                cut = Links.to(*(f"http://h.test/{n}" for n in range(links)), anchors=anchors[:links])
                marked = " ".join(text.split()[:words])
                found.append(Page("ok", title=document.title, marked=marked, links=cut))
                text, anchors = "", []
            if len(found) == most:
                break
    return found


def cost(name: str, place: str, given: list[Page]) -> list[float]:
    """Return the milliseconds for each page."""
    known = load_ontology(place)
    topic = JUDGES.maker(name)(TOPIC) if name == "vector" else JUDGES.maker(name)(TOPIC, ontology=known)
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    vocabulary, spent = Vocabulary(), []
    for page in given:
        reading = vocabulary.read(page)
        begun = time.process_time()
        topic.judge(page, reading)
        spent.append(1000 * (time.process_time() - begun))
        vocabulary.learn(Visit("n", "page", "ok", 1, terms=reading.terms))
    return spent


def naive(measure: Measure, known: Ontology, given: list[Page]) -> float:
    """Return milliseconds per page without caches: each word of page and anchors against each of the topic."""
    begun = time.process_time()
    for page in given:
        tokens = fold(" ".join([page.text, *page.links.anchors])).split()
        counts: dict[str, int] = {}
        for token, stem in zip(tokens, stem_all(tokens), strict=True):
            if stem:
                word = token.decode("utf-8", "ignore")
                counts[word] = counts.get(word, 0) + 1
        known._known.clear()
        sum(
            count * word_similarity(known, word, other, measure)
            for word, count in counts.items()
            for other in TOPIC.split()
        )
    return 1000 * (time.process_time() - begun) / len(given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--words", type=int, default=3500)
    parser.add_argument("--links", type=int, default=40)
    parser.add_argument("--ontology", default="", help="WordNet's directory, or an ontology")
    options = parser.parse_args()
    given = pages(options.file, options.pages, options.words, options.links)
    begun = time.process_time()
    known = load_ontology(options.ontology)
    print(f"{len(given)} pages, {known.source}, read in {time.process_time() - begun:.2f} s of CPU")
    begun = time.process_time()
    JUDGES.maker("ssrm")(TOPIC, ontology=known)
    print(f"the first judge is created in {time.process_time() - begun:.2f} s\n")
    print(f"| judge | first {FIRST} pages, ms each | after | slowest after | above {MOST:g} ms, both | naive |")
    print("|---|---|---|---|---|---|")
    for name in COMPARED:
        with get_context("spawn").Pool(1) as process:  # a fresh memory layout, as in a crawl
            spent = process.apply(cost, (name, options.ontology, given))
        first, rest = spent[:FIRST], spent[FIRST:] or [0.0]
        slow_ones = f"{sum(some > MOST for some in first)}, {sum(some > MOST for some in rest)}"
        slow = naive(NAIVE[name], known, list(islice(given, FEW))) if name in NAIVE else 0.0
        means = f"{sum(first) / len(first):.2f} | {sum(rest) / len(rest):.2f}"
        row = f"| `{name}` | {means} | {max(rest):.1f} | {slow_ones} |"
        print(f"{row} {f'{slow:,.0f}' if slow else ''} |", flush=True)


if __name__ == "__main__":
    main()
