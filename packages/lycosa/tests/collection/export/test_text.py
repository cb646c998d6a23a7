"""Tests of the plain text export."""

from __future__ import annotations

from pathlib import Path
from random import Random

from lycosa.collection.export import export
from lycosa.collection.export.text import NearDuplicates
from synthetic_crawl import crawled, html, prose

MENU = '<ul><li><a href="/">Home</a><li><a href="/reefs">Coral reefs</a> | <a href="/fish">Fish</a></ul>'


def texts(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n\n")


def test_text_drops_menus_and_keeps_links_in_sentences(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        body = html(
            "Reefs", f'{prose(2, 40)} and   corals\n bleach, see <a href="/why">why</a>.</p><p>{prose(1, 80)}', MENU
        )
        crawl.page("http://a.test/", body)
        crawl.page("http://b.test/", "one\r\n\r\n\r\ntwo\x00three\n", headers=[(b"Content-Type", b"text/plain")])
    export(tmp_path / "crawl", tmp_path / "t.txt")
    assert [f"Reefs\n{prose(2, 40)} and corals bleach, see why.\n{prose(1, 80)}", "one\ntwo three"] == texts(
        tmp_path / "t.txt"
    )


def test_text_drops_near_duplicates(tmp_path: Path) -> None:
    words = prose(1, 400).split()
    edited = [*words[:200], "changed", *words[201:]]
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", html("Reefs", " ".join(words)))
        crawl.page("http://b.test/", html("Reefs", " ".join(words), MENU))
        crawl.page("http://c.test/", html("Reefs", " ".join(edited)))
        crawl.page("http://d.test/", html("Others", prose(2, 400)))
    done = export(tmp_path / "crawl", tmp_path / "t.txt")
    assert (2, ["left out: 2 near-duplicates"]) == (done.pages, done.remarks)
    assert ["Reefs\n" + " ".join(words), "Others\n" + prose(2, 400)] == texts(tmp_path / "t.txt")


def test_text_keeps_pages_with_same_fingerprint(tmp_path: Path) -> None:
    words = prose(1, 400).split()
    shuffled = Random(1).sample(words, len(words))
    with crawled(tmp_path / "crawl") as crawl:
        one = crawl.page("http://a.test/", html("Reefs", " ".join(words)))
        other = crawl.page("http://b.test/", html("Reefs", " ".join(shuffled)))
    assert one.simhash == other.simhash
    assert 2 == export(tmp_path / "crawl", tmp_path / "t.txt").pages


def test_text_drops_short_duplicates_only_if_identical(tmp_path: Path) -> None:
    words = prose(1, 40)
    with crawled(tmp_path / "crawl") as crawl:
        for i, body in enumerate([words, words, words + " more", "two words", "two words", "words two"]):
            crawl.page(f"http://a.test/{i}", f"<p>{body}")
    done = export(tmp_path / "crawl", tmp_path / "t.txt")
    assert [words, words + " more", "two words", "words two"] == texts(tmp_path / "t.txt")
    assert ["left out: 2 near-duplicates"] == done.remarks


def test_text_counts_pages_without_text(tmp_path: Path) -> None:
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", MENU)
        crawl.page("http://b.test/", b"\x89PNG", headers=[(b"Content-Type", b"image/png")])
        crawl.page("http://c.test/", html("C", prose(1)))
        crawl.page("http://d.test/", html("C", prose(1)), same_as="http://c.test/")
    done = export(tmp_path / "crawl", tmp_path / "t.txt", copies=True)
    assert 1 == done.pages
    assert ["left out: 1 near-duplicate", "left out: 2 pages without text"] == done.remarks


def test_near_sorts_by_distance() -> None:
    repeats = NearDuplicates(lambda key: "")
    for key, bits in enumerate((0b11111, 0b1111, 0b1, 2**63), 1):
        repeats.is_new(key, bits, f"text {key}")
    assert [3, 4, 2] == repeats.similar(0)


def test_is_new_is_true_without_fingerprint() -> None:
    repeats = NearDuplicates(lambda key: "")
    assert [True, True] == [repeats.is_new(key, 0, "the same") for key in (1, 2)]
