"""Models as files: what is written comes back, and what is damaged, foreign or hostile is an InputError."""

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

from lycosa.core.errors import InputError
from lycosa.judges.model import KINDS, TrainedModel, fitted
from lycosa.text.bags import Bags

TERMS = ["coral", "reef", "rail", "サンゴ"]
BAGS = Bags.of([([0, 1], [2.0, 1.0]), ([0], [1.0]), ([1, 3], [1.0, 1.0])] + [([2], [2.0]), ([2, 1], [3.0, 1.0])] * 2)
LABELS = np.array([0, 0, 0, 1, 1, 1, 1])
CLASSES = ["Sea/Café", "Trains"]


def trained(kind: str = "nb") -> TrainedModel:
    """A small model."""
    return fitted(kind, BAGS, LABELS, CLASSES, TERMS, 1, {"pages": 7})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small model as bytes."""
    path = tmp_path_factory.mktemp("model") / "m"
    trained().save(path)
    return path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_comes_back(kind: str, tmp_path: Path) -> None:
    """A model of each kind predicts the same after it was saved and loaded, to the last bit."""
    model = trained(kind)
    model.save(tmp_path / "m")
    back = TrainedModel.load(tmp_path / "m")
    assert (CLASSES, TERMS, [3, 4], {"pages": 7}) == (back.classes, back.terms, back.counts, back.facts)
    assert model.classifier.probabilities(BAGS).tolist() == back.classifier.probabilities(BAGS).tolist()
    assert model.digest == back.digest
    assert kind == back.classifier.kind


@pytest.mark.parametrize("kind", ["nb", "svm"])
def test_the_same_pages_give_the_same_file(kind: str, tmp_path: Path) -> None:
    """There is neither time nor chance in a model."""
    for name in ("one", "other"):
        trained(kind).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_the_digest_names_the_model(tmp_path: Path) -> None:
    """Other weights, other digest."""
    assert trained().digest != fitted("nb", BAGS, 1 - LABELS, CLASSES, TERMS, 1, {"pages": 7}).digest


def test_a_person_can_read_what_it_is(written: bytes) -> None:
    """The first lines say the format, and as JSON the kind, the classes and who made it."""
    first, _, third = written.split(b"\n")[:3]
    header = json.loads(third)
    assert b"lycosa-model 1" == first
    assert ("nb", CLASSES) == (header["kind"], header["classes"])
    assert header["by"].startswith("Lycosa")


@settings(max_examples=50, deadline=None)
@given(where=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_any_flipped_bit_is_noticed(where: int, bit: int, written: bytes, tmp_path: Path) -> None:
    """One bit wrong anywhere is an InputError, and nothing else."""
    damaged = bytearray(written)
    damaged[where % len(written)] ^= 1 << bit
    (tmp_path / "m").write_bytes(damaged)
    with pytest.raises(InputError):
        TrainedModel.load(tmp_path / "m")


@settings(max_examples=50, deadline=None)
@given(end=st.integers(0, 10**6), more=st.binary(max_size=20))
def test_any_cut_is_noticed(end: int, more: bytes, written: bytes, tmp_path: Path) -> None:
    """A file that ends early, or goes on with something else, is an InputError."""
    changed = written[: end % len(written)] + more
    if changed == written:
        return
    (tmp_path / "m").write_bytes(changed)
    with pytest.raises(InputError):
        TrainedModel.load(tmp_path / "m")


def sealed(contents: bytes, first: bytes = b"lycosa-model 1") -> bytes:
    """A file whose digest is right, whatever is in it."""
    return first + b"\n" + hashlib.sha256(contents).hexdigest().encode() + b"\n" + contents


@settings(max_examples=50, deadline=None)
@given(where=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_forged_model_is_an_input_error_or_a_model(where: int, value: int, written: bytes, tmp_path: Path) -> None:
    """With the digest made right again, a changed byte gives an InputError or a model whose predictions are numbers."""
    contents = bytearray(written.split(b"\n", 2)[2])
    contents[where % len(contents)] = value
    (tmp_path / "m").write_bytes(sealed(bytes(contents)))
    try:
        model = TrainedModel.load(tmp_path / "m")
    except InputError:
        return
    told = model.classifier.probabilities(BAGS)
    assert np.isfinite(told).all()
    assert (len(BAGS), len(model.classes)) == told.shape


def change(written: bytes, edit: Callable[[dict[str, Any]], object], data: bytes | None = None) -> bytes:
    """A model with another header, and other arrays perhaps."""
    line, _, arrays = written.split(b"\n", 2)[2].partition(b"\n")
    header = json.loads(line)
    edit(header)
    return sealed(json.dumps(header).encode() + b"\n" + (arrays if data is None else data))


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda header: header.__setitem__(key, value)


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (_set("kind", "oracle"), "no kind 'oracle'"),
        (_set("kind", ["nb"]), "contradicts itself"),
        (_set("kind", "svm"), "its arrays are log_theta"),
        (_set("classes", ["a"]), "two or more different names"),
        (_set("classes", ["a", "a"]), "two or more different names"),
        (_set("classes", ["a", 1]), "two or more different names"),
        (_set("classes", ["a", "b\x1b[2J"]), "two or more different names"),
        (_set("classes", ["a", "b", "c"]), "how many pages"),
        (_set("counts", [1, -1]), "not positive"),
        (_set("counts", [1, "1"]), "not positive"),
        (_set("facts", 3), "facts"),
        (_set("arrays", [["terms", "O", [4]]]), "contradicts itself"),
        (_set("arrays", [["terms", "u1", [4]]]), "more in it than it says"),
    ],
)
def test_a_header_that_lies(
    edit: Callable[[dict[str, Any]], object], told: str, written: bytes, tmp_path: Path
) -> None:
    """Whatever a header claims against the file's contents is an InputError that says what and what to do."""
    (tmp_path / "m").write_bytes(change(written, edit))
    with pytest.raises(InputError, match=told) as caught:
        TrainedModel.load(tmp_path / "m")
    assert "lycosa train" in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
def test_weights_that_are_no_numbers(value: float, written: bytes, tmp_path: Path) -> None:
    """NaN and infinity would poison every score."""
    arrays = written.split(b"\n", 3)[3]
    data = arrays[:-4] + np.float32(value).tobytes()
    (tmp_path / "m").write_bytes(change(written, lambda header: None, data))
    with pytest.raises(InputError, match="no numbers"):
        TrainedModel.load(tmp_path / "m")


def test_shapes_have_to_fit(written: bytes, tmp_path: Path) -> None:
    """Arrays with as many numbers, but in another shape, are refused."""

    def turned(header: dict[str, Any]) -> None:
        header["arrays"][1][2].reverse()

    (tmp_path / "m").write_bytes(change(written, turned))
    with pytest.raises(InputError, match="log_theta is of shape"):
        TrainedModel.load(tmp_path / "m")


def test_a_header_nested_without_end(tmp_path: Path) -> None:
    """Brackets ten thousand deep are refused, not a crash."""
    (tmp_path / "m").write_bytes(sealed(b"[" * 100_000 + b"\n"))
    with pytest.raises(InputError, match="contradicts itself"):
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
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    """Other files are no models: empty ones, numpy's with objects in them, zip bombs, pickles that would run."""
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(InputError, match="not a model of Lycosa: name a file that 'lycosa train' made"):
        TrainedModel.load(tmp_path / "m")


def test_no_file(tmp_path: Path) -> None:
    """A missing file and a directory are told apart from a bad one."""
    with pytest.raises(InputError, match=r"cannot read the model .*No such file"):
        TrainedModel.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"cannot read the model .*directory"):
        TrainedModel.load(tmp_path)
    with pytest.raises(InputError, match="cannot write the model"):
        trained().save(tmp_path / "nowhere" / "m")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A model is a file: nothing else is opened."""
    os.mkfifo(tmp_path / "m")
    with pytest.raises(InputError, match="a pipe or a device, not a file"):
        TrainedModel.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("classes", ["a" * 1001, "b"], "more than 1,000 characters"),
        ("arrays", [["terms", "u1", [2_000_000_000] * 100_000]], "100000 dimensions"),
    ],
)
def test_a_header_that_is_too_much(key: str, value: Any, told: str, written: bytes, tmp_path: Path) -> None:
    """Endless names would stand in the record of every page, and endless shapes take minutes to multiply."""
    (tmp_path / "m").write_bytes(change(written, _set(key, value)))
    with pytest.raises(InputError, match=told):
        TrainedModel.load(tmp_path / "m")
