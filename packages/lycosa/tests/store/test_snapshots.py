"""Snapshots as files: what was written comes back, and what is not as it was written is noticed."""

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
    """A state with collections as they come back, and arrays as something that can be compared."""
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
    """The state in a directory, as anybody reads it."""
    found = Snapshots(directory).read(lambda about: about == ABOUT)
    return None if found is None else whole(found[1])


def some_state(seed: int = 0) -> dict[str, Any]:
    """Some arrays, some of them larger than a block."""
    chance = np.random.default_rng(seed)
    return {
        "column": chance.random(5 * BLOCK // 8 + 3),
        "mostly zeros": np.concatenate([np.zeros(3 * BLOCK, np.uint8), chance.integers(0, 9, 5).astype(np.uint8)]),
        "inner": {"matrix": chance.integers(0, 9, (300, 20)).astype(np.int32), "empty": np.zeros((0, 3), np.float32)},
        "filed": AppendOnly(list(range(90_000)), lambda some: np.array(some, np.int32), filed=True),
        "texts": TextLines(["http://a.test/", "b\udc80", ""]),
        "numbers": [1, 2.5, None, b"\0", "x"],
        "labels": {-5: True},
    }


@pytest.fixture(autouse=True)
def filed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may come back in a file does so although it is small, in several pieces."""
    monkeypatch.setattr(files, "MIN_FILE_BYTES", 100_000)
    monkeypatch.setattr(files, "BLOCKS_PER_READ", 5)


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    """Arrays, texts and plain values, to the last bit; the large one in a file."""
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


def test_arrays_that_come_back_can_be_changed(tmp_path: Path) -> None:
    """They are nobody else's."""
    Snapshots(tmp_path).write(ABOUT, some_state())
    found = Snapshots(tmp_path).read(lambda about: True)
    assert found is not None
    found[1]["column"][0] = 5.0
    assert read(tmp_path) == whole(some_state())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40_000), st.booleans()), min_size=1, max_size=6))
def test_any_changes_come_back(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, bool]]) -> None:
    """Whatever grows, shrinks or changes from one snapshot to the next, also if somebody else goes on writing."""
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


def test_only_what_changed_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block for a changed number, and the last one of what has grown."""
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


def test_a_snapshot_that_does_not_fit_is_not_read(tmp_path: Path) -> None:
    """Whoever reads says what it has to be of."""
    Snapshots(tmp_path).write({**ABOUT, "seq": 8}, some_state())
    assert read(tmp_path) is None
    assert read(tmp_path / "nowhere") is None


@pytest.mark.parametrize("name", [MAP, BLOCKS])
def test_flipped_bits_and_cut_files_are_noticed(tmp_path: Path, name: str) -> None:
    """Wherever a bit is flipped or the file is cut, there is no snapshot; nothing is raised.

    But for the room behind the last bytes of an array, where nothing is kept.
    """
    Snapshots(tmp_path).write(ABOUT, some_state())
    file, chance = tmp_path / NAME / name, np.random.default_rng(3)
    content, kept = file.read_bytes(), 0
    for at in [0, len(content) - 1, *chance.integers(0, len(content), 40).tolist()]:
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


def test_a_file_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    """A map of a snapshot that is larger than its blocks is no reason to make room for it."""
    Snapshots(tmp_path).write(ABOUT, some_state())
    snapshots = Snapshots(tmp_path)
    snapshots.read(lambda about: True)
    for leaf in snapshots._leaves.values():
        leaf.size, leaf.shape = 10**12, [10**12]
    snapshots._write_map(ABOUT, snapshots._leaves, b"\x80")
    assert read(tmp_path) is None


def test_killed_before_the_map_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last snapshot is whole, what the other has left does no harm, and is overwritten."""
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


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """kill -9 while snapshots are written as fast as can be: there always is one, and all of it is of one moment."""
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


def test_texts_of_several_lines_can_not_be_told() -> None:
    """They would come back as others."""
    with pytest.raises(StateMismatch):
        TextLines(["a\nb"]).encode(["a\nb"])


def test_other_values_can_not_be_told(tmp_path: Path) -> None:
    """Only plain ones; the snapshot before stays."""
    Snapshots(tmp_path).write(ABOUT, some_state())
    with pytest.raises(StateMismatch):
        Snapshots(tmp_path).write(ABOUT, {"what": object()})
    with pytest.raises(StateMismatch):
        Snapshots(tmp_path).write(ABOUT, {"what": np.array(["text"])})
    assert read(tmp_path) == whole(some_state())


# -- a directory that somebody else has prepared, and a disk that is nearly full -----------------------------------


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Neither in place of the blocks nor of the directory; nothing of the other file is changed."""
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


def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    """Who reads it has none."""
    Snapshots(tmp_path).write(ABOUT, some_state())
    (tmp_path / NAME / BLOCKS).unlink()
    os.mkfifo(tmp_path / NAME / BLOCKS)
    assert read(tmp_path) is None


def test_a_file_that_is_too_long_is_cut(tmp_path: Path) -> None:
    """A file of terabytes with nothing in it is not looked through."""
    snapshots = Snapshots(tmp_path)
    snapshots.write(ABOUT, some_state())
    os.truncate(tmp_path / NAME / BLOCKS, 1 << 42)
    snapshots.write(ABOUT, some_state(1))
    assert (tmp_path / NAME / BLOCKS).stat().st_size < 2 * MAX_UNREAD_BLOCKS * BLOCK
    assert read(tmp_path) == whole(some_state(1))


def test_a_disk_that_is_nearly_full_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there stays."""
    snapshots = Snapshots(tmp_path)
    snapshots.write(ABOUT, some_state())
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=MIN_FREE_BYTES - 1))
    with pytest.raises(StateMismatch, match="free disk space"):
        snapshots.write(ABOUT, some_state(1))
    assert read(tmp_path) == whole(some_state())


def test_a_log_with_another_word_is_another_log(tmp_path: Path) -> None:
    """A yes is as long as a no."""
    chains = set()
    for relevant in (True, False, None):
        with closing(SqliteLog(tmp_path / f"{relevant}.sqlite")) as log:
            log.append(Label("http://a.test/", relevant, 5.0))
            chains.add(log.chain(log.end()))
    assert 3 == len(chains)
