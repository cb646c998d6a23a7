"""Background: idf, files, and damaged files."""

import json
from math import log
from pathlib import Path

import pytest
import zstandard

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.text import background as module
from lycosa.text.background import SHIPPED, Background


def packed(text: str) -> bytes:
    return zstandard.ZstdCompressor().compress(text.encode())


def head(**changes: object) -> str:
    facts = {"format": "lycosa background", "version": 1, "documents": 10, "terms": 2, "language": "en", "source": "x"}
    return json.dumps({**facts, **changes})


@pytest.mark.paper("batsakis-idf-statistics")
def test_background_idf_by_hand() -> None:
    """The idf is log(N / N_j), here with 1,000 documents, 10 of them with 'coral', all with 'year'."""
    words = Background(1000, {"coral": 10, "year": 1000})
    assert (log(1000 / 10), 0.0) == (words.idf("coral"), words.idf("year"))


def test_background_idf_of_unknown_word_is_highest() -> None:
    assert log(1000 / 1) == Background(1000, {"coral": 10}).idf("zooxanthella")


def test_background_save_and_load_round_trip(tmp_path: Path) -> None:
    Background(7, {"haus": 5, "straß": 2}, "de", "two words").save(tmp_path / "b")
    read = Background.load(tmp_path / "b")
    assert (7, {"haus": 5, "straß": 2}, "de", "two words") == (
        read.documents,
        read.frequency,
        read.language,
        read.source,
    )


def test_background_digest_depends_on_content(tmp_path: Path) -> None:
    Background(7, {"haus": 5}).save(tmp_path / "a")
    Background(7, {"haus": 6}).save(tmp_path / "b")
    assert Background.load(tmp_path / "a").digest != Background.load(tmp_path / "b").digest


def test_background_load_returns_english_by_default() -> None:
    words = Background.load()
    assert (30_000, "en") == (len(words.frequency), words.language)
    assert 0 < words.idf("water") < words.idf("coral") < words.idf("zooxanthella")
    assert "Wikipedia for Schools" in words.source


def test_background_english_ignores_page_footers() -> None:
    words = Background.load()
    assert words.frequency["school"] < words.documents / 2
    assert words.frequency["wikipedia"] < words.documents / 20


def test_background_english_is_small() -> None:
    assert Path(module.__file__).with_name(SHIPPED).stat().st_size < 250_000
    assert Background.load() is Background.load()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a file of word statistics"),
        (b"coral\t10\n", "is not a file of word statistics"),
        (packed("coral\t10\n"), "is not a file of word statistics"),
        (packed("[]\n"), "is not a file of word statistics"),
        (packed(head() + "\na\t3\nb\t1\n")[:-3], "is not a file of word statistics"),
        (packed(head(format="recipes") + "\na\t3\nb\t1\n"), "is not a file of word statistics"),
        (packed(head(terms=3) + "\na\t3\nb\t1\n"), "counts are inconsistent"),
        (packed(head() + "\na\t3\nb\t11\n"), "counts are inconsistent"),
        (packed(head() + "\na\t3\nb\t0\n"), "counts are inconsistent"),
        (packed(head() + "\na\t3\nb\tx\n"), "is not a file of word statistics"),
        (packed(head() + "\na\t3\nb"), "is not a file of word statistics"),
        (packed(head(documents="many") + "\na\t3\nb\t1\n"), "is not a file of word statistics"),
        (packed(head(documents=float("inf")) + "\na\t3\nb\t1\n"), "is not a file of word statistics"),
        (packed(head(documents=10**400) + "\na\t3\nb\t1\n"), "counts are inconsistent"),
        (packed("[" * 200_000 + "\n"), "is not a file of word statistics"),
        (packed(head(version=2) + "\nanything"), "has format version 2, this Lycosa reads 1"),
    ],
)
def test_background_load_rejects_invalid_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(InputError, match=f"{message}.*lycosa.training.count_words"):
        Background.load(tmp_path / "b")


def test_background_load_missing_file_raises(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", "cannot read the word statistics in .*nowhere: No such file"):
        Background.load(tmp_path / "nowhere")
    with raises_input_error("unreadable-file", "a pipe or"):
        Background.load("/dev/zero")


def test_background_save_to_missing_directory_raises(tmp_path: Path) -> None:
    with raises_input_error("cannot-write"):
        Background(7, {"haus": 5}).save(tmp_path / "no" / "b")
