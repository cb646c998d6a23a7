"""The thesis's evaluator, on crawls, indexes and WARC files, with similarities worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.errors import DamagedError, InputError
from lycosa.core.options import Options
from lycosa.core.types import Links, Page, Seed, Terms, Visit
from lycosa.lab.evaluator import Evaluation, evaluate, nearest, nearest_in
from lycosa.lab.index import Index
from lycosa.lab.indexing import Recorded, write_index
from lycosa.store.directory import Directory
from lycosa.store.log import NAME, SqliteLog
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary

TEXTS = {
    "http://a.test/1": "coral reef coral lagoon",
    "http://a.test/2": "coral reef",
    "http://a.test/3": "engine diesel piston",
    "http://a.test/4": "reef reef reef engine",
}
"""Four pages; no word of theirs is a stop word, and none loses an ending."""

BACKGROUND = Background(1000, {"coral": 100, "reef": 100, "lagoon": 100, "engin": 100, "diesel": 100, "piston": 100})
"""Statistics that know all words equally well, so that what is left are the counts."""


def write(path: Path, texts: dict[str, str]) -> Path:
    """A crawl's directory with these pages in its log, and a failure and a probe among them."""
    Directory.create(path, Options.from_mapping({"topic": "coral", "seeds": ["http://a.test/1"]}, "test")).close()
    opened = Directory.open(path)
    log, words = opened.log(), Vocabulary()
    log.append(Seed("http://a.test/1"))
    probe = words.read(Page("ok", marked="parrotfish"))  # no page, but it is the first to use a word
    log.append(Visit("http://a.test/probe", "probe", "ok", 0, terms=probe.terms))
    log.append(Visit("http://a.test/gone", "page", "gone", 1, status=404))
    for number, (url, text) in enumerate(texts.items(), 2):
        log.append(Visit(url, "page", "ok", number, status=200, terms=words.read(Page("ok", marked=text)).terms))
    log.close()
    opened.close()
    return path


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of the four pages."""
    return write(tmp_path_factory.mktemp("evaluated") / "crawl", TEXTS)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two relevant pages: one HTML, one text."""
    place = tmp_path_factory.mktemp("relevant") / "good"
    (place / "deeper").mkdir(parents=True)
    (place / "one.html").write_text("<html><body><p>coral reef lagoon</p></body></html>")
    (place / "deeper" / "two.txt").write_text("engine")
    (place / "picture.png").write_bytes(b"\x89PNG")
    (place / "empty.txt").write_text("the of and")
    return place


BY_HAND = [
    (2 * 1 + 1 * 1 + 1 * 1) / math.sqrt(6 * 3),  # coral 2, reef 1, lagoon 1 against 1, 1, 1
    (1 + 1) / math.sqrt(2 * 3),  # coral, reef against coral, reef, lagoon
    1 / math.sqrt(3),  # engine of three words, against engine alone
    3 / math.sqrt(10 * 3),  # reef 3, engine 1: 3 / sqrt(30) with the first, 1 / sqrt(10) with the second
]
"""The largest cosine of each page: all words are equally rare."""


@pytest.mark.paper("batsakis-harvest-ratio")
def test_the_maximum_of_the_cosines_counts(crawled: Path, good: Path) -> None:
    """Each page is as similar as to the relevant page it resembles most; above .75 it is relevant."""
    done = evaluate(crawled, good, background=BACKGROUND)
    assert BY_HAND == pytest.approx(done.similarities.tolist(), abs=1e-6)
    assert list(TEXTS) == done.pages
    assert 2 == done.relevant
    [(pages, found, share, average)] = done.rows()
    assert (4, 2, 0.5) == (pages, found, share)  # .94 and .82 are above, .58 and .55 are not
    assert sum(BY_HAND) / 4 == pytest.approx(average)
    assert {"neither HTML nor text": 1, "relevant pages without text": 1} == done.account.left_out


@pytest.mark.paper("batsakis-threshold")
def test_the_threshold_has_to_be_exceeded(crawled: Path, tmp_path: Path) -> None:
    """A page that is itself among the relevant ones has similarity 1, and is above any threshold that is allowed."""
    named = tmp_path / "good.txt"
    named.write_text("http://a.test/2\n")
    done = evaluate(crawled, named, threshold=0.999, background=BACKGROUND)
    assert 1.0 == done.similarities[1]
    assert 1 == done.rows()[-1][1]
    for wrong in (1.0, -0.1, math.nan):
        with pytest.raises(InputError, match="the threshold is"):
            evaluate(crawled, named, threshold=wrong)


def test_rare_words_weigh_more(crawled: Path, good: Path) -> None:
    """By statistics in which a lagoon is rare, page 1 (which has one) is more similar than page 2."""
    words = dict(BACKGROUND.frequency) | {"lagoon": 1}
    done = evaluate(crawled, good, background=Background(1000, words))
    rare, common = math.log(1000), math.log(10)
    one = (2 * common**2 + common**2 + rare**2) / math.sqrt((5 * common**2 + rare**2) * (2 * common**2 + rare**2))
    assert one == pytest.approx(done.similarities[0], abs=1e-6)
    assert done.similarities[1] == pytest.approx(2 * common / math.sqrt(2 * (2 * common**2 + rare**2)), abs=1e-6)


# -- where pages come from ---------------------------------------------------------------------------------------


def test_an_index_says_the_same(tmp_path: Path, crawled: Path, good: Path) -> None:
    """A crawl and an index of its pages have the same pages in the same order."""
    pages = (Recorded(url, Page("ok", marked=text, links=Links())) for url, text in TEXTS.items())
    write_index(pages, tmp_path / "pages.index", source="test")
    from_log = evaluate(crawled, good, background=BACKGROUND)
    told = evaluate(tmp_path / "pages.index", good, background=BACKGROUND)
    assert (from_log.pages, from_log.similarities.tolist()) == (told.pages, told.similarities.tolist())


def test_all_pages_of_an_index_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For simulated crawls: what every page resembles of some pages given by their numbers."""
    pages = (Recorded(url, Page("ok", marked=text, links=Links())) for url, text in TEXTS.items())
    index = write_index(pages, tmp_path / "pages.index", source="test")
    monkeypatch.setattr(Background, "load", lambda: BACKGROUND)
    told = nearest_in(index, [1, 2])
    assert [3 / math.sqrt(6 * 2), 1.0, 1.0, 3 / math.sqrt(10 * 2)] == pytest.approx(told.tolist(), abs=1e-6)
    with pytest.raises(InputError, match="without texts"):
        nearest_in(Index.of({"a": ["b"]}), [0])


def test_addresses_are_looked_up_in_the_crawl(crawled: Path, tmp_path: Path) -> None:
    """One relevant page was crawled, the other is counted; both are told."""
    named = tmp_path / "good.txt"
    named.write_text("http://A.test/2#top\nhttp://b.test/\n")
    done = evaluate(crawled, named, background=BACKGROUND)
    assert (1, {"relevant pages that were not crawled": 1}) == (done.relevant, done.account.left_out)
    assert done.account.notes[-1].startswith("1 relevant pages are of the crawl itself")


def test_a_table_of_addresses(crawled: Path, tmp_path: Path) -> None:
    """The first column counts, each address once; titles and other lines are counted."""
    table = tmp_path / "labels.tsv"
    table.write_text("url\tclass\nhttp://a.test/1\tSea\nhttp://A.test/1#top\tReefs\nnothing\tSea\n")
    done = evaluate(crawled, table, background=BACKGROUND)
    assert (1, 1.0) == (done.relevant, done.similarities[0])
    assert {"lines that begin with no address": 2} == done.account.left_out


# -- what goes wrong ---------------------------------------------------------------------------------------------


def test_a_crawl_without_pages(tmp_path: Path, good: Path) -> None:
    """A crawl that got nothing yet, a place that is not there: told, with what to do."""
    with pytest.raises(InputError, match="has no pages to evaluate"):
        evaluate(write(tmp_path / "none", {}), good)
    with pytest.raises(InputError, match="nowhere is not an index"):
        evaluate(tmp_path / "nowhere", good)
    Directory.create(tmp_path / "new", Options.from_mapping({"topic": "x", "seeds": ["http://a.test/"]}, "t")).close()
    (tmp_path / "new" / NAME).unlink(missing_ok=True)
    with pytest.raises(InputError, match="nothing has been crawled"):
        evaluate(tmp_path / "new", good)


def test_no_relevant_page_that_can_be_read(crawled: Path, tmp_path: Path) -> None:
    """None of them has words, or is anywhere: an error that says why and what to do."""
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.txt").write_text("")
    with pytest.raises(InputError, match=r"none of the relevant pages .* \(1 relevant pages without text\)"):
        evaluate(crawled, tmp_path / "bad")
    named = tmp_path / "good.txt"
    named.write_text("http://nowhere.test/\n")
    with pytest.raises(InputError, match="1 relevant pages that were not crawled"):
        evaluate(crawled, named)
    named.write_text("coral reefs\n")
    with pytest.raises(InputError, match="names no address"):
        evaluate(crawled, named)
    with pytest.raises(InputError, match=r"there is no .*missing"):
        evaluate(crawled, tmp_path / "missing")


def test_a_log_with_words_that_have_no_name(tmp_path: Path, good: Path) -> None:
    """A damaged log is told of, and not read as other words."""
    path = write(tmp_path / "crawl", TEXTS)
    log = SqliteLog(path / NAME)
    log.append(
        Visit("http://a.test/5", "page", "ok", 9, terms=Terms(np.array([99], np.uint32), np.array([1], np.uint16)))
    )
    log.close()
    with pytest.raises(DamagedError, match="words without a name"):
        evaluate(path, good)


def test_a_page_without_words_has_similarity_0(tmp_path: Path, good: Path) -> None:
    """It is a page that was fetched, and counts as one."""
    done = evaluate(write(tmp_path / "crawl", {"http://a.test/": "", **TEXTS}), good, background=BACKGROUND)
    assert (5, 0.0) == (len(done.similarities), done.similarities[0])


# -- arithmetic --------------------------------------------------------------------------------------------------

PAGES = st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 9), max_size=6), min_size=1, max_size=6)


@settings(max_examples=25)
@given(PAGES, PAGES)
def test_the_nearest_is_that_of_all_pairs(pages: list[dict[int, int]], relevant: list[dict[int, int]]) -> None:
    """The same as comparing each page with each relevant one, by the formula."""

    def cosine(a: dict[int, int], b: dict[int, int]) -> float:
        length = math.hypot(*a.values()) * math.hypot(*b.values())
        return sum(a[word] * b.get(word, 0) for word in a) / length if length else 0.0

    own, wanted = (
        Bags.of([(sorted(one), [one[word] for word in sorted(one)]) for one in some]) for some in (pages, relevant)
    )
    told = nearest(own, wanted, np.ones(10))
    assert [max(cosine(one, other) for other in relevant) for one in pages] == pytest.approx(told.tolist(), abs=1e-6)


def test_checkpoints() -> None:
    """Every hundred pages and the last; farther apart for long crawls."""
    expected = {0: ([], 0), 7: ([7], 1), 100: ([100], 1), 2000: ([100, 200], 20), 2001: ([200, 400], 11)}
    points = {pages: Evaluation("x", [], np.zeros(pages), 1).checkpoints() for pages in expected}
    assert expected == {pages: (places[:2], len(places)) for pages, places in points.items()}
    assert all(not places or pages == places[-1] for pages, places in points.items())


@pytest.mark.paper("batsakis-evaluator")
def test_findings_have_a_table_and_two_curves(crawled: Path, good: Path) -> None:
    """What a report draws: number of relevant pages as in figure 12, average similarity as in figure 13."""
    findings = evaluate(crawled, good, background=BACKGROUND).findings()
    table, harvest, similarity = findings.parts
    assert ("evaluation-table", 1) == (table.key, len(table.rows))  # type: ignore[union-attr]
    assert [2.0] == harvest.curves[0].y  # type: ignore[union-attr]
    assert sum(BY_HAND) / 4 == pytest.approx(similarity.curves[0].y[-1])  # type: ignore[union-attr]
    assert any("without text" in remark for remark in findings.remarks)
    assert any("left out: 1 neither HTML nor text" in remark for remark in findings.remarks)
    assert "Of 4 pages 2 (50.0%) are more similar than 0.75 to one of 2 relevant pages" in findings.summary
    json.dumps(findings.as_dict())
