"""Arrays in a file: the layout to the byte, and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.core.state import FileFormat, digest, from_texts, pack, to_texts

NOTES = FileFormat("lycosa-notes", 3, "notebook", "lycosa note")


def taken(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """All that is in a file."""
    return header, arrays


def test_the_layout(tmp_path: Path) -> None:
    """First line, digest, one line of JSON in this order, then the arrays, little-endian: old files stay readable."""
    contents = (
        b'{"kind": "x", "arrays": [["n", "i4", [2]], ["w", "f4", [1, 2]]], "facts": {"pages": 7}}\n'
        b"\x01\x00\x00\x00\xff\xff\xff\xff\x00\x00\x80\x3f\x00\x00\x00\x40"
    )
    expected = b"lycosa-notes 3\n" + hashlib.sha256(contents).hexdigest().encode() + b"\n" + contents
    arrays = {"n": np.array([1, -1], np.int32), "w": np.array([[1.0, 2.0]], np.float32)}
    NOTES.write(tmp_path / "n", pack({"kind": "x"}, arrays, {"pages": 7}))
    assert expected == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u1", ">f4", ">i4"])
def test_arrays_come_back(kind: str, tmp_path: Path) -> None:
    """Numbers of every kind come back as they were, whatever order their bytes were in; so does an empty array."""
    arrays = {"some": np.arange(6).reshape(2, 3).astype(kind), "none": np.zeros((0, 2), kind)}
    NOTES.write(tmp_path / "n", pack({}, arrays, {}))
    _, back = NOTES.read(tmp_path / "n", taken)
    assert [[0, 1, 2], [3, 4, 5]] == back["some"].tolist()
    assert (0, 2) == back["none"].shape


def test_other_kinds_of_arrays_are_not_written() -> None:
    """Objects are not kept, nor what would come back as something else."""
    for array in (np.array([{}]), np.array(["a"]), np.array([1j]), np.array([1], np.int64)):
        with pytest.raises(ValueError, match="cannot be kept"):
            pack({}, {"a": array}, {})


def test_texts_come_back() -> None:
    """Texts in any script, one of them empty."""
    assert ["reef", "", "サンゴ"] == to_texts(from_texts(["reef", "", "サンゴ"]))


def test_the_digest_is_that_of_the_whole() -> None:
    """However it is cut into parts."""
    assert hashlib.sha256(b"abc").hexdigest() == digest([b"a", b"bc"]) == digest([b"abc"])


def test_messages_name_the_thing(tmp_path: Path) -> None:
    """What the file is called, and what makes one."""
    path = tmp_path / "n"
    with pytest.raises(InputError, match=r"cannot read the notebook .*No such file"):
        NOTES.read(path, taken)
    path.write_bytes(b"lycosa-model 3\n")
    with pytest.raises(InputError, match="is not a notebook of Lycosa: name a file that 'lycosa note' made"):
        NOTES.read(path, taken)
    path.write_bytes(b"lycosa-notes 4\n")
    with pytest.raises(InputError, match=r"a notebook of format 4, this Lycosa reads 3: .* with 'lycosa note'"):
        NOTES.read(path, taken)
    path.write_bytes(b"lycosa-notes 3\n0\n{}")
    with pytest.raises(InputError, match=r"the notebook .* is damaged or cut short"):
        NOTES.read(path, taken)
    with pytest.raises(InputError, match="has 19 bytes: no notebook is that large"):
        NOTES.read(path, taken, most=18)
    with pytest.raises(InputError, match=r"cannot write the notebook .*; choose another --out"):
        NOTES.write(tmp_path / "nowhere" / "n", [b""])


@pytest.mark.parametrize(
    "header", [{}, [], {"arrays": [["a", "f8", [2**40]]]}, {"arrays": [["a", "f4", [1.5]]]}, {"arrays": [["a"]]}]
)
def test_headers_that_lie(header: Any, tmp_path: Path) -> None:
    """A header that does not describe what follows is refused before anything is made of it."""
    NOTES.write(tmp_path / "n", [json.dumps(header).encode() + b"\n"])
    with pytest.raises(InputError, match="contradicts itself"):
        NOTES.read(tmp_path / "n", taken)


def test_what_the_reader_refuses(tmp_path: Path) -> None:
    """An error of the one who makes something of the arrays is told as the file's."""

    def refuse(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        raise ValueError("there are no pages")

    NOTES.write(tmp_path / "n", pack({}, {}, {}))
    with pytest.raises(InputError, match=r"contradicts itself \(there are no pages\): copy it again"):
        NOTES.read(tmp_path / "n", refuse)
