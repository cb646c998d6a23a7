"""read_wordnet: senses, base forms, and damaged files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tiny_wordnet
from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.text import wordnet as module
from lycosa.text.ontology import Ontology
from lycosa.text.wordnet import FILES, find_wordnet, read_wordnet, user_directory, usual_places


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Ontology:
    return read_wordnet(tiny_wordnet.write(tmp_path_factory.mktemp("wordnet")))


def names(known: Ontology, word: str) -> list[str]:
    return [known.names[sense] for sense in known.concepts(word)]


def test_read_wordnet_returns_senses_and_names(tiny: Ontology) -> None:
    assert ["dog.n.01", "dog.n.02"] == names(tiny, "dog")
    assert ["mouse.n.01", "mouse.v.01"] == names(tiny, "mouse")
    assert ["hound.v.01"] == names(tiny, "hunt")
    assert ["Laika.n.01"] == names(tiny, "LAIKA")
    assert "entity.n.01" == tiny.names[0]
    assert "well.r.01" == tiny.names[-1]
    assert ["entity.n.01", "animal.n.01"] == tiny.names[:2]
    assert len(tiny) == len(list(tiny.names)) == sum(map(len, tiny_wordnet.SYNSETS.values()))
    with pytest.raises(IndexError):
        tiny.names[len(tiny)]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("dogs", ["dog"]),  # by a rule
        ("boxes", ["box"]),  # xes -> x; s -> nothing leaves an unknown word
        ("boxesful", ["boxful"]),  # by a rule on the part before -ful
        ("mice", ["mouse"]),  # an exception
        ("glasses", ["glasses", "glass"]),  # a word, and a form of another
        ("hoping", ["hope"]),  # the first rule with a known result: ing -> e, not hop
        ("hopping", []),  # doubled letters need an exception, which this word does not have
        ("hunted", ["hunt"]),
        ("larger", ["large"]),
        ("biggest", []),
        ("best", ["well"]),
        ("domestic dogs", ["domestic_dog"]),
        ("Domestic_Dog", ["domestic_dog"]),
        ("domestic-dog", ["domestic_dog"]),
        ("attorneys general", ["attorney_general"]),  # a phrase among the exceptions
        ("asking for", ["ask_for"]),  # each word of a phrase separately
        ("glass", ["glass"]),  # words in -ss are not plurals
        ("s", []),
        ("", []),
        ("unicorns", []),
        ("galore", ["galore"]),  # without its marker
    ],
)
def test_look_up_returns_base_forms(tiny: Ontology, form: str, expected: list[str]) -> None:
    assert expected == list(tiny.bases(form))


def test_look_up_returns_senses_of_part_of_speech(tiny: Ontology) -> None:
    assert ["mouse.n.01"] == names(tiny, "mice")
    assert ["mouse.v.01"] == names(tiny, "mousing")


@pytest.mark.paper("batsakis-wordnet", "batsakis-figure-2")
def test_read_wordnet_returns_relations_and_depths(tiny: Ontology) -> None:
    number = {name: concept for concept, name in enumerate(tiny.names)}
    dog, animal, laika, tail = (number[f"{name}.n.01"] for name in ("dog", "animal", "Laika", "tail"))
    assert [animal] == tiny.parents.of(dog).tolist()
    assert [dog] == tiny.parents.of(laika).tolist()
    assert [0, 1, 2, 3] == [int(tiny.depth[concept]) for concept in (0, animal, dog, laika)]
    assert sorted([animal, laika, tail]) == tiny.related.of(dog).tolist()
    assert number["hound.v.01"] in tiny.related.of(animal)
    assert animal in tiny.related.of(number["hound.v.01"])
    assert number["galore.a.01"] in tiny.related.of(number["big.a.01"])


def test_read_wordnet_returns_synonyms(tiny: Ontology) -> None:
    assert ["domestic dog", "Canis familiaris", "frump"] == tiny.synonyms("Dogs")
    assert ["animal"] == tiny.synonyms("beasts")
    assert ["big"] == tiny.synonyms("large")


def test_read_wordnet_names_source_and_longest_phrase(tiny: Ontology) -> None:
    assert tiny.source.startswith("WordNet 9.9 in ")
    assert 2 == tiny.longest
    assert 28 == len(tiny.dictionary)
    assert [] == tiny.notes


def spoil(directory: Path, name: str, old: str, new: str) -> None:
    content = (directory / name).read_text()
    assert old in content
    (directory / name).write_text(content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("data.noun", "entity 0 000", "entity 0 999", "line 3: its pointer count is wrong"),
        ("data.noun", "n 01 entity", "n 00 entity", "line 3: its word count is not a number"),
        ("data.noun", "n 01 entity", "n zz entity", "line 3: its word count is not a number"),
        ("data.noun", "n 01 entity", "n ff entity", "line 3: it has fewer words than its word count"),
        ("data.noun", "entity 0 000", "entity 0 x00", "line 3: its pointer count is not a number"),
        ("data.noun", " | what", " ! what", "line 3: its pointer count is wrong"),  # the gloss contains another bar
        ("data.noun", "03 n 01 entity", "03 n 01 entities", "line 4: its number is not its byte offset"),
        ("data.noun", "0 002 @ ", "0 002 @@", "line 4: its pointer count is wrong"),
        ("data.verb", "03 v 02 hound", "03 v 02  ound", "line 3: its pointer count is not a number"),
        ("data.verb", "+ 00000", "+ 99999", "line 3: it has a pointer to a missing synset"),
        ("data.adj", "! 00000", "! 0000x", "it has an invalid pointer"),
        ("data.adv", "0000", "xxxx", "line 3: it does not start with an eight-digit number"),
        ("index.noun", "animal n 1", "animal n x", "line 3: its sense count is not a number"),
        ("index.noun", "animal n 1", "animal n 7", "line 3: its sense count is wrong"),
        ("index.noun", "animal n 1 1 @ 1 0 0", "animal n 1 1 @ 1 0 1", "line 3: a sense is missing in data.noun"),
        ("index.noun", "animal n 1 1 @ 1 0 0", "animal n 1 1 @ 1 0 00", "line 3: a sense is not an eight-digit number"),
        ("index.noun", "beast n", "animal n", "duplicate entry 'animal'"),
        ("index.verb", "ask v 1", "ask", "line 3: it has too few fields"),
        ("noun.exc", "mice mouse", "mice", "noun.exc, line 1: 'mice' has no base form"),
        ("noun.exc", "mice mouse", "", "noun.exc, line 1: it is not an irregular form"),
    ],
)
def test_read_wordnet_reports_damage_with_line(tmp_path: Path, name: str, old: str, new: str, reason: str) -> None:
    tiny_wordnet.write(tmp_path)
    spoil(tmp_path, name, old, new)
    with raises_input_error("bad-file") as caught:
        read_wordnet(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"WordNet is damaged: {tmp_path / name}, line ")
    assert reason in message
    assert message.endswith(f"; {module.REMEDY}")


@pytest.mark.parametrize("name", ["data.noun", "index.verb", "adj.exc"])
def test_read_wordnet_rejects_missing_or_irregular_files(tmp_path: Path, name: str) -> None:
    tiny_wordnet.write(tmp_path)
    (tmp_path / name).unlink()
    with raises_input_error("missing-file", f"not complete: .*{name} is missing; install WordNet again"):
        read_wordnet(tmp_path)
    (tmp_path / name).mkdir()
    with raises_input_error(
        "unreadable-file", f"cannot read .*{name} of WordNet: it is a directory; install WordNet again"
    ):
        read_wordnet(tmp_path)
    (tmp_path / name).rmdir()
    os.mkfifo(tmp_path / name)
    with raises_input_error("unreadable-file", f"cannot read .*{name} of WordNet: it is a pipe or a device"):
        read_wordnet(tmp_path)


@pytest.mark.parametrize("kind", ["adv"])
def test_read_wordnet_rejects_empty_and_truncated_files(tmp_path: Path, kind: str) -> None:
    for content, message in [
        (b"", "the file is empty"),
        (b"  1 licence\n", "the file has no entries"),
        (None, "the file ends in the middle of a line"),
        (b"\n", "line 1: it (is not|has too few)"),
    ]:
        for name in (f"data.{kind}", f"index.{kind}"):
            tiny_wordnet.write(tmp_path)
            whole = (tmp_path / name).read_bytes()
            (tmp_path / name).write_bytes(whole[:-10] if content is None else content)
            with raises_input_error("bad-file", message):
                read_wordnet(tmp_path)
    tiny_wordnet.write(tmp_path)
    whole = (tmp_path / f"data.{kind}").read_bytes()
    (tmp_path / f"data.{kind}").write_bytes(whole.replace(b"\n", b"\r\n"))
    with raises_input_error("bad-file"):
        read_wordnet(tmp_path)


def tiny_file(directory: Path, name: str) -> bytes:
    """Return the content of a WordNet file, after restoring the file that the previous example damaged."""
    spoilt = directory / "spoilt"
    if not spoilt.exists():
        tiny_wordnet.write(directory)
        (directory / "whole").mkdir()
        for each in FILES:
            (directory / "whole" / each).write_bytes((directory / each).read_bytes())
    else:
        last = spoilt.read_text()
        (directory / last).write_bytes((directory / "whole" / last).read_bytes())
    spoilt.write_text(name)
    return (directory / name).read_bytes()


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(FILES),
    changes=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=12), st.integers(0, 12)), min_size=1, max_size=4),
)
@example(name="data.noun", changes=[(0.0, b"\xff\xfe\x00\x01" * 3, 12)])
@example(name="index.noun", changes=[(1.0, b" 00000000\n", 1)])
def test_read_wordnet_any_damage_raises_or_is_harmless(
    tmp_path: Path, name: str, changes: list[tuple[float, bytes, int]]
) -> None:
    content = tiny_file(tmp_path, name)
    for place, new, gone in changes:
        at = int(place * len(content))
        content = content[:at] + new + content[at + gone :]
    (tmp_path / name).write_bytes(content)
    try:
        known = read_wordnet(tmp_path)
    except InputError:
        return
    assert all(isinstance(name, str) for name in known.names)
    assert all(known.dictionary.words(concept) for concept in range(len(known)))
    assert all(0 <= concept < len(known) for concept in known.concepts("dogs"))


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(FILES), noise=st.binary(max_size=3_000))
def test_read_wordnet_rejects_noise(tmp_path: Path, name: str, noise: bytes) -> None:
    tiny_file(tmp_path, name)
    (tmp_path / name).write_bytes(noise)
    try:
        read_wordnet(tmp_path)
    except InputError:
        return
    assert name.endswith(".exc")


def test_read_wordnet_cuts_cycles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = [("egg", "@noun.hen"), ("hen", "@noun.egg")]
    monkeypatch.setitem(tiny_wordnet.SYNSETS, "noun", tiny_wordnet.SYNSETS["noun"] + ring)
    known = read_wordnet(tiny_wordnet.write(tmp_path))
    assert ["dropped an IS-A link that closes a cycle: 'hen.n.01' below 'egg.n.01'"] == known.notes


def test_find_wordnet_search_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LYCOSA_WORDNET", "WNSEARCHDIR", "WNHOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert tmp_path / "home" / ".local" / "share" / "lycosa" / "wordnet" == user_directory()
    assert [user_directory(), Path(sys.prefix, "share", "wordnet"), Path("/usr/share/wordnet")] == list(usual_places())[
        :3
    ]
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("WNHOME", str(tmp_path / "wnhome"))
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "search"))
    monkeypatch.setenv("LYCOSA_WORDNET", str(tmp_path / "ours"))
    places = ["named", "ours", "search", "wnhome/dict", "data/lycosa/wordnet", "venv/share/wordnet"]
    for place in places:
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "data.noun").touch()
    assert tmp_path / "named" == find_wordnet(str(tmp_path / "named"))
    for place in places[1:]:
        assert tmp_path / place == find_wordnet()
        (tmp_path / place / "data.noun").unlink()
        monkeypatch.delenv("LYCOSA_WORDNET", raising=False)


def test_find_wordnet_searches_dict_of_distribution(tmp_path: Path) -> None:
    (tmp_path / "dict").mkdir()
    (tmp_path / "dict" / "data.noun").touch()
    assert tmp_path / "dict" == find_wordnet(str(tmp_path))


def test_find_wordnet_rejects_wrong_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LYCOSA_WORDNET", str(tmp_path / "gone"))
    with raises_input_error("missing-file"):
        find_wordnet()


def test_wordnet_has_documented_counts(wordnet: Ontology) -> None:
    """WordNet 3.0 is documented to have 117,659 synsets and 155,287 pairs of word and part of speech."""
    if not wordnet.source.startswith("WordNet 3.0 "):
        pytest.skip(f"the numbers are those of 3.0, this is {wordnet.source}")
    assert 117_659 == len(wordnet)
    entries = {kind: len(rows) for kind, rows in wordnet.dictionary._entries.items()}  # type: ignore[attr-defined]
    assert {"noun": 117_798, "verb": 11_529, "adj": 21_479, "adv": 4_481} == entries
    assert [82_115, 13_767, 18_156, 3_621] == [
        sum(f".{letter}." in wordnet.names[concept] for concept in range(start, end))
        for letter, start, end in [
            ("n", 0, 82_115),
            ("v", 82_115, 95_882),
            ("a", 95_882, 114_038),
            ("r", 114_038, 117_659),
        ]
    ]
    assert 1 == sum(not len(wordnet.parents.of(noun)) for noun in range(82_115))
    assert 9 == wordnet.longest
    assert [] == wordnet.notes


def test_wordnet_contains_words(wordnet: Ontology) -> None:
    assert ("go",) == wordnet.bases("went")
    assert all(".v." in name for name in names(wordnet, "went"))
    assert ("coral_reef",) == wordnet.bases("Coral Reefs")
    assert {"domestic dog", "Canis familiaris"} <= set(wordnet.synonyms("dog"))
    assert ["coral_reef.n.01"] == names(wordnet, "coral-reefs")
    assert ["dog.n.01", "frump.n.01"] == names(wordnet, "dog")[:2]
    assert () == wordnet.concepts("lycosafication")
