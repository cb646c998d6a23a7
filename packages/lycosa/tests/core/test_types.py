"""Tests of the data types of the crawl loop."""

import numpy as np
import pytest

from lycosa.core.types import Exchange, InboundLinks, LinkBatch, Links, Step, Visit, apply_label, as_stored


def links() -> Links:
    made = Links.to("a", "b", "c", anchors=["A", "B", "C"])
    made.link_relevances = np.array([0.1, 0.2, 0.3], np.float32)
    made.facets = {"url": np.array([1, 2, 3], np.float32)}
    return made


def test_links_truncate_cuts_all_columns() -> None:
    made = links()
    made.truncate(2)
    assert (["a", "b"], ["A", "B"], [0, 1]) == (made.urls, made.anchors, made.positions)
    assert 2 == len(made) == len(made.link_relevances) == len(made.facets["url"])
    made.truncate(-1)
    assert 0 == len(made) == len(made.link_relevances)


def test_links_select_keeps_text_but_no_relevances() -> None:
    made = links().select([2, 0])
    assert (["c", "a"], ["C", "A"], [2, 0]) == (made.urls, made.anchors, made.positions)
    assert 0 == len(made.link_relevances) == len(made.facets)


def test_exchange_header_ignores_case() -> None:
    exchange = Exchange(b"", b"", [(b"Content-Type", b"text/html"), (b"content-type", b"text/plain")], b"", b"")
    assert ("text/html", "") == (exchange.header("CONTENT-type"), exchange.header("etag"))


@pytest.mark.parametrize(
    ("kind", "outcome", "page", "version"),
    [
        ("page", "ok", True, True),
        ("revisit", "ok", False, True),
        ("page", "unchanged", False, False),
        ("robots", "ok", False, False),
    ],
)
def test_visit_is_page_or_version(kind: str, outcome: str, page: bool, version: bool) -> None:
    visit = Visit("a", kind, outcome, 1)  # type: ignore[arg-type]
    assert (page, version) == (visit.is_page, visit.is_version)


def test_visit_distinguishes_relevance_at_pick_and_now() -> None:
    visit = Visit("a", "page", "ok", 1, relevance=0.4)
    assert visit.was_relevant(0.4)
    assert visit.is_relevant(0.4)
    visit.updated_relevance = 0.2
    assert visit.was_relevant(0.4)
    assert not visit.is_relevant(0.4)
    visit.same_as = "b"
    assert not visit.was_relevant(0.1)


def test_as_stored_converts_arrays_and_tuples() -> None:
    assert {"k": [[1, 2], [0.5]]} == as_stored({"k": (np.array([1, 2]), [np.float32(0.5)])})


def test_link_batch_skips_known_pages() -> None:
    batch = LinkBatch([InboundLinks(3, number, Visit("a", "page", "ok", 1)) for number in (4, 5, 6)])
    assert (3, 6) == (batch.sender, batch.number)
    assert batch.after(3) is batch
    rest = batch.after(4)
    assert rest is not None
    assert [5, 6] == [page.number for page in rest.pages]
    assert batch.after(6) is None


def test_step_strongest_takes_maximum_per_child() -> None:
    step = Step(Visit("a", "page", "ok", 1), 0, np.array([7, 5]), np.zeros(2), np.array([7, -1, 5, 7], np.int32))
    assert [0.4, 0.3] == step.strongest(np.array([0.1, 0.9, 0.3, 0.4])).tolist()


@pytest.mark.parametrize(
    ("relevance", "label", "expected"), [(0.05, True, 0.1), (0.4, True, 0.4), (0.05, None, 0.05), (0.05, False, 0.05)]
)
def test_apply_label_moves_to_side_of_threshold(relevance: float, label: bool | None, expected: float) -> None:
    assert expected == apply_label(relevance, label, 0.1)
    assert apply_label(0.4, False, 0.1) < 0.1
