"""Change processes and the edits of a page."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lycosa.testweb.change_history import (
    COSMETICS,
    MAX_ADDED_LINKS,
    MONTH,
    PROCESSES,
    Block,
    ChangingPage,
    Edit,
    Life,
    Process,
    State,
    apply,
    draw_process,
    edits,
)
from lycosa.testweb.site_graph import SiteGraph

GRAPH = SiteGraph(1, 300, 12)
PAGE = ChangingPage(100, 0, GRAPH.topic(100))
STATE = State(PAGE.topic, tuple(Block(0, number, PAGE.topic) for number in range(5)), 5, table=(0, 0, 0, 0))


def changed(state: State, *kinds: str) -> State:
    for number, kind in enumerate(kinds, 1):
        state = apply(state, Edit(float(number), kind), PAGE, GRAPH, lambda page: frozenset(GRAPH.links(page)))
    return state


def test_draw_process_follows_shares() -> None:
    names = [draw_process((number,), PROCESSES, True, True).name for number in range(1000)]
    for name, share in PROCESSES.items():
        assert abs(names.count(name) / 1000 - share) < 0.06


def test_draw_process_without_topic_or_table_omits_their_edits() -> None:
    process = draw_process((7,), PROCESSES, False, False)
    kinds = {kind for _, kind in process.real_edits}
    assert "text" not in kinds
    assert not kinds & {"topic", "table"}
    assert process.real_edits[-1][0] == pytest.approx(1.0)


def test_edits_are_sorted_and_within_month() -> None:
    for number in range(60):
        process = draw_process((number,), PROCESSES, True, True)
        times = [edit.at for edit in edits(process, (number,), 3)]
        assert times == sorted(times)
        assert all(3 * MONTH <= at < 4 * MONTH for at in times)


def test_edits_daily_skip_weekends() -> None:
    daily = Process("daily", 5 / 7, phase=0.5, weekends=False, real_edits=((1.0, "replace"),))
    days = [int(edit.at) % 7 for edit in edits(daily, (1,), 0)]
    assert set(days) == {0, 1, 2, 3, 4}


def test_edits_in_bursts_come_within_hours() -> None:
    bursty = Process("bursty", 10 / 32, real_edits=((1.0, "replace"),))
    times = [edit.at for edit in edits(bursty, (1,), 0)]
    assert 4 <= len(times) <= 16
    assert times[-1] - times[0] < 8 / 24


def test_edits_share_decides_real_or_cosmetic() -> None:
    process = Process("constant", 20.0, share=0.5, real_edits=((1.0, "add"),), cosmetic_edits=COSMETICS)
    made = edits(process, (1,), 0)
    assert abs(sum(edit.real for edit in made) / len(made) - 0.5) < 0.1
    assert {edit.how for edit in made if not edit.real} == set(COSMETICS)
    assert edits(replace(process, pace=0.0), (1,), 0) == []


def test_apply_cosmetic_edit_keeps_content() -> None:
    after = changed(STATE, "views", "views", "stamp")
    assert after == replace(STATE, every=3, touched=3.0, cosmetic_counts=after.cosmetic_counts)
    assert after.cosmetic_counts[COSMETICS.index("views")] == 2
    assert after.changed is None


def test_apply_bounds_paragraphs_and_links() -> None:
    assert len(changed(STATE, *["add"] * 30).blocks) == STATE.first + 6
    assert len(changed(STATE, *["drop"] * 30).blocks) == 3
    links = changed(STATE, *["link"] * 30).links
    assert len(links) == len(set(links)) == MAX_ADDED_LINKS


def test_apply_never_repeats_state() -> None:
    states = [STATE]
    for kind in ["replace", "table", "title", "structure", "add", "topic", "topic"] * 3:
        states.append(changed(states[-1], kind))
    content = [(state.blocks, state.table, state.title, state.layout) for state in states]
    assert len(set(content)) == len(content)
    assert all(sum(after.table) >= sum(before.table) for before, after in pairwise(states))


def test_apply_topic_edit_changes_topic_and_back() -> None:
    turned = changed(STATE, "topic")
    assert turned.topic != PAGE.topic
    assert {block.topic for block in turned.blocks} == {turned.topic}
    assert changed(turned, "topic").topic == PAGE.topic


def test_life_is_absent_until_return() -> None:
    life = Life("returns", 3.0, 5.0)
    assert [life.absent(at) for at in (2.9, 3.0, 4.9, 5.0)] == [False, True, True, False]
    assert not Life("moved", 3.0).absent(4.0)
