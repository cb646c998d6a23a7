"""Word statistics from elsewhere: what they say, and files that are none."""

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
    """A text as a zstd frame."""
    return zstandard.ZstdCompressor().compress(text.encode())


def head(**changes: object) -> str:
    """The first line of a file with two stems in ten documents."""
    facts = {"format": "lycosa background", "version": 1, "documents": 10, "terms": 2, "language": "en", "source": "x"}
    return json.dumps({**facts, **changes})


@pytest.mark.paper("batsakis-idf-statistics")
def test_idf_is_that_of_the_paper() -> None:
    """idf = log(N / N_j): 1000 documents, 10 with 'coral', all with 'year'."""
    words = Background(1000, {"coral": 10, "year": 1000})
    assert (log(1000 / 10), 0.0) == (words.idf("coral"), words.idf("year"))


def test_an_unknown_word_was_met_once() -> None:
    """A stem that is not there has the idf of document frequency 1."""
    assert log(1000 / 1) == Background(1000, {"coral": 10}).idf("zooxanthella")


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """A file brings back the numbers, the language and where they came from."""
    Background(7, {"haus": 5, "straß": 2}, "de", "two words").save(tmp_path / "b")
    read = Background.load(tmp_path / "b")
    assert (7, {"haus": 5, "straß": 2}, "de", "two words") == (
        read.documents,
        read.frequency,
        read.language,
        read.source,
    )


def test_another_content_has_another_digest(tmp_path: Path) -> None:
    """The digest tells files apart."""
    Background(7, {"haus": 5}).save(tmp_path / "a")
    Background(7, {"haus": 6}).save(tmp_path / "b")
    assert Background.load(tmp_path / "a").digest != Background.load(tmp_path / "b").digest


def test_english_comes_with_the_package() -> None:
    """The shipped statistics know 30,000 stems, and that coral is rarer than water."""
    words = Background.load()
    assert (30_000, "en") == (len(words.frequency), words.language)
    assert 0 < words.idf("water") < words.idf("coral") < words.idf("zooxanthella")
    assert "Wikipedia for Schools" in words.source


def test_words_of_footers_are_not_common() -> None:
    """Every page of the source has 'school' and 'wikipedia' in its footer; that is not counted."""
    words = Background.load()
    assert words.frequency["school"] < words.documents / 2
    assert words.frequency["wikipedia"] < words.documents / 20


def test_english_is_small() -> None:
    """The shipped file is below 250 kB, and it is read once."""
    assert Path(module.__file__).with_name(SHIPPED).stat().st_size < 250_000
    assert Background.load() is Background.load()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not a file of word statistics"),
        (b"coral\t10\n", "is not a file of word statistics"),
        (packed("coral\t10\n"), "is not a file of word statistics"),
        (packed("[]\n"), "is not a file of word statistics"),
        (packed(head() + "\na\t3\nb\t1\n")[:-3], "is not a file of word statistics"),
        (packed(head(format="recipes") + "\na\t3\nb\t1\n"), "is not a file of word statistics"),
        (packed(head(terms=3) + "\na\t3\nb\t1\n"), "do not fit together"),
        (packed(head() + "\na\t3\nb\t11\n"), "do not fit together"),
        (packed(head() + "\na\t3\nb\t0\n"), "do not fit together"),
        (packed(head() + "\na\t3\nb\tx\n"), "is not a file of word statistics"),
        (packed(head() + "\na\t3\nb"), "is not a file of word statistics"),
        (packed(head(documents="many") + "\na\t3\nb\t1\n"), "is not a file of word statistics"),
        (packed(head(documents=float("inf")) + "\na\t3\nb\t1\n"), "is not a file of word statistics"),
        (packed(head(documents=10**400) + "\na\t3\nb\t1\n"), "do not fit together"),
        (packed("[" * 200_000 + "\n"), "is not a file of word statistics"),
        (packed(head(version=2) + "\nanything"), "of version 2, this Lycosa reads 1"),
    ],
)
def test_what_is_no_such_file(tmp_path: Path, content: bytes, told: str) -> None:
    """A file that is torn, foreign or of another version is refused, with how to make one."""
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(InputError, match=f"{told}.*lycosa.training.count_words"):
        Background.load(tmp_path / "b")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is named."""
    with pytest.raises(InputError, match=r"cannot read the word statistics in .*nowhere: No such file"):
        Background.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="a pipe or a device, not a file"):
        Background.load("/dev/zero")


def test_a_place_that_can_not_be_written(tmp_path: Path) -> None:
    """Where nothing can be written, the message says so."""
    with raises_input_error("cannot-write"):
        Background(7, {"haus": 5}).save(tmp_path / "no" / "b")
