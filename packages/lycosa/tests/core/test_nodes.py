"""Tests of node names and the hash table from name to row."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core import nodes as module
from lycosa.core.nodes import EMPTY, Fingerprints, Nodes, RowIndex, fingerprints


def test_fingerprints_equal_dict() -> None:
    chance = np.random.default_rng(5)
    made, model = Fingerprints(), dict[int, int]()
    for turn in range(60):
        keys = np.unique(chance.integers(0, 4000, 200).astype(np.uint64) * np.uint64(1 << 5 * (turn % 3)))
        numbers = chance.integers(-9, 9, len(keys)).astype(np.int32)
        numbers[numbers == EMPTY] = 0
        if turn % 2:
            made.put_all(keys, numbers)
        else:
            for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
                made.put(key, number)
        model.update(zip(keys.tolist(), numbers.tolist(), strict=True))
        asked = np.concatenate([keys, chance.integers(0, 1 << 16, 100).astype(np.uint64)])
        assert [model.get(key, EMPTY) for key in asked.tolist()] == made.find(asked).tolist()
        assert len(model) == len(made)
    again = Fingerprints()
    again.restore({name: array.copy() for name, array in made.state().items()})
    everything = np.array(list(model), np.uint64)
    assert list(model.values()) == again.find(everything).tolist()
    assert len(model) == len(again)


@pytest.mark.parametrize("collisions", [False, True])
def test_row_index_equals_dict_despite_collisions(monkeypatch: pytest.MonkeyPatch, collisions: bool) -> None:
    monkeypatch.setattr(module, "MAX_PLAIN_NAMES", 40)
    if collisions:
        monkeypatch.setattr(module, "fingerprints", lambda texts: fingerprints([text[:-1] for text in texts]))
    nodes = Nodes()
    known = RowIndex(nodes)
    names = [f"http://ä{number % 7}.test/{number}" for number in range(100)] + ["", "\udcff", "two\nlines"]
    for row, name in enumerate(names):
        assert known.get(name) is None
        assert name not in known
        nodes.append(name)
        known[name] = row
    assert list(range(len(names))) == known.rows(names)
    assert [None] == known.rows(["http://nobody.test/"])
    assert names == nodes
    assert len(names) == len(known)
    assert bool(known.colliding_rows) == collisions
    other_nodes = Nodes()
    other = RowIndex(other_nodes)
    other_nodes.restore({name: array.copy() for name, array in nodes.state().items()})
    other.restore(known.state())
    assert list(range(len(names))) == other.rows(names)
    for row in [*range(0, 100, 2)] * 4:  # longer names, so that the memory of old ones is freed
        other_nodes[row] = str(row) * 30_000
    monkeypatch.setattr(module, "AT_ONCE", 7)
    expected, used = list(other_nodes), len(other_nodes.state()["bytes"])
    other_nodes.tidy()
    other_nodes.tidy()
    assert expected == other_nodes
    assert len(other_nodes.state()["bytes"]) < 0.6 * used
    assert ["0" * 30_000, names[1]] == other_nodes[:2]
