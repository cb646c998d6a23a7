"""A corpus of plain text: prose without menus, and each text once."""

from __future__ import annotations

from pathlib import Path
from random import Random

from lycosa.collection.export import export
from lycosa.collection.export.text import NearDuplicates
from synthetic_crawl import crawled, html, prose

MENU = '<ul><li><a href="/">Home</a><li><a href="/reefs">Coral reefs</a> | <a href="/fish">Fish</a></ul>'


def texts(path: Path) -> list[str]:
    """The texts of a corpus file."""
    return path.read_text("utf-8").removesuffix("\n").split("\n\n")


def test_menus_are_left_out_and_links_in_sentences_stay(tmp_path: Path) -> None:
    """Lines without a word outside of links are dropped; each other block is one line."""
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


def test_near_duplicates_are_left_out(tmp_path: Path) -> None:
    """Of copies with another menu, another title or a few words changed the first is kept, and the rest is counted."""
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


def test_pages_that_share_their_frequent_words_are_kept(tmp_path: Path) -> None:
    """The same words in another order have the same fingerprint, but they are another text."""
    words = prose(1, 400).split()
    shuffled = Random(1).sample(words, len(words))
    with crawled(tmp_path / "crawl") as crawl:
        one = crawl.page("http://a.test/", html("Reefs", " ".join(words)))
        other = crawl.page("http://b.test/", html("Reefs", " ".join(shuffled)))
    assert one.simhash == other.simhash
    assert 2 == export(tmp_path / "crawl", tmp_path / "t.txt").pages


def test_short_texts_are_copies_only_word_for_word(tmp_path: Path) -> None:
    """Of short texts only those are dropped that are the same."""
    words = prose(1, 40)
    with crawled(tmp_path / "crawl") as crawl:
        for i, body in enumerate([words, words, words + " more", "two words", "two words", "words two"]):
            crawl.page(f"http://a.test/{i}", f"<p>{body}")
    done = export(tmp_path / "crawl", tmp_path / "t.txt")
    assert [words, words + " more", "two words", "words two"] == texts(tmp_path / "t.txt")
    assert ["left out: 2 near-duplicates"] == done.remarks


def test_pages_without_text_are_counted(tmp_path: Path) -> None:
    """A page of links only, and one that can't be read, are left out; copies that are asked for are no new text."""
    with crawled(tmp_path / "crawl") as crawl:
        crawl.page("http://a.test/", MENU)
        crawl.page("http://b.test/", b"\x89PNG", headers=[(b"Content-Type", b"image/png")])
        crawl.page("http://c.test/", html("C", prose(1)))
        crawl.page("http://d.test/", html("C", prose(1)), same_as="http://c.test/")
    done = export(tmp_path / "crawl", tmp_path / "t.txt", copies=True)
    assert 1 == done.pages
    assert ["left out: 1 near-duplicate", "left out: 2 pages without text"] == done.remarks


def test_nearest_fingerprints_come_first() -> None:
    """Those at a distance of 4 bits or less, by distance, whatever else is known."""
    repeats = NearDuplicates(lambda key: "")
    for key, bits in enumerate((0b11111, 0b1111, 0b1, 2**63), 1):
        repeats.is_new(key, bits, f"text {key}")
    assert [3, 4, 2] == repeats.near(0)


def test_a_text_without_fingerprint_is_kept() -> None:
    """Where the crawl took no fingerprints, nothing can be compared, and nothing is lost."""
    repeats = NearDuplicates(lambda key: "")
    assert [True, True] == [repeats.is_new(key, 0, "the same") for key in (1, 2)]
