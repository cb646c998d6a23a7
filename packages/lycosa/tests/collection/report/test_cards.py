"""Tests of page cards and their paths."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import select_pages
from lycosa.collection.report.cards import PAGES_AT_ENDS, Cards, pattern_highlights, topic_highlights
from lycosa.collection.report.figures import Card, PathBranch
from lycosa.core.options import Options
from lycosa.core.types import Event, Links, Seed, Visit
from synthetic_report import page, redirect, write


@contextmanager
def cards_of(path: Path, *events: Event) -> Iterator[tuple[Cards, dict[str, Card]]]:
    """Return the builder of a log's cards, and the cards of its pages by name."""
    with CrawlDirectory(write(path / "crawl", events)) as collection:
        cards = Cards(collection)
        yield cards, {page.url: cards.card(page) for page in select_pages(collection.log)}


def why(card: Card) -> tuple[object, ...]:
    return card.origin, card.parent, card.anchor


def test_card_shows_origin(tmp_path: Path) -> None:
    sitemap = Visit("map", "sitemap", "ok", 0, links=Links.to("m"))
    with cards_of(
        tmp_path,
        Seed("a"),
        Seed("s"),
        page("a", to=["b", "r"]),
        redirect("s", "t"),
        page("t"),
        page("b", to=["r"]),
        redirect("r", "c"),
        page("c"),
        sitemap,
        page("m"),
        page("x"),
    ) as (cards, card):
        assert ("seed", "", "") == why(card["a"])
        assert ("seed", "", "") == why(card["t"])
        assert ("link", "a", "to b") == why(card["b"])
        assert ("link", "a", "to r") == why(card["c"])
        assert ("sitemap", "map", "") == why(card["m"])
        assert ("unknown", "", "") == why(card["x"])
        assert "start" == cards.tree(["m"])[0].steps[0].card.origin
        assert (1, 2, 3, 4) == tuple(card[name].number for name in ("a", "t", "b", "c"))
        assert 1 == card["b"].parent_number


def test_card_shows_first_link_with_text(tmp_path: Path) -> None:
    links = Links.to("b", "b", "b", anchors=["", "coral", "here"])
    with cards_of(tmp_path, Seed("a"), page("a", links=links), page("b")) as (_, card):
        assert "coral" == card["b"].anchor


def test_card_clips_titles_and_anchors(tmp_path: Path) -> None:
    links = Links.to("b", anchors=["y" * 10_000])
    with cards_of(tmp_path, Seed("a"), page("a", links=links, title="x" * 10_000), page("b")) as (_, card):
        assert (500, 500) == (len(card["b"].parent_title), len(card["b"].anchor))


def names(branch: PathBranch) -> list[object]:
    return [
        *(step.card.node for step in branch.steps),
        *([[names(fork) for fork in branch.branches]] * bool(branch.branches)),
    ]


def test_tree_merges_paths(tmp_path: Path) -> None:
    with cards_of(
        tmp_path,
        Seed("a"),
        page("a", to=["b"]),
        page("b", to=["c", "r"]),
        page("c", 0.9, to=["f"]),
        redirect("r", "d"),
        page("d", to=["e"]),
        page("e", 0.9),
        page("f", 0.9),
        page("z", 0.9),
    ) as (cards, _):
        tree = cards.tree(["e", "c", "f", "z"])
        assert [["a", "b", [["d", "e"], ["c", "f"]]], ["z"]] == [names(branch) for branch in tree]
        assert [1, 2, 3] == [step.rank for fork in tree[0].branches for step in fork.steps if step.rank]
        assert [3, 1] == [branch.relevant for branch in tree]


def test_tree_shortens_long_paths(tmp_path: Path) -> None:
    chain = [page(f"n{i}", to=[f"n{i + 1}"]) for i in range(100)]
    with cards_of(tmp_path, Seed("n0"), *chain, page("n100", 0.9)) as (cards, _):
        (branch,) = cards.tree(["n100"])
        assert 2 * PAGES_AT_ENDS + 1 == len(branch.steps)
        assert 100 - 2 * PAGES_AT_ENDS == sum(step.left_out for step in branch.steps)
        stretches = [[step.card.node for step in stretch] for stretch in branch.stretches]
        assert [["n0"], ["n99"], ["n100"]] == [stretches[0], *stretches[2:]]
        assert 2 * PAGES_AT_ENDS - 2 == len(stretches[1])


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (Options(topic="coral reef bleaching"), ["coral", "reef", "bleaching"]),
        (Options(topic="Corals of the Sea"), ["coral", "the", "sea"]),
        (Options(examples=["x.html"]), ["kelp"]),
        (Options(judge="my:Judge", topic="a b"), []),
    ],
)
def test_topic_words_are_highlighted(options: Options, found: list[str]) -> None:
    assert found == [word for mark in topic_highlights(options, ["kelp", ""]) for word in mark.words]


def test_pattern_matches_are_highlighted() -> None:
    assert [("bleached", "coral")] == [
        mark.words for mark in pattern_highlights("bleach(ed)? coral", "Bleached coral here")
    ]
    assert [] == pattern_highlights("kelp", "coral")
    assert [] == pattern_highlights("(", "coral")
    assert [] == pattern_highlights("", "coral")
