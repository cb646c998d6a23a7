"""Texts as vectors: what they are made of, what they cost, and what happens where they are missing."""

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
    """Vectors that are read anew, before and after."""
    embeddings._model.cache_clear()
    yield
    embeddings._model.cache_clear()


STEP = 1 / 320
"""Vectors of words are rounded: none of their numbers is off by more than half of this."""


STOCK = """
import json, sys
from lycosa.text.embeddings import vectors
ours, imported = vectors(sys.argv[1:]), "wordllama" in sys.modules
import wordllama
from pathlib import Path
model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
print(json.dumps([imported, ours.tolist(), model.embed(sys.argv[1:]).tolist()]))
"""
"""Our way and wordllama's own, in a process of their own."""


def test_one_word_is_what_the_package_says() -> None:
    """The vector of a word points where wordllama's own does, though its code does not run."""
    words = ["coral", "unbelievable", "x2y"]
    told = subprocess.run([sys.executable, "-c", STOCK, *words], capture_output=True, text=True, check=True).stdout
    imported, ours, theirs = json.loads(told)
    assert not imported
    assert unit(np.array(theirs)) == pytest.approx(np.array(ours), abs=2 * STEP)  # pieces are rounded, then words


def test_two_words_are_their_sum() -> None:
    """Each word has length 1; the first is at place 0, the second at 1: log(1 + 1) a + log(1 + 1 / (1 + 1/300)) b."""
    coral, reef = vectors(["coral", "reef"])
    expected = unit(math.log(1 + 1) * coral + math.log(1 + 1 / (1 + 1 / 300)) * reef)
    assert expected == pytest.approx(vectors(["the Coral of a REEF"])[0], abs=STEP)


def test_a_repeated_word_counts_by_its_places() -> None:
    """reef at 0 and at 300, others between: f = 1 + 1 / (1 + 300/300) = 1.5, its weight log(2.5)."""
    between = ["coral"] * 299
    words = vectors(["reef", "coral"])
    f_coral = sum(1 / (1 + place / 300) for place in range(1, 300))
    expected = unit(math.log(2.5) * words[0] + math.log(1 + f_coral) * words[1])
    assert expected == pytest.approx(vectors([" ".join(["reef", *between, "reef"])])[0], abs=STEP)


def test_without_rare_words() -> None:
    """A word that is one piece, and one that is not but common (organisms), count; what is neither does not."""
    text, known = "coral organisms zyxomma lycosidae", "coral organisms"
    assert vectors([known])[0] == pytest.approx(vectors([text], rare=False)[0], abs=0.01)
    assert vectors([known])[0] @ vectors([text])[0] < 0.95
    assert not vectors(["zyxomma lycosidae"], rare=False).any()


def test_rows() -> None:
    """One float32 row of length 1 for each text, zeros where no word counts; none for none."""
    rows = vectors(["coral reef", "", "the of and", "\x01\x02 ... \x00", "coral\x01 reef"])
    assert ((5, DIMENSIONS), np.float32) == (rows.shape, rows.dtype)
    assert [1.0, 0.0, 0.0, 0.0, 1.0] == pytest.approx(np.linalg.norm(rows, axis=1).tolist())
    assert rows[0] == pytest.approx(rows[4], abs=1e-6)
    assert (0, DIMENSIONS) == vectors([]).shape


def test_a_text_is_the_same_in_company() -> None:
    """What else is asked for at the same time does not matter, nor what was asked before."""
    texts = ["coral reef", "サンゴ礁", "Обесцвечивание кораллов", "🪸 fish\ud800", "naïve café", "a" * 500, ""]
    together = vectors(texts)
    for text, row in zip(texts, together, strict=True):
        assert row == pytest.approx(vectors([text])[0], abs=1e-6)


def test_meaning() -> None:
    """Words of like meaning are nearer than others, though they share no letters."""
    doctor, physician, cat, kitten = vectors(["doctor", "physician", "cat", "kitten"])
    assert doctor @ physician > 0.5
    assert cat @ kitten > 0.3
    assert abs(doctor @ kitten) < 0.2


def test_stop_words_are_those_of_the_language() -> None:
    """'die' is left out of a German text, and not of an English one."""
    german, english, without = vectors(["die Riffe"], "de"), vectors(["die Riffe"]), vectors(["Riffe"])
    assert without[0] == pytest.approx(german[0], abs=1e-6)
    assert abs(without[0] @ english[0]) < 0.9


def test_the_end_of_a_huge_text_is_not_read() -> None:
    """Beyond 200,000 characters nothing counts."""
    start = "coral reef " * 20_000
    assert vectors([start[: embeddings.MAX_CHARACTERS]])[0] == pytest.approx(
        vectors([start + "train " * 9999])[0], abs=1e-6
    )


def test_words_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    """With more words than may be kept they are met anew, and nothing changes."""
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
def test_single_words_have_the_vectors_of_texts(words: list[str]) -> None:
    """To the last bit: words that are one piece and several, stop words, what is no word, and beyond ASCII."""
    assert word_vectors(words).tobytes() == vectors(words).tobytes()


def test_nothing_is_loaded_from_the_network(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    """No socket is opened, and no handler is put on the log of the process."""

    def no_socket(*_: Any, **__: Any) -> None:
        raise AssertionError("something connects")

    monkeypatch.setattr(socket.socket, "connect", no_socket)
    before = list(logging.getLogger().handlers)
    assert vectors(["coral"]).any()
    assert before == logging.getLogger().handlers


def test_the_files_are_made_from_wordllama(tmp_path: Path) -> None:
    """hatch_build.py makes the same files again, so no more than rounding lies between them and their source."""
    spec = spec_from_file_location("vectors", ROOT / "packages" / "lycosa" / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.make(tmp_path)
    for name in embeddings.FILES:
        assert (tmp_path / name).read_bytes() == (embeddings.HERE / name).read_bytes(), name
    assert "Lee Miller" in (embeddings.HERE / "LICENSE").read_text()


def test_words_are_cut_as_the_vectors_were_made_for() -> None:
    """As the library cuts them that wordllama uses: known words, and letters of many alphabets at random."""
    package = distribution("wordllama")
    told = package.locate_file("wordllama/tokenizers/l2_supercat_tokenizer_config.json")
    cutter = Tokenizer.from_file(str(told)).model
    draw = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789éüñßабвгサンゴ礁中文عربي한국🪸"
    odd = ["".join(draw.choices(letters, k=draw.randint(1, 41))) for _ in range(4_000)]
    ours = embeddings.Pieces.load()
    for word in [*list(Background.load().frequency)[::3], *odd, "a" * 41]:
        assert [piece.id for piece in cutter.tokenize(embeddings.WORD + word)] == ours.cut(word), word


def test_broken_files(tmp_path: Path) -> None:
    """Files that are missing, cut off or don't fit together are told in a line, with what to do."""
    vectors_file, pieces_file = (embeddings.HERE / name for name in embeddings.FILES)
    told = json.loads(pieces_file.read_text("utf-8"))
    short = json.dumps({**told, "pieces": told["pieces"][:10]}).encode()
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
