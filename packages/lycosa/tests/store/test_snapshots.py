"""Tests of checkpoint files: round trips, damage and kills."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.columns import FileArray
from lycosa.core.state import AppendOnly, StateMismatch, TextLines
from lycosa.core.types import Label
from lycosa.store import snapshots as files
from lycosa.store.log import SqliteLog
from lycosa.store.snapshots import BLOCK, BLOCKS, MAP, MAX_UNREAD_BLOCKS, MIN_FREE_BYTES, NAME, Snapshots

ABOUT = {"seq": 7, "log": "ab"}


def whole(state: Any) -> Any:
    """Return a state with collections as lists and arrays in comparable form."""
    if isinstance(state, dict):
        return {key: whole(value) for key, value in state.items()}
    if isinstance(state, TextLines):
        return list(state.items)
    array = state.encode(list(state.items)) if isinstance(state, AppendOnly) else state
    if isinstance(state, FileArray):
        array = np.zeros(state.nbytes // state.dtype.itemsize, state.dtype)
        state.file.read(array.view(np.uint8).data, 0)
    return (array.dtype.str, array.tolist()) if isinstance(array, np.ndarray) else array


def read(directory: Path) -> Any:
    """Return the state in a directory."""
    found = Snapshots(directory).read(lambda about: about == ABOUT)
    return None if found is None else whole(found[1])


def some_state(seed: int = 0) -> dict[str, Any]:
    """Return arrays, some of them larger than a block."""
    rng = np.random.default_rng(seed)
    return {
        "column": rng.random(5 * BLOCK // 8 + 3),
        "mostly zeros": np.concatenate([np.zeros(3 * BLOCK, np.uint8), rng.integers(0, 9, 5).astype(np.uint8)]),
        "inner": {"matrix": rng.integers(0, 9, (300, 20)).astype(np.int32), "empty": np.zeros((0, 3), np.float32)},
        "filed": AppendOnly(list(range(90_000)), lambda some: np.array(some, np.int32), filed=True),
        "texts": TextLines(["http://a.test/", "b\udc80", ""]),
        "numbers": [1, 2.5, None, b"\0", "x"],
        "labels": {-5: True},
    }


@pytest.fixture(autouse=True)
def filed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore small arrays into files, in several pieces."""
    monkeypatch.setattr(files, "MIN_FILE_BYTES", 100_000)
    monkeypatch.setattr(files, "BLOCKS_PER_READ", 5)


def test_state_round_trip(tmp_path: Path) -> None:
    Snapshots(tmp_path).write(ABOUT, some_state())
    assert read(tmp_path) == whole(some_state())
    found = Snapshots(tmp_path).read(lambda about: True)
    assert found is not None
    assert isinstance(found[1]["filed"], FileArray)
    some = Snapshots(tmp_path).read(lambda about: True, lambda names: names == ("inner", "matrix"))
    assert some is not None
    assert whole(some[1]["inner"]["matrix"]) == whole(some_state()["inner"]["matrix"])
    assert some[1]["column"] is None
    asking_for_more = Snapshots(tmp_path).read(lambda about: True, lambda names: names[1] == "matrix")
    assert asking_for_more is None, "one whose parts are not those that are looked for does not fit"


def test_restored_arrays_are_writable(tmp_path: Path) -> None:
    Snapshots(tmp_path).write(ABOUT, some_state())
    found = Snapshots(tmp_path).read(lambda about: True)
    assert found is not None
    found[1]["column"][0] = 5.0
    assert read(tmp_path) == whole(some_state())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40_000), st.booleans()), min_size=1, max_size=6))
def test_changed_states_round_trip(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, bool]]
) -> None:
    place = tmp_path_factory.mktemp("crawl")
    column, texts, runs = np.zeros(10, np.int32), list[str](), list[int]()
    snapshots = Snapshots(place)
    for what, number, another in steps:
        if what == 0:
            column = np.resize(column, max(1, number))
        elif what == 1:
            column[number % len(column)] += 1
        else:
            texts += [f"text {number} {n}" for n in range(number // 20)]
            runs += range(number)
        state = {
            "column": column,
            "texts": TextLines(texts, lambda text: text.upper()),
            "runs": AppendOnly(runs, lambda some: np.array(some, np.int64)),
        }
        if another:
            snapshots = Snapshots(place)
            snapshots.read(lambda about: True)
        snapshots.write(ABOUT, state)
        assert read(place) == whole({**state, "texts": [text.upper() for text in texts]})


def test_write_changed_blocks_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, texts, written = some_state(), [f"node {n}" for n in range(9000)], list[int]()
    state["texts"] = TextLines(texts)
    snapshots, pwrite = Snapshots(tmp_path), os.pwrite
    snapshots.write(ABOUT, state)
    size = (tmp_path / NAME / BLOCKS).stat().st_size
    state["column"][BLOCK // 8] += 1.0  # the first number of the second block
    texts.append("one more")
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: written.append(len(data)) or pwrite(file, data, at))
    snapshots.write(ABOUT, state)
    assert sorted(written) == sorted([BLOCK, sum(len(text) + 1 for text in texts) % BLOCK])
    assert (tmp_path / NAME / BLOCKS).stat().st_size <= size + 3 * BLOCK
    assert read(tmp_path) == whole(state)


def test_read_returns_none_if_rejected_by_fits(tmp_path: Path) -> None:
    Snapshots(tmp_path).write({**ABOUT, "seq": 8}, some_state())
    assert read(tmp_path) is None
    assert read(tmp_path / "nowhere") is None


@pytest.mark.parametrize("name", [MAP, BLOCKS])
def test_read_detects_flipped_bits_and_truncation(tmp_path: Path, name: str) -> None:
    Snapshots(tmp_path).write(ABOUT, some_state())
    file, rng = tmp_path / NAME / name, np.random.default_rng(3)
    content, kept = file.read_bytes(), 0
    for at in [0, len(content) - 1, *rng.integers(0, len(content), 40).tolist()]:
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        file.write_bytes(flipped)
        found = read(tmp_path)
        assert found is None or (name == BLOCKS and found == whole(some_state()))
        kept += found is not None
        file.write_bytes(content[:at])
        assert read(tmp_path) is None
    assert kept < 21
    file.write_bytes(content)
    assert read(tmp_path) == whole(some_state())


def test_read_rejects_claimed_size(tmp_path: Path) -> None:
    Snapshots(tmp_path).write(ABOUT, some_state())
    snapshots = Snapshots(tmp_path)
    snapshots.read(lambda about: True)
    for leaf in snapshots._leaves.values():
        leaf.size, leaf.shape = 10**12, [10**12]
    snapshots._write_map(ABOUT, snapshots._leaves, b"\x80")
    assert read(tmp_path) is None


def test_failure_before_map_keeps_previous_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = Snapshots(tmp_path)
    snapshots.write(ABOUT, some_state())
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", lambda *given: (_ for _ in ()).throw(OSError(28, "no room")))
        with pytest.raises(OSError, match="no room"):
            snapshots.write(ABOUT, some_state(1))
    assert (tmp_path / NAME / f"{MAP}.new").exists()
    assert read(tmp_path) == whole(some_state())
    snapshots.write(ABOUT, some_state(2))
    assert read(tmp_path) == whole(some_state(2))
    assert not (tmp_path / NAME / f"{MAP}.new").exists()


WRITING = """
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from lycosa.store.snapshots import Snapshots
snapshots, n = Snapshots(Path(sys.argv[1])), 0
while True:
    n += 1
    snapshots.write({"seq": 7, "log": "ab"}, {"a": np.full(400_000, n), "b": np.full(300_000, n), "n": n})
    if n == 1:
        print(flush=True)
"""


def test_kill_at_any_moment_leaves_checkpoint(tmp_path: Path) -> None:
    for pause in (0.0, 0.013, 0.031):
        with subprocess.Popen([sys.executable, "-c", WRITING, str(tmp_path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(pause)
            writer.send_signal(signal.SIGKILL)
        found = Snapshots(tmp_path).read(lambda about: about == ABOUT)
        assert found is not None
        state = found[1]
        assert set(state["a"].tolist()) == set(state["b"].tolist()) == {state["n"]}


def test_texts_with_line_breaks_are_refused() -> None:
    with pytest.raises(StateMismatch):
        TextLines(["a\nb"]).encode(["a\nb"])


def test_unsupported_values_are_refused(tmp_path: Path) -> None:
    Snapshots(tmp_path).write(ABOUT, some_state())
    with pytest.raises(StateMismatch):
        Snapshots(tmp_path).write(ABOUT, {"what": object()})
    with pytest.raises(StateMismatch):
        Snapshots(tmp_path).write(ABOUT, {"what": np.array(["text"])})
    assert read(tmp_path) == whole(some_state())


def test_symbolic_links_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / BLOCKS).symlink_to(other)
    with pytest.raises(OSError, match=BLOCKS):
        Snapshots(tmp_path).write(ABOUT, some_state())
    (tmp_path / NAME / BLOCKS).unlink()
    (tmp_path / NAME / f"{MAP}.new").symlink_to(other)
    Snapshots(tmp_path).write(ABOUT, some_state())
    assert (b"mine", whole(some_state())) == (other.read_bytes(), read(tmp_path))
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / NAME).symlink_to(tmp_path / NAME)
    with pytest.raises(StateMismatch, match="symbolic link"):
        Snapshots(tmp_path / "crawl").write(ABOUT, some_state())


def test_read_does_not_wait_for_pipe(tmp_path: Path) -> None:
    Snapshots(tmp_path).write(ABOUT, some_state())
    (tmp_path / NAME / BLOCKS).unlink()
    os.mkfifo(tmp_path / NAME / BLOCKS)
    assert read(tmp_path) is None


def test_write_truncates_oversized_file(tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path)
    snapshots.write(ABOUT, some_state())
    os.truncate(tmp_path / NAME / BLOCKS, 1 << 42)
    snapshots.write(ABOUT, some_state(1))
    assert (tmp_path / NAME / BLOCKS).stat().st_size < 2 * MAX_UNREAD_BLOCKS * BLOCK
    assert read(tmp_path) == whole(some_state(1))


def test_write_refuses_nearly_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = Snapshots(tmp_path)
    snapshots.write(ABOUT, some_state())
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=MIN_FREE_BYTES - 1))
    with pytest.raises(StateMismatch, match="free disk space"):
        snapshots.write(ABOUT, some_state(1))
    assert read(tmp_path) == whole(some_state())


def test_chain_covers_labels(tmp_path: Path) -> None:
    chains = set()
    for relevant in (True, False, None):
        with closing(SqliteLog(tmp_path / f"{relevant}.sqlite")) as log:
            log.append(Label("http://a.test/", relevant, 5.0))
            chains.add(log.chain(log.end()))
    assert 3 == len(chains)
