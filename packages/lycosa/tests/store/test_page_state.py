"""Tests of page states: computed from visits, and kept in the table `page` by the log."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.core.types import Links, Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.page_state import PageState
from tables_of_log import check_page_table

CHANGE: dict[str, Any] = {"change": {"what": "changed", "kind": "text"}}
COSMETIC: dict[str, Any] = {"change": {"what": "changed", "kind": "cosmetic"}}


def page(at: float, node: str = "a", outcome: Any = "ok", **more: Any) -> Visit:
    return Visit(node, "page", outcome, 1, started=at, **more)


def again(at: float, outcome: Any = "ok", node: str = "a", data: dict[str, Any] | None = None, **more: Any) -> Visit:
    return Visit(node, "revisit", outcome, 1, started=at, data=CHANGE if data is None else data, **more)


def moved(at: float, target: str, node: str = "a") -> Visit:
    return again(at, "redirect", node, links=Links.to(target))


def test_page_is_current_from_its_first_visit() -> None:
    state = PageState.of([page(1.0)])
    assert PageState("stands", 1.0, versions=1, revisits=0, last_seen=1.0, changed=0.0) == state


@pytest.mark.parametrize(
    "visits",
    [[], [page(1.0, outcome="gone")], [page(1.0, outcome="timeout"), page(2.0, outcome="denied")],
     [Visit("a", "redirect", "redirect", 1)], [Visit("a", "robots", "ok", 0)], [Visit("a", "asset", "ok", 0)],
     [again(1.0, "gone")]],
    ids=lambda visits: "-".join(f"{visit.kind} {visit.outcome}" for visit in visits) or "none",
)  # fmt: skip
def test_no_content_is_no_page(visits: Sequence[Visit]) -> None:
    assert PageState.of(visits) is None


def test_page_found_after_failures() -> None:
    state = PageState.of([page(1.0, outcome="busy", retry_at=2.0), page(2.0)])
    assert PageState("stands", 2.0, versions=1, revisits=0, last_seen=2.0) == state


def test_revisits_change_versions_and_state() -> None:
    visits = [page(1.0), again(2.0, "unchanged", data={}), again(3.0), again(4.0, data=COSMETIC), again(5.0, "gone")]
    expected = [
        PageState("stands", 1.0, 1, 0, 1.0),
        PageState("stands", 1.0, 1, 1, 2.0),
        PageState("stands", 3.0, 2, 2, 3.0, changed=3.0),
        PageState("stands", 4.0, 3, 3, 4.0, changed=3.0),  # a new version, though its text is the same
        PageState("vanished", 5.0, 3, 4, 5.0, changed=3.0),
    ]
    assert expected == [PageState.of(visits[: count + 1]) for count in range(len(visits))]


def test_page_vanishes_moves_and_returns() -> None:
    visits = [page(1.0), moved(2.0, "b"), moved(3.0, "c"), again(4.0, "gone"), again(5.0, "gone"), again(6.0, data={})]
    states = [PageState.of(visits[: count + 1]) for count in range(len(visits))]
    assert [
        ("stands", 1.0, ""), ("moved", 2.0, "b"), ("moved", 2.0, "c"), ("vanished", 4.0, ""), ("vanished", 4.0, ""),
        ("stands", 6.0, ""),
    ] == [(state.state, state.since, state.moved_to) for state in states if state]  # fmt: skip


@pytest.mark.parametrize("outcome", ["timeout", "busy", "broken", "denied", "unreachable"])
def test_failed_revisit_says_nothing(outcome: Any) -> None:
    state = PageState.of([page(1.0)])
    assert state is PageState.after(state, again(2.0, outcome))


def test_change_without_kind_matters() -> None:
    for data in ({}, {"change": {"what": "changed"}}, {"change": {"what": "vanished", "kind": "cosmetic"}}):
        state = PageState.of([page(1.0), again(2.0, data=data)])
        assert state is not None
        assert 2.0 == state.changed


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    with closing(SqliteLog(tmp_path / NAME)) as log:
        yield log


def test_page_table_points_to_first_and_current_version(log: SqliteLog) -> None:
    for visit in (
        page(1.0, "other"),
        page(2.0),
        again(3.0),
        again(4.0, "unchanged"),
        again(5.0, "gone"),
        moved(6.0, "b"),
    ):
        log.append(visit)
    assert [(1, 1), (2, 3)] == list(log.query("SELECT first, current FROM page ORDER BY first"))
    assert [("moved", "b", 2)] == list(log.query("SELECT state, moved_to, versions FROM page WHERE first = 2"))
    assert 2 == check_page_table(log)


def test_page_table_knows_copies(log: SqliteLog) -> None:
    for visit in (page(1.0), page(2.0, "b", same_as="a"), again(3.0, node="b"), again(4.0, same_as="b")):
        log.append(visit)
    assert [(1, 1), (2, 0)] == list(log.query("SELECT first, is_copy FROM page ORDER BY first"))


def test_batch_rolls_back_page_table(log: SqliteLog) -> None:
    log.append(page(1.0))
    with pytest.raises(ZeroDivisionError), log.batch():  # noqa: PT012 - the block is what is tested
        log.append(again(2.0))
        log.append(page(3.0, "b"))
        raise ZeroDivisionError
    assert [(1, 1)] == list(log.query("SELECT first, versions FROM page"))
    log.append(again(2.0))
    assert [(1, 2)] == list(log.query("SELECT first, versions FROM page"))
    check_page_table(log)


OUTCOMES = st.sampled_from(["ok", "unchanged", "gone", "redirect", "timeout", "broken"])
HISTORIES = st.lists(st.tuples(st.sampled_from("abc"), OUTCOMES, st.sampled_from([{}, CHANGE, COSMETIC])), max_size=25)


@given(HISTORIES)
def test_page_table_equals_state_of_visits(histories: list[tuple[str, Any, dict[str, Any]]]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place, closing(SqliteLog(Path(place) / NAME)) as log:
        fetched = set[str]()
        with log.batch():
            for at, (node, outcome, data) in enumerate(histories, 1):
                if node in fetched:
                    links = Links.to(random.Random(at).choice("xyz")) if outcome == "redirect" else Links()
                    log.append(again(float(at), outcome, node, data, links=links))
                elif outcome not in ("unchanged", "redirect"):  # a page's first visits
                    log.append(page(float(at), node, outcome))
                    if outcome == "ok":
                        fetched.add(node)
        assert len(fetched) == check_page_table(log)
