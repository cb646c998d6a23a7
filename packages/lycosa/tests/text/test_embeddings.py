"""Text embeddings: comparison with wordllama, weights by hand, caches, missing files."""

import json
import logging
import math
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from input_errors import raises_input_error
from lycosa.text import embeddings
from lycosa.text.background import Background
from lycosa.text.embeddings import DIMENSIONS, unit, vectors, word_vectors
from places import ROOT


@pytest.fixture
def fresh() -> Iterator[None]:
    """Clear the cached vectors before and after the test."""
    embeddings._model.cache_clear()
    yield
    embeddings._model.cache_clear()


STEP = 1 / 320


STOCK = """
import json, sys
from lycosa.text.embeddings import vectors
ours, imported = vectors(sys.argv[1:]), "wordllama" in sys.modules
import wordllama
from pathlib import Path
model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
print(json.dumps([imported, ours.tolist(), model.embed(sys.argv[1:]).tolist()]))
"""


def test_vectors_of_words_equal_wordllama() -> None:
    words = ["coral", "unbelievable", "x2y"]
    output = subprocess.run([sys.executable, "-c", STOCK, *words], capture_output=True, text=True, check=True).stdout
    imported, ours, theirs = json.loads(output)
    assert not imported
    # both have rounded vectors of word pieces, and ours of words, too
    assert unit(np.array(theirs)) == pytest.approx(np.array(ours), abs=2 * STEP)


def test_vectors_weigh_words_by_position() -> None:
    """A word at position p has log(1 + 1 / (1 + p / 300)): log(1 + 1) a + log(1 + 1 / (1 + 1/300)) b for two words."""
    coral, reef = vectors(["coral", "reef"])
    expected = unit(math.log(1 + 1) * coral + math.log(1 + 1 / (1 + 1 / 300)) * reef)
    assert expected == pytest.approx(vectors(["the Coral of a REEF"])[0], abs=STEP)


def test_vectors_weigh_repeated_words() -> None:
    """Positions of repeated words are added: 0 and 300 give f = 1 + 1 / (1 + 300/300) = 1.5, a weight of log(2.5)."""
    between = ["coral"] * 299
    words = vectors(["reef", "coral"])
    f_coral = sum(1 / (1 + place / 300) for place in range(1, 300))
    expected = unit(math.log(2.5) * words[0] + math.log(1 + f_coral) * words[1])
    assert expected == pytest.approx(vectors([" ".join(["reef", *between, "reef"])])[0], abs=STEP)


def test_vectors_omit_rare_words_on_request() -> None:
    text, known = "coral organisms zyxomma lycosidae", "coral organisms"
    assert vectors([known])[0] == pytest.approx(vectors([text], rare=False)[0], abs=0.01)
    assert vectors([known])[0] @ vectors([text])[0] < 0.95
    assert not vectors(["zyxomma lycosidae"], rare=False).any()


def test_vectors_rows_have_length_1_or_0() -> None:
    rows = vectors(["coral reef", "", "the of and", "\x01\x02 ... \x00", "coral\x01 reef"])
    assert ((5, DIMENSIONS), np.float32) == (rows.shape, rows.dtype)
    assert [1.0, 0.0, 0.0, 0.0, 1.0] == pytest.approx(np.linalg.norm(rows, axis=1).tolist())
    assert rows[0] == pytest.approx(rows[4], abs=1e-6)
    assert (0, DIMENSIONS) == vectors([]).shape


def test_vectors_are_independent_of_batch() -> None:
    texts = ["coral reef", "サンゴ礁", "Обесцвечивание кораллов", "🪸 fish\ud800", "naïve café", "a" * 500, ""]
    together = vectors(texts)
    for text, row in zip(texts, together, strict=True):
        assert row == pytest.approx(vectors([text])[0], abs=1e-6)


def test_vectors_of_related_words_are_near() -> None:
    doctor, physician, cat, kitten = vectors(["doctor", "physician", "cat", "kitten"])
    assert doctor @ physician > 0.5
    assert cat @ kitten > 0.3
    assert abs(doctor @ kitten) < 0.2


def test_vectors_skip_stop_words_of_language() -> None:
    german, english, without = vectors(["die Riffe"], "de"), vectors(["die Riffe"]), vectors(["Riffe"])
    assert without[0] == pytest.approx(german[0], abs=1e-6)
    assert abs(without[0] @ english[0]) < 0.9


def test_vectors_ignore_end_of_huge_texts() -> None:
    start = "coral reef " * 20_000
    assert vectors([start[: embeddings.MAX_CHARACTERS]])[0] == pytest.approx(
        vectors([start + "train " * 9999])[0], abs=1e-6
    )


def test_vectors_are_equal_after_cache_was_emptied(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    expected = vectors(["coral reef"])
    monkeypatch.setattr(embeddings, "MAX_CACHED_WORDS", 10)
    monkeypatch.setattr(embeddings, "MAX_CACHED_LANGUAGES", 2)
    for number in range(5):
        vectors([" ".join(f"word{number}x{n}" for n in range(20))], ("en", "de", "fr", "es", "it")[number])
    assert expected[0] == pytest.approx(vectors(["coral reef"])[0], abs=1e-6)
    assert len(embeddings._model()._words) <= 2


@pytest.mark.parametrize(
    "words", [["reefs", "the", "x", "bleaching", "covid19", "q" * 41], ["étoile", "reef"], ["reef"], []]
)
def test_word_vectors_equal_vectors(words: list[str]) -> None:
    assert word_vectors(words).tobytes() == vectors(words).tobytes()


def test_vectors_open_no_sockets(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    def no_socket(*_: Any, **__: Any) -> None:
        raise AssertionError("something connects")

    monkeypatch.setattr(socket.socket, "connect", no_socket)
    before = list(logging.getLogger().handlers)
    assert vectors(["coral"]).any()
    assert before == logging.getLogger().handlers


def test_hatch_build_reproduces_files(tmp_path: Path) -> None:
    spec = spec_from_file_location("vectors", ROOT / "packages" / "lycosa" / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.make(tmp_path)
    for name in embeddings.FILES:
        assert (tmp_path / name).read_bytes() == (embeddings.VECTORS_DIRECTORY / name).read_bytes(), name
    assert "Lee Miller" in (embeddings.VECTORS_DIRECTORY / "LICENSE").read_text()


def test_pieces_cut_like_tokenizer() -> None:
    package = distribution("wordllama")
    config = package.locate_file("wordllama/tokenizers/l2_supercat_tokenizer_config.json")
    cutter = Tokenizer.from_file(str(config)).model
    draw = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789éüñßабвгサンゴ礁中文عربي한국🪸"
    odd = ["".join(draw.choices(letters, k=draw.randint(1, 41))) for _ in range(4_000)]
    ours = embeddings.Pieces.load()
    for word in [*list(Background.load().frequency)[::3], *odd, "a" * 41]:
        assert [piece.id for piece in cutter.tokenize(embeddings.WORD + word)] == ours.cut(word), word


def test_pieces_load_rejects_broken_files(tmp_path: Path) -> None:
    vectors_file, pieces_file = (embeddings.VECTORS_DIRECTORY / name for name in embeddings.FILES)
    contents = json.loads(pieces_file.read_text("utf-8"))
    short = json.dumps({**contents, "pieces": contents["pieces"][:10]}).encode()
    for number, (rows, names) in enumerate(
        [
            (None, pieces_file.read_bytes()),
            (vectors_file.read_bytes()[:1000], pieces_file.read_bytes()),
            (vectors_file.read_bytes(), b"{"),
            (vectors_file.read_bytes(), b"[]"),
            (vectors_file.read_bytes(), short),
        ]
    ):
        (place := tmp_path / str(number)).mkdir()
        if rows is not None:
            (place / embeddings.FILES[0]).write_bytes(rows)
        (place / embeddings.FILES[1]).write_bytes(names)
        with raises_input_error("unreadable-file"):
            embeddings.Pieces.load(place)
