"""The space of Scrapy's requests."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lycosa.core.errors import DamagedError
from lycosa.core.frontier import FREE, HELD, SHUT
from lycosa.core.protocols import NEVER
from lycosa.core.table import Table
from lycosa.core.types import Links, Seed, Visit
from lycosa_scrapy.space import RELEVANCE, REQUESTS, Form, Priorities, ScrapySpace, Waiting, request_data

A, B, C = (f"http://{name}.example/" for name in "abc")
FORM = Form(0, "", b"packed")


def test_start_and_learn_keep_waiting_requests() -> None:
    space = ScrapySpace()
    space.start(Seed(A, 0.0, data={REQUESTS: request_data([(A, FORM, "")])}))
    page = Visit(A, "page", "ok", 1, data={REQUESTS: request_data([(B, FORM, "HTTP://b.example"), (C, FORM, "")])})
    space.learn(page)
    assert space.waiting == {B: Waiting(FORM, "HTTP://b.example"), C: Waiting(FORM, "")}
    space.learn(Visit(B, "page", "unreachable", 2, retry_at=1.0))
    assert B in space.waiting


def test_state_restores_waiting_requests() -> None:
    space, again = ScrapySpace(), ScrapySpace()
    space.waiting = {A: Waiting(FORM, "x"), B: Waiting(Form(2, "slot", b""), "")}
    again.restore(space.state())
    assert again.waiting == space.waiting


@pytest.mark.parametrize("damage", [{}, {"forms": [[0, "", b""]], "nodes": [A], "urls": [], "of": [0]}, 3])
def test_start_raises_for_damaged_requests(damage: Any) -> None:
    with pytest.raises(DamagedError):
        ScrapySpace().start(Seed(A, 0.0, data={REQUESTS: damage}))


def test_host_key_is_slot_of_request_or_host() -> None:
    space = ScrapySpace()
    space.waiting = {A: Waiting(Form(0, "slow", b""), ""), B: Waiting(FORM, "")}
    assert [space.host_key(node) for node in (A, B, "http://[x")] == ["slow", "b.example", ""]


def test_ready_is_never_if_slot_is_full() -> None:
    space = ScrapySpace()
    space.busy = lambda host_key: host_key == "full"
    assert space.ready("free") == (0.0, "")
    assert space.ready("full")[0] == NEVER


def test_request_data_stores_forms_once() -> None:
    other = Form(1, "", b"")
    assert request_data([(A, FORM, ""), (B, other, ""), (C, FORM, "")])["of"] == [0, 1, 0]


def filtered(requests: list[tuple[str, int]], shut: str = "") -> tuple[Priorities, Table, dict[str, int]]:
    """Return a filter after a page with requests of these priorities, and the changed levels by node."""
    table = Table()
    table.add_seed(A)
    data = {REQUESTS: request_data([(node, Form(priority, "", b""), "") for node, priority in requests])}
    visit = Visit(A, "page", "ok", 1, links=Links.to(*(node for node, _ in requests)), data=data)
    step = table.absorb(visit)
    rows = np.array([table.row_of[shut]] if shut else [], np.intp)
    inner: Any = SimpleNamespace(
        learn=lambda visit, step, table: (rows, np.full(len(rows), SHUT, np.uint8)),
        recognise=lambda visit, reading: None,
    )
    made = Priorities(inner, ScrapySpace())
    changed, levels = made.learn(visit, step, table)
    return made, table, {table.nodes[row]: level for row, level in zip(changed.tolist(), levels.tolist(), strict=True)}


def test_priorities_hold_back_low_requests() -> None:
    made, table, levels = filtered([(B, -1), (C, 5)])
    assert levels == {B: HELD}
    assert made.high == {5: {table.row_of[C]}}


def test_priorities_hold_instead_of_shut() -> None:
    assert filtered([(B, 0)], shut=B)[2] == {B: HELD}
    assert FREE < HELD < SHUT


def test_priorities_forget_visited_rows() -> None:
    made, table, _ = filtered([(B, -1), (C, 5)])
    for node in (B, C):
        visit = Visit(node, "page", "ok", 2)
        made.learn(visit, table.absorb(visit), table)
    assert (made.low, made.high) == (set(), {})


def test_recognise_takes_relevance_of_spider() -> None:
    visit = Visit(A, "page", "ok", 1, relevance=0.1, data={RELEVANCE: 0.75})
    filtered([])[0].recognise(visit, None)
    assert visit.relevance == 0.75
