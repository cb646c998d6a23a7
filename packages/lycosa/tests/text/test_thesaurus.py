"""read_thesaurus: tables of relations, and invalid files."""

import os
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.text import thesaurus
from lycosa.text.ontology import Ontology
from lycosa.text.thesaurus import read_thesaurus

TABLE = """# reefs
term\trelation\tterm
Coral reefs\tis-a\tEcosystems
coral reefs\tsynonym\tbioherms
bioherms\tsynonym\tRiff
Coral reefs\tsynonym\tcoral reff
Ecosystems\tnarrower\tLagoons
Coral  Reefs\trelated\tFish
"""


def read(tmp_path: Path, content: str | bytes, name: str = "ontology") -> Ontology:
    """Write and read an ontology; the file has no suffix, as in a crawl directory."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_thesaurus(path)


def parents(ontology: Ontology, word: str) -> list[str]:
    (concept,) = ontology.concepts(word)
    return sorted(ontology.names[above] for above in ontology.parents.of(concept))


def beside(ontology: Ontology, word: str) -> list[str]:
    (concept,) = ontology.concepts(word)
    return sorted(ontology.names[other] for other in ontology.related.of(concept))


@pytest.mark.paper("batsakis-own-ontologies")
def test_read_thesaurus_returns_terms_and_relations(tmp_path: Path) -> None:
    found = read(tmp_path, TABLE)
    assert {"Coral reefs", "Ecosystems", "Lagoons", "Fish"} == set(found.names)
    (reef,) = found.concepts("coral reef")  # found by its stem
    assert (reef,) == found.concepts("Bioherms") == found.concepts("RIFF") == found.concepts("coral_reff")
    assert {"bioherms", "Riff", "coral reff"} == set(found.synonyms("coral reefs"))
    assert ["Ecosystems"] == parents(found, "bioherm") == parents(found, "lagoon")
    assert ["Ecosystems", "Fish"] == beside(found, "coral reefs")
    assert ["Coral reefs"] == beside(found, "fish")
    assert {"Coral reefs": 1, "Ecosystems": 0, "Lagoons": 1, "Fish": 0} == dict(
        zip(found.names, found.depth.tolist(), strict=True)
    )
    assert ([], 2) == (found.notes, found.longest)
    assert str(tmp_path / "ontology") == found.source


def test_read_thesaurus_digest_depends_on_content(tmp_path: Path) -> None:
    first, second = read(tmp_path, TABLE, "a"), read(tmp_path, TABLE, "b")
    assert (first.digest, first.names) == (second.digest, second.names)
    assert first.digest != read(tmp_path, TABLE.replace("Lagoons", "Atolls")).digest


def test_read_thesaurus_part_of_is_a_relation(tmp_path: Path) -> None:
    found = read(tmp_path, "polyp\tpart-of\tcoral\n")
    assert ([], ["coral"], ["polyp"]) == (parents(found, "polyp"), beside(found, "polyp"), beside(found, "coral"))


def test_read_thesaurus_accepts_relation_spellings(tmp_path: Path) -> None:
    found = read(tmp_path, "polyp\tIS_A\tanimal\r\npolyp\tPart of\tcoral\r\n")
    assert (["animal"], ["animal", "coral"]) == (parents(found, "polyp"), beside(found, "polyp"))


def test_read_thesaurus_synonyms_are_transitive(tmp_path: Path) -> None:
    found = read(tmp_path, "c3\tsynonym\td4\na1\tsynonym\tb2\nb2\tsynonym\tc3\nd4\tsynonym\ta1\nb2\tsynonym\tb2\n")
    assert (1, {"b2", "c3", "d4"}) == (len(found), set(found.synonyms("a1")))


def test_read_thesaurus_skips_second_header(tmp_path: Path) -> None:
    with raises_input_error("unknown-name"):
        read(tmp_path, "Term\tRelation\tTerm\nreef\tis-a\tplace\nterm\trelation\tterm\n")


def test_read_thesaurus_drops_cycles(tmp_path: Path) -> None:
    found = read(tmp_path, "reef\tis-a\tplace\nplace\tis-a\tthing\nthing\tis-a\treef\nfish\tis-a\tfish\n")
    assert [2, 1, 0, 0] == found.depth.tolist()
    assert 2 == len(found.notes)
    assert all("closes a cycle" in note for note in found.notes)
    assert {"'thing'", "'fish'"} == {name for note in found.notes for name in ("'thing'", "'fish'") if name in note}


def test_read_thesaurus_drops_cycle_through_synonyms(tmp_path: Path) -> None:
    found = read(tmp_path, "reef\tis-a\tbioherm\nreef\tsynonym\tbioherm\n")
    assert (1, 1, [0]) == (len(found), len(found.notes), found.depth.tolist())


def test_read_thesaurus_removes_markup(tmp_path: Path) -> None:
    found = read(tmp_path, "<b>Cranes</b> (birds)\tis-a\tfish &amp; fowl\na < b\trelated\t<i>Grus</i>\n")
    assert ["Cranes (birds)", "fish & fowl", "a < b", "Grus"] == found.names
    assert found.concepts("crane") == found.concepts("Cranes (birds)") == (0,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("reef\tis-a\tplace\n\nreef\teats\tfish\n", r"line 3: unknown relation 'eats'; use one of is-a, broader"),
        ("reef\tis-a\n", r"line 1: .* is not a term, a relation and a term"),
        ("# x\nreef is-a place\n", r"line 2: .* is not a term, a relation and a term"),
        ("reef\tis-a\tplace\tmore\n", r"line 1: "),
        ("reef\tis-a\t\n", r"line 1: "),
        ("reef\tis-a\t...\n", r"line 1: '\.\.\.' is not a term"),
        ("reef\tis-a\t" + "x" * 201 + "\n", r"line 1: .* is not a term: it has no letters, or more than 200"),
        ("", "is empty: write a term, a relation and a term on each line"),
        ("\ufeff \n# only this\n", "is empty"),
        ("term\trelation\tterm\n", "is empty"),
        ("<!DOCTYPE html>\n<html><p>Thesaurus", r"line 1: .* is not a term, a relation and a term"),
        (b"reef\0\x01\x02", "is not text"),
        ("café\tis-a\tplace\n".encode("latin-1"), "is not utf-8 text: save it as UTF-8"),
    ],
)
def test_read_thesaurus_rejects_invalid_tables(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


def test_read_thesaurus_rejects_unreadable_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path, "is a directory"),
        (tmp_path / "pipe", "is a pipe or a device"),
        (tmp_path / "none", "No such file"),
    ):
        with raises_input_error("unreadable-file", f"cannot read the ontology .*{message}"):
            read_thesaurus(path)


def test_read_thesaurus_rejects_too_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesaurus, "MAX_BYTES", 100)
    with raises_input_error("unreadable-file", "it has more"):
        read(tmp_path, TABLE)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_read_thesaurus_skips_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    found = read(tmp_path, TABLE.replace("Riff", "Récif").encode(encoding))
    assert found.is_word("récif")
    assert not found.is_word("reef")
    assert found.is_word("coral reef")
