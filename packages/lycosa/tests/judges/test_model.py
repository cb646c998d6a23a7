"""TrainedModel: files are reproducible, and damaged, foreign or hostile files raise InputError."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.judges.model import KINDS, TrainedModel, fit_model
from lycosa.text.bags import Bags

TERMS = ["coral", "reef", "rail", "サンゴ"]
BAGS = Bags.of([([0, 1], [2.0, 1.0]), ([0], [1.0]), ([1, 3], [1.0, 1.0])] + [([2], [2.0]), ([2, 1], [3.0, 1.0])] * 2)
LABELS = np.array([0, 0, 0, 1, 1, 1, 1])
CLASSES = ["Sea/Café", "Trains"]


def trained(kind: str = "nb") -> TrainedModel:
    return fit_model(kind, BAGS, LABELS, CLASSES, TERMS, 1, {"pages": 7})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "m"
    trained().save(path)
    return path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_save_and_load_round_trip(kind: str, tmp_path: Path) -> None:
    model = trained(kind)
    model.save(tmp_path / "m")
    back = TrainedModel.load(tmp_path / "m")
    assert (CLASSES, TERMS, [3, 4], {"pages": 7}) == (back.classes, back.terms, back.counts, back.facts)
    assert model.classifier.probabilities(BAGS).tolist() == back.classifier.probabilities(BAGS).tolist()
    assert model.digest == back.digest
    assert kind == back.classifier.kind


@pytest.mark.parametrize("kind", ["nb", "svm"])
def test_save_is_deterministic(kind: str, tmp_path: Path) -> None:
    for name in ("one", "other"):
        trained(kind).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_digest_depends_on_weights(tmp_path: Path) -> None:
    assert trained().digest != fit_model("nb", BAGS, 1 - LABELS, CLASSES, TERMS, 1, {"pages": 7}).digest


def test_save_writes_readable_header(written: bytes) -> None:
    first, _, third = written.split(b"\n")[:3]
    header = json.loads(third)
    assert b"lycosa-model 1" == first
    assert ("nb", CLASSES) == (header["kind"], header["classes"])
    assert header["by"].startswith("Lycosa")


@settings(max_examples=50, deadline=None)
@given(where=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_load_rejects_flipped_bits(where: int, bit: int, written: bytes, tmp_path: Path) -> None:
    damaged = bytearray(written)
    damaged[where % len(written)] ^= 1 << bit
    (tmp_path / "m").write_bytes(damaged)
    with pytest.raises(InputError):
        TrainedModel.load(tmp_path / "m")


@settings(max_examples=50, deadline=None)
@given(end=st.integers(0, 10**6), more=st.binary(max_size=20))
def test_load_rejects_truncated_files(end: int, more: bytes, written: bytes, tmp_path: Path) -> None:
    changed = written[: end % len(written)] + more
    if changed == written:
        return
    (tmp_path / "m").write_bytes(changed)
    with pytest.raises(InputError):
        TrainedModel.load(tmp_path / "m")


def sealed(contents: bytes, first: bytes = b"lycosa-model 1") -> bytes:
    """Return a file with a valid digest around any contents."""
    return first + b"\n" + hashlib.sha256(contents).hexdigest().encode() + b"\n" + contents


@settings(max_examples=50, deadline=None)
@given(where=st.integers(0, 10**6), value=st.integers(0, 255))
def test_load_forged_file_raises_or_predicts(where: int, value: int, written: bytes, tmp_path: Path) -> None:
    contents = bytearray(written.split(b"\n", 2)[2])
    contents[where % len(contents)] = value
    (tmp_path / "m").write_bytes(sealed(bytes(contents)))
    try:
        model = TrainedModel.load(tmp_path / "m")
    except InputError:
        return
    probabilities = model.classifier.probabilities(BAGS)
    assert np.isfinite(probabilities).all()
    assert (len(BAGS), len(model.classes)) == probabilities.shape


def change(written: bytes, edit: Callable[[dict[str, Any]], object], data: bytes | None = None) -> bytes:
    """Return a model file with an edited header and, if given, other arrays."""
    line, _, arrays = written.split(b"\n", 2)[2].partition(b"\n")
    header = json.loads(line)
    edit(header)
    return sealed(json.dumps(header).encode() + b"\n" + (arrays if data is None else data))


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda header: header.__setitem__(key, value)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (_set("kind", "oracle"), "unknown kind 'oracle'"),
        (_set("kind", ["nb"]), "is inconsistent"),
        (_set("kind", "svm"), "the arrays of the file are log_theta"),
        (_set("classes", ["a"]), "fewer than two classes, or invalid or duplicate"),
        (_set("classes", ["a", "a"]), "fewer than two classes, or invalid or duplicate"),
        (_set("classes", ["a", 1]), "fewer than two classes, or invalid or duplicate"),
        (_set("classes", ["a", "b\x1b[2J"]), "fewer than two classes, or invalid or duplicate"),
        (_set("classes", ["a", "b", "c"]), "differ in number"),
        (_set("counts", [1, -1]), "not positive"),
        (_set("counts", [1, "1"]), "not positive"),
        (_set("facts", 3), "facts"),
        (_set("arrays", [["terms", "O", [4]]]), "is inconsistent"),
        (_set("arrays", [["terms", "u1", [4]]]), "bytes follow the last array"),
    ],
)
def test_load_rejects_inconsistent_headers(
    edit: Callable[[dict[str, Any]], object], message: str, written: bytes, tmp_path: Path
) -> None:
    (tmp_path / "m").write_bytes(change(written, edit))
    with raises_input_error("bad-file", message) as caught:
        TrainedModel.load(tmp_path / "m")
    assert "lycosa train" in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
def test_load_rejects_non_finite_weights(value: float, written: bytes, tmp_path: Path) -> None:
    arrays = written.split(b"\n", 3)[3]
    data = arrays[:-4] + np.float32(value).tobytes()
    (tmp_path / "m").write_bytes(change(written, lambda header: None, data))
    with raises_input_error("bad-file", "not numbers"):
        TrainedModel.load(tmp_path / "m")


def test_load_rejects_wrong_shapes(written: bytes, tmp_path: Path) -> None:
    def reverse_shape(header: dict[str, Any]) -> None:
        header["arrays"][1][2].reverse()

    (tmp_path / "m").write_bytes(change(written, reverse_shape))
    with raises_input_error("bad-file", "log_theta has shape"):
        TrainedModel.load(tmp_path / "m")


def test_load_rejects_deeply_nested_header(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(sealed(b"[" * 100_000 + b"\n"))
    with raises_input_error("bad-file", "is inconsistent"):
        TrainedModel.load(tmp_path / "m")


def _npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, weights=np.array([{"an": "object"}], object))
    return file.getvalue()


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("zeros", bytes(10_000_000))
    return file.getvalue()


class _Trap:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"PK", b"lycosa-mode", _npz(), _zip(), pickle.dumps(_Trap())], ids=range(7)
)
def test_load_rejects_foreign_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(content)
    with raises_input_error("wrong-file", "not a model"):
        TrainedModel.load(tmp_path / "m")


def test_load_and_save_report_missing_files(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", "cannot read the model .*No such file"):
        TrainedModel.load(tmp_path / "nowhere")
    with raises_input_error("unreadable-file", "cannot read the model .*directory"):
        TrainedModel.load(tmp_path)
    with raises_input_error("unwritable-file", "cannot write the"):
        trained().save(tmp_path / "nowhere" / "m")


def test_load_does_not_open_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m")
    with raises_input_error("not-a-file", "a pipe or"):
        TrainedModel.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("classes", ["a" * 1001, "b"], "more than 1,000 characters"),
        ("arrays", [["terms", "u1", [2_000_000_000] * 100_000]], "100000 dimensions"),
    ],
)
def test_load_rejects_huge_headers(key: str, value: Any, message: str, written: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(change(written, _set(key, value)))
    with raises_input_error("bad-file", message):
        TrainedModel.load(tmp_path / "m")
