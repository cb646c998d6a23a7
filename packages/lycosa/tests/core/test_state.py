"""Tests of array files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.state import FileFormat, digest, from_texts, pack, to_texts

NOTES = FileFormat("lycosa-notes", 3, "notebook", "lycosa note")


def taken(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return header, arrays


def test_pack_writes_documented_layout(tmp_path: Path) -> None:
    contents = (
        b'{"kind": "x", "arrays": [["n", "i4", [2]], ["w", "f4", [1, 2]]], "facts": {"pages": 7}}\n'
        b"\x01\x00\x00\x00\xff\xff\xff\xff\x00\x00\x80\x3f\x00\x00\x00\x40"
    )
    expected = b"lycosa-notes 3\n" + hashlib.sha256(contents).hexdigest().encode() + b"\n" + contents
    arrays = {"n": np.array([1, -1], np.int32), "w": np.array([[1.0, 2.0]], np.float32)}
    NOTES.write(tmp_path / "n", pack({"kind": "x"}, arrays, {"pages": 7}))
    assert expected == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u1", ">f4", ">i4"])
def test_read_returns_arrays(kind: str, tmp_path: Path) -> None:
    arrays = {"some": np.arange(6).reshape(2, 3).astype(kind), "none": np.zeros((0, 2), kind)}
    NOTES.write(tmp_path / "n", pack({}, arrays, {}))
    _, back = NOTES.read(tmp_path / "n", taken)
    assert [[0, 1, 2], [3, 4, 5]] == back["some"].tolist()
    assert (0, 2) == back["none"].shape


def test_pack_refuses_other_types() -> None:
    for array in (np.array([{}]), np.array(["a"]), np.array([1j]), np.array([1], np.int64)):
        with pytest.raises(ValueError, match="cannot be stored"):
            pack({}, {"a": array}, {})


def test_from_texts_round_trip() -> None:
    assert ["reef", "", "サンゴ"] == to_texts(from_texts(["reef", "", "サンゴ"]))


def test_digest_is_independent_of_parts() -> None:
    assert hashlib.sha256(b"abc").hexdigest() == digest([b"a", b"bc"]) == digest([b"abc"])


def test_read_errors_name_file_kind_and_command(tmp_path: Path) -> None:
    path = tmp_path / "n"
    with raises_input_error("unreadable-file", "cannot read the notebook .*No such file"):
        NOTES.read(path, taken)
    path.write_bytes(b"lycosa-model 3\n")
    with raises_input_error("wrong-file", "is not a"):
        NOTES.read(path, taken)
    path.write_bytes(b"lycosa-notes 4\n")
    with raises_input_error("bad-version", "a notebook of format 4: expected 3; .* with 'lycosa note'"):
        NOTES.read(path, taken)
    path.write_bytes(b"lycosa-notes 3\n0\n{}")
    with raises_input_error("bad-file", "the notebook .* is damaged or cut short"):
        NOTES.read(path, taken)
    with raises_input_error("too-large", "has 19 bytes"):
        NOTES.read(path, taken, max_bytes=18)
    with raises_input_error("unwritable-file", "cannot write the notebook .*; choose another --out"):
        NOTES.write(tmp_path / "nowhere" / "n", [b""])


@pytest.mark.parametrize(
    "header", [{}, [], {"arrays": [["a", "f8", [2**40]]]}, {"arrays": [["a", "f4", [1.5]]]}, {"arrays": [["a"]]}]
)
def test_read_refuses_wrong_headers(header: Any, tmp_path: Path) -> None:
    NOTES.write(tmp_path / "n", [json.dumps(header).encode() + b"\n"])
    with raises_input_error("bad-file", "is inconsistent"):
        NOTES.read(tmp_path / "n", taken)


def test_read_reports_errors_of_constructor(tmp_path: Path) -> None:
    def refuse(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        raise ValueError("there are no pages")

    NOTES.write(tmp_path / "n", pack({}, {}, {}))
    with raises_input_error("bad-file", r"is inconsistent \(there are no pages\): restore it"):
        NOTES.read(tmp_path / "n", refuse)
