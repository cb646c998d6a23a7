from __future__ import annotations

from pathlib import Path

import pytest

from lycosa.training.sources import page_of
from lycosa.web.html import extract
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.corpus_statistics import corpus_statistics, statistics_lines
from lycosa_lab.index_writer import RecordedPage, write_index
from places import CORPORA


def test_corpus_statistics_of_two_cycles_by_hand() -> None:
    links = {"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["e", "lone"], "e": ["c"]}
    found = corpus_statistics(CorpusIndex.of(links, score={"c": 1.0}))
    assert (6, 7, 1) == tuple(found[key] for key in ("pages", "children", "scored"))
    # Out-degrees 1 2 1 2 1 0; in-degrees a 1, b 1, c 2, d 1, e 1, lone 1.
    assert (7 / 6, 1.0, 2) == tuple(found["out"].values())
    assert (7 / 6, 1.0, 2) == tuple(found["into"].values())


def page(url: str, *links: str) -> RecordedPage:
    return RecordedPage(url, page_of(extract("".join(f"<a href={link}>x</a>" for link in links).encode(), url)))


@pytest.mark.paper("rules-radius-1")
def test_corpus_statistics_compare_topic_links_with_base_rate(tmp_path: Path) -> None:
    labels = {"http://a.test/1": ["p/q"], "http://a.test/2": ["p", "r"]}
    pages = [page("http://a.test/1", "2", "3", "lost"), page("http://a.test/2", "1", "3", "4"), page("http://a.test/3"),
             page("http://a.test/4", "1")]  # fmt: skip
    found = corpus_statistics(write_index(pages, tmp_path / "x", source="s", labels=labels))
    topics = {topic["name"]: (topic["pages"], topic["share"], topic["base"]) for topic in found["topics"]}
    # p: pages 1 and 2 of 4 have five live links, of which 1 -> 2, 2 -> 1 stay in p; p/q and r: page 1 links to 2 and 3.
    assert {"p": (2, 2 / 5, 2 / 4), "p/q": (1, 0.0, 1 / 4), "r": (1, 0.0, 1 / 4)} == topics
    assert 2 == found["labelled"]
    text = "\n".join(statistics_lines(found))
    assert "  p: 2 pages, 0.400 (0.500)\n  r: 1 pages" in text
    assert "1 lead out of the corpus" in text


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the real corpora are not here")
def test_corpus_statistics_match_wikispeedia(tmp_path: Path) -> None:
    warc = tmp_path / "wikispeedia.warc.gz"
    warc.symlink_to(CORPORA / warc.name)  # files written next to the archive go to tmp_path
    others = ["/wp/index/", *(f"/wp/{letter}/" for letter in "bcdefghijklmnopqrstuvwxyz")]
    index = make_index([str(warc)], tmp_path / "x", labels=CORPORA / "wikispeedia.labels.tsv", exclude=others)
    found = corpus_statistics(index)
    assert (508, 230, 333) == (
        found["pages"],
        *(found["left_out"][f"excluded by {part!r}"] for part in ("/wp/index/", "/wp/b/")),
    )
    topics = {topic["name"]: topic for topic in found["topics"]}
    # (share, base rate). For all pages the shares are .56, .32, .12 and .18.
    known = {"Science": (0.530, 0.219), "Mathematics": (0.545, 0.010), "Art": (0.125, 0.006), "People": (0.134, 0.134)}
    for name, numbers in known.items():
        assert numbers == pytest.approx((topics[name]["share"], topics[name]["base"]), abs=0.001), name
