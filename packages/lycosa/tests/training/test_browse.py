"""train_browse: paths, states, labels and clusters of browsing records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.errors import DamagedError, InputError
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Label, Links, Page, Setting, Terms, Visit
from lycosa.store.directory import Directory
from lycosa.text.browsing import Browsing
from lycosa.training.browse import BrowsingResult, trail_of, train_browse
from lycosa.training.corpus import Account
from lycosa.training.record import BrowsingRecord, BrowsingVisit

REEF, RAIL, OWL = "coral reef lagoon polyp", "rail station signal timetable", "owl feather nest hoot"


class Pages:
    """Page loader with pages in memory, which records the requested URLs."""

    def __init__(self, **pages: str) -> None:
        self.pages, self.requested = pages, list[str]()

    def __call__(self, urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        self.requested += urls
        for url in urls:
            name = url.removeprefix("http://").removesuffix(".test/")
            if name in self.pages:
                yield url, Page("ok", marked=self.pages[name], language="en")
            else:
                account.left_out["nowhere"] += 1


def url(name: str) -> str:
    return f"http://{name}.test/"


def entry(name: str, relevant: bool | None = None, referrer: str = "", text: str = "", **more: Any) -> dict[str, Any]:
    return {
        "url": url(name),
        "relevant": relevant,
        "referrer": url(referrer) if referrer else None,
        "text": text,
    } | more


def trained(place: Path, *entries: dict[str, Any], load_pages: Pages | None = None, **options: Any) -> BrowsingResult:
    """Train on a browsing record with these lines."""
    (place / "record.jsonl").write_text("".join(json.dumps(each) + "\n" for each in entries))
    return train_browse(place / "record.jsonl", place / "out.browsing", load_pages or Pages(), **options)


def states(done: BrowsingResult) -> dict[str, int]:
    names = [url.removeprefix("http://").removesuffix(".test/") for url in done.browsing.urls]
    return dict(zip(names, done.browsing.state.tolist(), strict=True))


def steps(done: BrowsingResult) -> list[str]:
    names = list(states(done))
    return [f"{names[a]}{names[b]}" for a, b in done.browsing.steps.tolist()]


PATH = [
    entry("a", False, "", RAIL),
    entry("b", False, "a", RAIL + " bridge"),
    entry("c", False, "b", OWL),
    entry("d", True, "c", REEF),
    entry("x", False, "a", OWL + " lost"),
    entry("e", True, "d", REEF + " atoll"),
]
"""a -> b -> c -> d -> e, of which d and e are relevant, and a -> x, a dead end."""


@pytest.mark.paper("batsakis-training")
def test_train_browse_states_are_distances(tmp_path: Path) -> None:
    done = trained(tmp_path, *PATH)
    assert {"a": 3, "b": 2, "c": 1, "d": 0, "x": 3, "e": 0} == states(done)
    assert ["ab", "bc", "cd", "ax", "de"] == steps(done)
    assert [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]] == done.transitions.tolist()
    assert "1 pages lead to no relevant page and get the last state" in done.notes


@pytest.mark.parametrize(
    ("count", "expected"), [(2, [1, 1, 1, 0, 1, 0]), (3, [2, 2, 1, 0, 2, 0]), (9, [3, 2, 1, 0, 8, 0])]
)
def test_train_browse_limits_number_of_states(tmp_path: Path, count: int, expected: list[int]) -> None:
    assert expected == list(states(trained(tmp_path, *PATH, states=count)).values())


def test_train_browse_keeps_distant_pages(tmp_path: Path) -> None:
    path = [dict(each) for each in PATH]
    path[0]["relevant"] = None  # a, three steps away
    done = trained(tmp_path, *path, states=2)
    assert {"a": 1, "b": 1, "c": 1, "d": 0, "x": 1, "e": 0} == states(done)
    assert ["ab", "bc", "cd", "ax", "de"] == steps(done)
    assert {} == dict(done.left_out)
    assert "1 pages lead to no relevant page and get the last state" in done.notes


def test_trail_keeps_cycles_and_drops_self_references(tmp_path: Path) -> None:
    again = [entry("c", False, "d"), entry("a", False, "c"), entry("b", False, "a"), entry("b", None, "b")]
    done = trained(tmp_path, *PATH, *again)
    assert {"a": 3, "b": 2, "c": 1, "d": 0, "x": 3, "e": 0} == states(done)
    assert ["ab", "bc", "cd", "ax", "de", "dc", "ca", "ab"] == steps(done), "a move made twice counts twice"


def test_train_browse_cycle_without_relevant_page_adds_note(tmp_path: Path) -> None:
    done = trained(tmp_path, entry("a", False, "b", RAIL), entry("b", False, "a", OWL), entry("c", True, "", REEF))
    assert {"a": 3, "b": 3, "c": 0} == states(done)
    assert any(
        note.startswith("no page leads to a relevant one, so nothing is learned about paths") for note in done.notes
    )


def test_trail_starts_at_unknown_referrer(tmp_path: Path) -> None:
    done = trained(tmp_path, *PATH, entry("f", True, "elsewhere", REEF))
    assert 0 == states(done)["f"]
    assert 5 == len(done.browsing.steps)
    assert "1 visits have a referrer that is not in the record: these visits start a path" in done.notes


def test_trail_of_visits_without_referrers_follows_time() -> None:
    visits = [
        BrowsingVisit("c", time=1900.0 + 1800),
        BrowsingVisit("a", time=0.0),
        BrowsingVisit("b", time=1800.0),
        BrowsingVisit("d", time=3701),
    ]
    trail = trail_of(BrowsingRecord(visits=visits), gap=30)
    assert ("order", ["a", "b", "c", "d"], [[0, 1], [2, 3]]) == (trail.step_source, trail.urls, trail.steps.tolist())
    assert [[0, 1], [1, 2], [2, 3]] == trail_of(BrowsingRecord(visits=visits), gap=31.7).steps.tolist()
    untimed = trail_of(
        BrowsingRecord(visits=[BrowsingVisit("b", time=9e9), BrowsingVisit("a"), BrowsingVisit("b", time=1.0)]), gap=30
    )
    assert (["b", "a"], [[0, 1], [1, 0]]) == (untimed.urls, untimed.steps.tolist())


def test_trail_uses_last_of_contradictory_labels() -> None:
    visits = [BrowsingVisit("a", True), BrowsingVisit("a", False), BrowsingVisit("b", True), BrowsingVisit("b")]
    trail = trail_of(BrowsingRecord(visits=visits), gap=30)
    assert [0, 1] == trail.labels.tolist()
    assert "1 pages have contradictory labels: the last label is used" in trail.notes


def many(relevant: int = 8, others: int = 8) -> list[dict[str, Any]]:
    """Return relevant pages, and two kinds of other pages that lead to them."""
    lines = []
    for n in range(others):
        lines.append(entry(f"rail{n}", False, "", f"{RAIL} r{n} r{n + 1}"))
        lines.append(entry(f"owl{n}", False, f"rail{n}", f"{OWL} o{n} o{n + 1}"))
    return [
        *lines,
        *(entry(f"reef{n}", True, f"owl{n % max(1, others)}", f"{REEF} c{n} c{n + 1}") for n in range(relevant)),
    ]


@pytest.mark.paper("batsakis-k")
def test_kmeans_puts_all_relevant_pages_in_one_cluster(tmp_path: Path) -> None:
    done = trained(tmp_path, *many(), clusters=3)
    kinds = [name.rstrip("0123456789") for name in states(done)]
    labels = done.browsing.clusterings["kmeans"].tolist()
    assert {("rail", 0), ("owl", 1), ("reef", 2)} == set(zip(kinds, labels, strict=True))


@pytest.mark.parametrize("clusters", [2, 5, 900])
def test_kmeans_has_at_most_one_cluster_per_page(tmp_path: Path, clusters: int) -> None:
    done = trained(tmp_path, *PATH, clusters=clusters)
    assert 1 + min(clusters - 1, 4) == done.browsing.clusters("kmeans")


@pytest.mark.paper("batsakis-xmeans")
def test_xmeans_ignores_labels(tmp_path: Path) -> None:
    browsing = trained(tmp_path, *many(), entry("bait", False, "", REEF + " c1 c2 c3")).browsing
    xmeans = browsing.clusterings["xmeans"]
    assert int(xmeans[browsing.urls.index(url("bait"))]) in xmeans[browsing.relevant].tolist()
    assert browsing.clusters("xmeans") >= 2


def test_train_browse_is_deterministic(tmp_path: Path) -> None:
    first = trained(tmp_path, *many(), seed=3)
    content = first.out.read_bytes()
    assert content == trained(tmp_path, *many(), seed=3).out.read_bytes()
    assert first.browsing.digest == Browsing.load(first.out).digest


def test_train_browse_describes_clusters(tmp_path: Path) -> None:
    last = trained(tmp_path, *many(), clusters=3).clusters["kmeans"][-1]
    assert (2, 8, 8) == (last["cluster"], last["pages"], last["relevant"])
    assert {"coral", "reef", "lagoon"} <= set(last["words"])


def test_unlabelled_pages_are_on_paths_only(tmp_path: Path) -> None:
    path = [dict(each) for each in PATH]
    path[2]["relevant"] = path[4]["relevant"] = None  # c and x
    load_pages = Pages()
    done = trained(tmp_path, *path, load_pages=load_pages)
    assert {"a": 3, "b": 2, "c": 1, "d": 0, "e": 0} == states(done)
    assert ["ab", "bc", "cd", "de"] == steps(done)
    assert ([-1, -1], 0) == (
        [done.browsing.clusterings[name][2] for name in ("kmeans", "xmeans")],
        int(np.diff(done.browsing.pages.starts)[2]),
    )
    assert {"unlabelled, and not leading to a relevant page": 1} == dict(done.left_out)
    assert any(note.startswith("1 unlabelled pages are on paths, but in no cluster") for note in done.notes)


def test_unlabelled_pages_are_not_loaded(tmp_path: Path) -> None:
    lines = [entry("a", None), entry("b", None, "a"), entry("c", True, "b"), entry("d", False, "c"), entry("z", None)]
    load_pages = Pages(a=RAIL, b=OWL, c=REEF, d=RAIL, z=OWL)
    done = trained(tmp_path, *lines, load_pages=load_pages)
    assert [url("c"), url("d")] == load_pages.requested
    assert {"a": 2, "b": 1, "c": 0, "d": 3} == states(done)
    load_pages.requested.clear()
    done = trained(tmp_path, *lines, load_pages=load_pages, unlabelled="no")
    assert [url(name) for name in "abcdz"] == load_pages.requested
    assert {"a": 2, "b": 1, "c": 0, "d": 3, "z": 3} == states(done)
    assert (done.browsing.clusterings["kmeans"] >= 0).all()


def test_train_browse_with_one_relevant_page_adds_note(tmp_path: Path) -> None:
    done = trained(tmp_path, *PATH[:-1])
    assert 1 == done.browsing.relevant.sum()
    assert any(note.startswith("only one relevant page") for note in done.notes)


def test_train_browse_without_relevant_pages_raises(tmp_path: Path) -> None:
    with raises_input_error("no-positives", "no page of .*record.jsonl is labelled as relevant: label some"):
        trained(tmp_path, *PATH[:3])
    assert not (tmp_path / "out.browsing").exists()


def test_train_browse_without_irrelevant_pages_raises(tmp_path: Path) -> None:
    lines = [entry("a", None, "", RAIL), entry("b", True, "a", REEF), entry("c", True, "b", REEF + " x")]
    with raises_input_error("no-negatives", r"label some, .*\(--unlabelled no\), .*\(--positives-only\)"):
        trained(tmp_path, *lines)
    assert 3 == len(trained(tmp_path, *lines, unlabelled="no").browsing)
    assert 3 == len(trained(tmp_path, *lines, positives_only=True).browsing)


@pytest.mark.paper("batsakis-positives-only")
def test_positives_only_clusters_relevant_pages(tmp_path: Path) -> None:
    lines = many(relevant=12)
    for each in lines[:4]:
        each["relevant"] = None
    browsing = trained(tmp_path, *lines, positives_only=True, clusters=4).browsing
    for name in ("kmeans", "xmeans"):
        labels = browsing.clusterings[name]
        assert (labels < 0).tolist() == (~browsing.relevant).tolist()
    assert {0, 1, 2} == set(browsing.clusterings["kmeans"][browsing.relevant].tolist())
    assert (np.diff(browsing.pages.starts) > 0).all()
    assert {0, 1, 2} == set(browsing.state.tolist())


def test_positives_only_without_other_pages_adds_note(tmp_path: Path) -> None:
    done = trained(
        tmp_path, *(entry(f"p{n}", True, "", f"{REEF} c{n} c{n + 1}") for n in range(5)), positives_only=True
    )
    assert [0] * 5 == done.browsing.state.tolist()
    assert any("use 'hybrid' instead of 'hmm'" in note for note in done.notes)


def test_unavailable_pages_stay_on_paths(tmp_path: Path) -> None:
    lines = [*PATH, entry("f", True, "x"), entry("g", False, "e")]
    done = trained(tmp_path, *lines)
    assert (0, 3, 1) == (states(done)["f"], states(done)["g"], states(done)["x"])
    for name in ("kmeans", "xmeans"):
        assert [-1, -1] == done.browsing.clusterings[name][-2:].tolist()
    assert {"nowhere": 2} == dict(done.left_out)
    assert "2 pages without words are on paths only" in done.notes


def test_train_browse_without_words_raises(tmp_path: Path) -> None:
    bare = [entry("a", False), entry("b", True, "a")]
    with raises_input_error("no-pages", r"none of the 1 relevant pages .* could be read \(1 nowhere\): put their text"):
        trained(tmp_path, *bare, load_pages=Pages(a=RAIL))
    with raises_input_error("no-negatives", r"no page .* is labelled as irrelevant.*could not be read \(1 nowhere\)"):
        trained(tmp_path, *bare, load_pages=Pages(b=REEF))


def test_train_browse_limits_pages(tmp_path: Path) -> None:
    lines = [*many(8, 8), *(entry(f"far{n}", None, "", RAIL) for n in range(9)), entry("near", None, "rail0", OWL)]
    lines.append(entry("reef0", True, "near"))
    done = trained(tmp_path, *lines, unlabelled="no", most=10)
    names = [name.rstrip("0123456789") for name in states(done)]
    assert (5, 5) == (names.count("reef"), names.count("rail") + names.count("owl"))
    done = trained(tmp_path, *lines, unlabelled="no", most=28)
    names = [name.rstrip("0123456789") for name in states(done)]
    assert (8, 16, 1, 3) == (
        names.count("reef"), names.count("rail") + names.count("owl"), names.count("near"), names.count("far"),
    )  # fmt: skip
    assert {"beyond the 28 training pages of --most": 6} == dict(done.left_out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": 1}, "--states is 1: it must be 2 to 100"),
        ({"states": 101}, "--states is 101"),
        ({"clusters": 1}, "--clusters is 1: it must be 2 to 1,000"),
        ({"gap": 0}, "--gap is 0: it must be more than 0 minutes"),
        ({"gap": float("nan")}, "--gap is nan"),
        ({"most": 1}, "--most is 1: it must be 2 or more"),
        ({"seed": -1}, "--random-seed is -1: it must be 0 or more"),
        ({"unlabelled": "yes"}, "--unlabelled is yes: it must be path .* or no"),
    ],
)
def test_train_browse_rejects_bad_values(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_browse(tmp_path / "nowhere", tmp_path / "out", Pages(), **options)


STEMS = ["reef", "rail", "owl"]


def crawl(place: Path, *events: Any) -> Path:
    """Write a crawl directory with these events and a threshold of .5."""
    directory = Directory.create(place, Options())
    log = directory.log()
    for event in (Setting("threshold", 0.5), *events):
        log.append(event)
    log.close()
    directory.close()
    return place


def visit(node: str, word: str, relevance: float, *links: str, first: bool = False) -> Visit:
    terms = Terms(np.array([STEMS.index(word)], np.uint32), np.array([3], np.uint16), STEMS if first else [])
    return Visit(node, "page", "ok", 1, relevance=relevance, terms=terms, links=Links.to(*links))


def test_train_browse_reads_crawl(tmp_path: Path) -> None:
    place = crawl(
        tmp_path / "crawl",
        visit("http://a/", "rail", 0.1, "http://moved/", "http://never/", "http://a/", "http://moved/", first=True),
        Visit("http://moved/", "redirect", "ok", 1, links=Links.to("http://b/")),
        visit("http://b/", "owl", 0.7, "http://c/"),
        visit("http://c/", "reef", 0.5, "http://a/"),
        Visit("http://d/", "page", "gone", 1),
        Label("http://b/", False),
    )
    done = train_browse(place, tmp_path / "out", Pages())
    browsing = done.browsing
    assert ["http://a/", "http://b/", "http://c/"] == browsing.urls
    assert [False, False, True] == browsing.relevant.tolist()
    assert [2, 1, 0] == browsing.state.tolist()
    assert [[0, 1], [1, 2], [2, 0]] == browsing.steps.tolist()
    assert set(STEMS) == set(browsing.terms)
    assert "1 pages have labels; of the others, those with 0.5 or more count as relevant" in done.notes


def test_train_browse_rejects_invalid_crawls(tmp_path: Path) -> None:
    with raises_input_error("missing-file", "nowhere does not"):
        train_browse(tmp_path / "nowhere", tmp_path / "out", Pages())
    with raises_input_error("not-a-crawl", "is not a"):
        train_browse(tmp_path, tmp_path / "out", Pages())
    Directory.create(tmp_path / "new", Options()).close()
    with raises_input_error("no-pages", "nothing has been crawled in .*new yet"):
        train_browse(tmp_path / "new", tmp_path / "out", Pages())
    with raises_input_error("no-pages", "has no pages"):
        train_browse(crawl(tmp_path / "empty", Visit("http://a/", "page", "gone", 1)), tmp_path / "out", Pages())
    with pytest.raises(DamagedError, match="unknown term ids"):
        train_browse(crawl(tmp_path / "bad", visit("http://a/", "owl", 0.9)), tmp_path / "out", Pages())
