"""Tests of soft 404 detection."""

from collections.abc import Sequence

import numpy as np
import pytest

from lycosa.core.types import Kind, Links, Outcome, Page, Visit
from lycosa.text.vocabulary import Vocabulary
from lycosa.traps.copies import MAX_ERROR_PAGE_WORDS, Soft404Detector
from lycosa.traps.trap_filter import SectionTrapFilter
from stored import stored

PROBE = "http://a.test/reefs/no-such-page-0123456789ab.html"
SORRY = (
    "Sorry, the page you are looking for could not be found on this server. Perhaps it has moved to another place, "
    "or the address was misspelt. Search our collection, or write to the keeper of these pages, who will gladly help."
)
CORAL = (
    "Corals are animals, though they look like plants. Each polyp builds a skeleton of limestone around itself, and "
    "over centuries the skeletons of countless polyps grow into a reef that shelters fish, crabs and sea urchins."
)


class Host:
    """Host whose responses are passed to the detector as by the engine."""

    def __init__(self) -> None:
        self.words, self.soft404 = Vocabulary(), Soft404Detector()
        self.events: list[Visit] = []

    def visit(self, node: str, marked: str, kind: Kind = "page", outcome: Outcome = "ok", title: str = "") -> Visit:
        visit = Visit(node, kind, outcome, 1, title=title)
        reading = self.words.read(Page("ok", title=title, marked=marked))
        visit.terms = reading.terms
        self.soft404.recognise(visit, reading)
        self.words.learn(visit)
        self.soft404.learn(visit)
        self.events.append(visit)
        return visit

    def says(self, node: str, marked: str, title: str = "") -> Sequence[str]:
        """Return the flags of a page."""
        return self.visit(node, marked, title=title).flags


def probed(answer: str = SORRY, outcome: Outcome = "ok") -> Host:
    """Return a host after a probe."""
    host = Host()
    host.visit(PROBE, answer, "probe", outcome)
    return host


def test_page_like_probe_is_soft404() -> None:
    host = probed()
    assert ["soft-404"] == host.says("http://a.test/lost.html", SORRY)
    assert [] == host.says("http://a.test/corals.html", CORAL)


def test_links_are_ignored_in_comparison() -> None:
    links = [f"\x01{word} the {word} of reefs and atolls {word}\x02" for word in CORAL.split()]
    host = probed(SORRY + " ".join(links[:10]))
    assert ["soft-404"] == host.says("http://a.test/lost.html", SORRY + " ".join(links[10:]))


def test_same_links_other_text_is_a_page() -> None:
    navigation = " ".join(f"\x01{word}\x02" for word in SORRY.split())
    host = probed(f"{navigation} {SORRY}")
    assert [] == host.says("http://a.test/corals.html", f"{navigation} {CORAL}")


def test_urls_quoted_in_text_are_ignored() -> None:
    host = probed("no such page 0123456789ab " * 20 + SORRY)
    quoting = "corals bleaching atoll lagoon " * 20 + SORRY
    assert ["soft-404"] == host.says("http://a.test/corals/bleaching/atoll-lagoon.html", quoting)
    assert [] == host.says("http://a.test/other.html", quoting), "quoted from elsewhere, they are words like any other"


def test_page_with_no_words_but_those_of_probe_is_not_soft404() -> None:
    host = probed("no such page")
    assert "face" not in host.events[0].data
    assert [] == host.says("http://a.test/coral.html", "coral")
    assert [] == probed().says("http://a.test/empty.html", "")


def test_other_host_port_or_scheme_is_unaffected() -> None:
    host = probed()
    for base in ("http://b.test", "https://a.test", "http://a.test:8080", "http://www.a.test"):
        assert [] == host.says(f"{base}/lost.html", SORRY)


@pytest.mark.parametrize("outcome", ["gone", "redirect", "timeout", "unwanted", "busy", "broken"])
def test_host_with_status_404_has_no_soft404(outcome: Outcome) -> None:
    host = probed(outcome=outcome)
    assert [] == host.says("http://a.test/lost.html", SORRY)


def test_probe_with_many_words_is_ignored() -> None:
    novel = " ".join(f"w{number}x" for number in range(MAX_ERROR_PAGE_WORDS + 1))
    host = probed(novel)
    assert "face" not in host.events[0].data
    assert [] == host.says("http://a.test/novel.html", novel)


def test_probe_is_never_soft404() -> None:
    host = probed()
    assert [] == host.visit(PROBE, SORRY, "probe").flags
    host.visit(PROBE, CORAL, "probe")
    assert ["soft-404"] == host.says("http://a.test/corals.html", CORAL)
    assert [] == host.says("http://a.test/lost.html", SORRY)


@pytest.mark.parametrize(("share", "soft"), [(0.0, True), (0.1, True), (0.6, False), (1.0, False)])
def test_soft404_requires_minimum_similarity(share: float, soft: bool) -> None:
    own = CORAL.split()
    answer = SORRY + " " + " ".join(own[: round(share * len(own))])
    assert soft == bool(probed().says("http://a.test/page.html", answer))


@pytest.mark.parametrize(
    "title",
    [
        "404 Not Found",
        "404",
        "Error 404",
        "Not Found",
        "not found.",
        "Page not found - Reefs",
        "Reefs | Page Not Found",
        "The document could not be found",
        "Seite nicht gefunden",
        "Page introuvable",
        "Página no encontrada",
    ],
)
def test_title_not_found_is_soft404(title: str) -> None:
    assert ["soft-404"] == Host().says("http://a.test/lost.html", CORAL, title)


@pytest.mark.parametrize(
    "title",
    ["", "Corals", "Lost and found: a novel", "Peugeot 404", "Where squid are found", "Room 404", "What I found"],
)
def test_title_with_similar_words_is_not_soft404(title: str) -> None:
    assert [] == Host().says("http://a.test/corals.html", CORAL, title)


@pytest.mark.parametrize(
    "title", ["404 Media", "404 species of coral", "Nothing found in the wreck of the Lutine: a diver's report"]
)
def test_title_on_other_topic_is_not_soft404(title: str) -> None:
    assert [] == Host().says("http://a.test/corals.html", CORAL, title)


def test_soft404_has_no_relevance() -> None:
    trap_filter, words = SectionTrapFilter(0.1), Vocabulary()
    probe, page = Visit(PROBE, "probe", "ok", 1), Page("ok", marked=SORRY, links=Links.to("b", "c"))
    trap_filter.soft404.recognise(probe, words.read(page))
    trap_filter.soft404.learn(probe)
    visit = Visit("http://a.test/lost.html", "page", "ok", 2, relevance=0.9, links=Links.to("b", "c"))
    visit.links.link_relevances = np.array([0.5, 0.7], np.float32)
    trap_filter.recognise(visit, words.read(page))
    assert (0.0, [0.0, 0.0], ["soft-404"], "") == (
        visit.relevance,
        visit.links.link_relevances.tolist(),
        visit.flags,
        visit.same_as,
    )
    assert not visit.was_relevant(0.1)


def test_replay_equals_live() -> None:
    host = probed()
    host.says("http://a.test/corals.html", CORAL)
    host.visit("http://b.test/no-such-page.html", f"{CORAL} {SORRY}", "probe")
    replayed = Host()
    for event in stored(host.events):
        replayed.words.learn(event)
        replayed.soft404.learn(event)
    assert host.words.terms == replayed.words.terms
    assert host.soft404._faces.keys() == replayed.soft404._faces.keys() == {"http://a.test", "http://b.test"}
    for base, (ids, counts) in host.soft404._faces.items():
        again = replayed.soft404._faces[base]
        assert (ids.dtype, counts.dtype) == (again[0].dtype, again[1].dtype)
        assert (ids.tolist(), counts.tolist()) == (again[0].tolist(), again[1].tolist())
    for node, text in (("http://a.test/x", SORRY), ("http://a.test/y", CORAL), ("http://b.test/z", f"{CORAL} {SORRY}")):
        assert host.says(node, text) == replayed.says(node, text)


@pytest.mark.parametrize("hosts", [0, 1, 3])
def test_state_round_trip(hosts: int) -> None:
    host = Host()
    for number in range(hosts):
        probe = f"http://{number}.test/no-such-page-0123456789ab.html"
        host.visit(probe, " ".join(SORRY.split()[number:]), "probe")
    state = host.soft404.state()
    again = Soft404Detector()
    again.restore(state | {"hosts": list(state["hosts"].items)})
    faces = [
        {name: (ids.tolist(), n.tolist()) for name, (ids, n) in one._faces.items()} for one in (host.soft404, again)
    ]
    assert faces[0] == faces[1]
    assert hosts == len(faces[1])
