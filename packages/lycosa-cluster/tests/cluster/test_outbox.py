"""Links to other shards until they are confirmed."""

from types import SimpleNamespace
from typing import Any

import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Seed, Setting, Visit
from lycosa.store.codec import unpack_batch
from lycosa.store.log import MemoryLog
from lycosa_cluster import outbox as module
from lycosa_cluster.outbox import CURSORS, Outbox, is_linking, messages
from lycosa_cluster.owning import Owners

OWNERS = Owners(3)
OTHERS = [[url for n in range(60) if OWNERS.of(url := f"http://site{n}.test/") == shard] for shard in range(3)]


def visit(number: int, *urls: str, **more: Any) -> Visit:
    return Visit(f"{OTHERS[0][0]}{number}", "page", "ok", number, links=Links.to(*urls), **more)


def outbox(log: MemoryLog, **settings: Any) -> Outbox:
    engine: Any = SimpleNamespace(log=log, table=Table(), tally=SimpleNamespace(settings=settings))
    made = Outbox(0, OWNERS, engine, lambda node, depth: True)
    made.catch_up()
    return made


def numbers(made: Outbox, receiver: int) -> list[int]:
    _, packed = made.next_batch(receiver)
    return [page.number for page in unpack_batch(packed).pages] if packed else []


def test_outbox_sends_links_to_owner_until_confirmed() -> None:
    made = outbox(MemoryLog())
    made.add(visit(1, OTHERS[0][1], OTHERS[1][0]), 5)
    made.add(visit(2, OTHERS[2][0]), 6)
    made.add(visit(2, OTHERS[2][0]), 6)
    assert (numbers(made, 1), numbers(made, 2), made.pending) == ([5], [6], 2)
    made.confirm(1, 5)
    assert (numbers(made, 1), made.pending, made.queues[1].filled.is_set()) == ([], 1, False)
    assert made.changed_cursors() == {"1": 5, "2": 0}
    assert made.changed_cursors() is None


def test_catch_up_reads_unconfirmed_pages_from_log() -> None:
    log = MemoryLog()
    for event in (
        Seed("http://a.test/", 0.0),
        visit(1, OTHERS[1][0]),
        Setting("x", 1),
        visit(2, OTHERS[1][1], OTHERS[2][0]),
    ):
        log.append(event)
    made = outbox(log, **{CURSORS: {"1": 2, "2": 0, "9": 4}})
    assert (numbers(made, 1), numbers(made, 2)) == ([4], [4])


def test_full_queue_is_refilled_from_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUEUED_PAGES", 2)
    log = MemoryLog()
    made = outbox(log)
    for number in range(1, 6):
        log.append(visit(number, OTHERS[1][0]))
        made.add(visit(number, OTHERS[1][0]), number)
    sent = []
    while batch := numbers(made, 1):
        sent += batch
        made.confirm(1, batch[-1])
    assert sent == [1, 2, 3, 4, 5]
    assert made.pending == 0


def test_queue_packs_batches_by_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BATCH_PAGES", 2)
    made = outbox(MemoryLog())
    for number in range(1, 6):
        made.add(visit(number, OTHERS[1][0]), number)
    assert [pages for _, pages, _ in made.queues[1].batches] == [2, 2]
    assert numbers(made, 1) == [1, 2]


def test_messages_respect_scope_and_depth() -> None:
    page = visit(1, OTHERS[1][0], OTHERS[1][1], OTHERS[2][0])
    depths = []

    def scope(url: str, depth: int) -> bool:
        depths.append(depth)
        return url != OTHERS[2][0]

    made = messages(page, 0, 9, OWNERS, scope, depth=3, seed=False, sums=[])
    assert {owner: message.visit.links.urls for owner, message in made.items()} == {1: OTHERS[1][:2]}
    assert set(depths) == {4}


def test_messages_of_sitemap_contain_its_sources() -> None:
    sitemap = Visit(OTHERS[0][0], "sitemap", "ok", 0, data={"sources": [OTHERS[1][0], OTHERS[0][1]]})
    made = messages(sitemap, 0, 9, OWNERS, lambda node, depth: True, depth=0, seed=False, sums=[])
    assert {owner: message.visit.data for owner, message in made.items()} == {1: {"sources": [OTHERS[1][0]]}}


def test_is_linking_depends_on_kind_and_outcome() -> None:
    assert is_linking(visit(1))
    assert is_linking(Visit("a", "redirect", "redirect", 1))
    assert not is_linking(Visit("a", "page", "gone", 1))
    assert not is_linking(Visit("a", "robots", "ok", 0))
