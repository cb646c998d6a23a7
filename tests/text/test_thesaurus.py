"""Ontologies of one's own: tables and SKOS, told apart by what is in them, and files that are neither."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.text import thesaurus
from lycosa.text.ontology import Ontology
from lycosa.text.thesaurus import read_thesaurus

SKOS = "http://www.w3.org/2004/02/skos/core#"

TURTLE = f"""# reefs
@prefix skos: <{SKOS}> .
@prefix : <http://sea.test/> .
:reef a skos:Concept ; skos:prefLabel "Riff"@de, "Coral reefs"@en ; skos:altLabel "bioherms"@en ;
    skos:hiddenLabel "coral reff" ; skos:broader :ecosystem ; skos:related :fish ;
    skos:exactMatch <http://elsewhere.test/reef> .
:ecosystem a skos:Concept ; skos:prefLabel "Ecosystems"@en ; skos:narrower :lagoon .
:lagoon skos:prefLabel "Lagoons"@en .
:fish skos:prefLabel "Fish"@en .
"""

TRIPLES = f"""<http://sea.test/reef> <{SKOS}prefLabel> "Riff"@de .
<http://sea.test/reef> <{SKOS}prefLabel> "Coral reefs"@en .
<http://sea.test/reef> <{SKOS}altLabel> "bioherms"@en .
<http://sea.test/reef> <{SKOS}hiddenLabel> "coral reff" .
<http://sea.test/reef> <{SKOS}broader> <http://sea.test/ecosystem> .
<http://sea.test/reef> <{SKOS}related> <http://sea.test/fish> .
<http://sea.test/ecosystem> <{SKOS}prefLabel> "Ecosystems"@en .
<http://sea.test/ecosystem> <{SKOS}narrower> <http://sea.test/lagoon> .
<http://sea.test/lagoon> <{SKOS}prefLabel> "Lagoons"@en .
<http://sea.test/fish> <{SKOS}prefLabel> "Fish"@en .
"""

HEAD = f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="{SKOS}">'
XML = f"""{HEAD}
<skos:Concept rdf:about="http://sea.test/reef"><skos:prefLabel xml:lang="de">Riff</skos:prefLabel>
  <skos:prefLabel xml:lang="en">Coral reefs</skos:prefLabel><skos:altLabel xml:lang="en">bioherms</skos:altLabel>
  <skos:hiddenLabel>coral reff</skos:hiddenLabel>
  <skos:broader rdf:resource="http://sea.test/ecosystem"/><skos:related rdf:resource="http://sea.test/fish"/>
</skos:Concept>
<skos:Concept rdf:about="http://sea.test/ecosystem"><skos:prefLabel xml:lang="en">Ecosystems</skos:prefLabel>
  <skos:narrower rdf:resource="http://sea.test/lagoon"/></skos:Concept>
<skos:Concept rdf:about="http://sea.test/lagoon"><skos:prefLabel xml:lang="en">Lagoons</skos:prefLabel></skos:Concept>
<skos:Concept rdf:about="http://sea.test/fish"><skos:prefLabel xml:lang="en">Fish</skos:prefLabel></skos:Concept>
</rdf:RDF>
"""

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
    """The ontology of a file that holds this; its name has no suffix, as in a crawl's directory."""
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_thesaurus(path)


def parents(ontology: Ontology, word: str) -> list[str]:
    """The names of what is directly above the only sense of a word."""
    (concept,) = ontology.concepts(word)
    return sorted(ontology.names[above] for above in ontology.parents.of(concept))


def beside(ontology: Ontology, word: str) -> list[str]:
    """The names of all that is related to the only sense of a word."""
    (concept,) = ontology.concepts(word)
    return sorted(ontology.names[other] for other in ontology.related.of(concept))


@pytest.fixture
def rdflib() -> None:
    """Where rdflib is missing, SKOS cannot be read."""
    pytest.importorskip("rdflib", reason="SKOS is read with rdflib: pip install 'lycosa[meaning]'")


@pytest.mark.parametrize("form", ["Turtle", "N-Triples", "RDF/XML", "RDF/XML declared", "table"])
def test_four_ways_to_say_the_same(form: str, tmp_path: Path) -> None:
    """Labels of all kinds and languages are words, broader and narrower make depths, related relates both ways."""
    if form != "table":
        pytest.importorskip("rdflib")
    said = {
        "Turtle": TURTLE, "N-Triples": TRIPLES, "RDF/XML": XML, "table": TABLE,
        "RDF/XML declared": '<?xml version="1.0" encoding="UTF-8"?>\n<!-- reefs -->\n' + XML,
    }  # fmt: skip
    found = read(tmp_path, said[form])
    assert {"Coral reefs", "Ecosystems", "Lagoons", "Fish"} == set(found.names)
    (reef,) = found.concepts("coral reef")  # by its stem
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


@pytest.mark.parametrize("content", [TURTLE, TRIPLES, XML, TABLE], ids=["Turtle", "N-Triples", "XML", "table"])
def test_the_same_file_is_the_same_ontology(content: str, tmp_path: Path, rdflib: None) -> None:
    """Read again, under another name, it has the same digest, blank nodes or not; another file has another one."""
    blank = content + f'\n[] <{SKOS}prefLabel> "Cay" ; <{SKOS}broader> [] .' if content == TURTLE else content
    first, second = read(tmp_path, blank, "a"), read(tmp_path, blank, "b")
    assert (first.digest, first.names) == (second.digest, second.names)
    assert first.digest != read(tmp_path, content.replace("Lagoons", "Atolls")).digest


def test_part_of_relates(tmp_path: Path) -> None:
    """part-of is a relation without order, and neither above nor below."""
    found = read(tmp_path, "polyp\tpart-of\tcoral\n")
    assert ([], ["coral"], ["polyp"]) == (parents(found, "polyp"), beside(found, "polyp"), beside(found, "coral"))


def test_relations_in_any_spelling(tmp_path: Path) -> None:
    """IS_A, 'Part of' and windows line ends are understood."""
    found = read(tmp_path, "polyp\tIS_A\tanimal\r\npolyp\tPart of\tcoral\r\n")
    assert (["animal"], ["animal", "coral"]) == (parents(found, "polyp"), beside(found, "polyp"))


def test_synonyms_of_synonyms_are_one_concept(tmp_path: Path) -> None:
    """Whatever the order of the lines, and even if they say it twice or of a term itself."""
    found = read(tmp_path, "c3\tsynonym\td4\na1\tsynonym\tb2\nb2\tsynonym\tc3\nd4\tsynonym\ta1\nb2\tsynonym\tb2\n")
    assert (1, {"b2", "c3", "d4"}) == (len(found), set(found.synonyms("a1")))


def test_a_header_comes_once_and_first(tmp_path: Path) -> None:
    """A second header is an unknown relation."""
    with pytest.raises(InputError, match=r"line 3: there is no relation 'relation'"):
        read(tmp_path, "Term\tRelation\tTerm\nreef\tis-a\tplace\nterm\trelation\tterm\n")


def test_cycles(tmp_path: Path) -> None:
    """The link that closes a cycle is left out, and so is that of a concept above itself; notes name them."""
    found = read(tmp_path, "reef\tis-a\tplace\nplace\tis-a\tthing\nthing\tis-a\treef\nfish\tis-a\tfish\n")
    assert [2, 1, 0, 0] == found.depth.tolist()
    assert 2 == len(found.notes)
    assert all("closes a cycle" in note for note in found.notes)
    assert {"'thing'", "'fish'"} == {name for note in found.notes for name in ("'thing'", "'fish'") if name in note}


def test_a_cycle_by_synonyms(tmp_path: Path) -> None:
    """A term below its own synonym is below itself."""
    found = read(tmp_path, "reef\tis-a\tbioherm\nreef\tsynonym\tbioherm\n")
    assert (1, 1, [0]) == (len(found), len(found.notes), found.depth.tolist())


def test_labels_lose_their_markup(tmp_path: Path) -> None:
    """Tags go, entities become characters; a qualifier in parentheses may be left out by who asks."""
    found = read(tmp_path, "<b>Cranes</b> (birds)\tis-a\tfish &amp; fowl\na < b\trelated\t<i>Grus</i>\n")
    assert ["Cranes (birds)", "fish & fowl", "a < b", "Grus"] == found.names
    assert found.concepts("crane") == found.concepts("Cranes (birds)") == (0,)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("reef\tis-a\tplace\n\nreef\teats\tfish\n", r"line 3: there is no relation 'eats': write one of is-a, broader"),
        ("reef\tis-a\n", r"line 1: .* is not a term, a relation and a term"),
        ("# x\nreef is-a place\n", r"line 2: .* is not a term, a relation and a term"),
        ("reef\tis-a\tplace\tmore\n", r"line 1: "),
        ("reef\tis-a\t\n", r"line 1: "),
        ("reef\tis-a\t...\n", r"line 1: '\.\.\.' is not a term"),
        ("reef\tis-a\t" + "x" * 201 + "\n", r"line 1: .* is not a term: it has no letters, or more than 200"),
        ("", "is empty: write a term, a relation and a term on each line"),
        ("\ufeff \n# only this\n", "is empty"),
        ("term\trelation\tterm\n", "has no labels"),
        ('{"@context": "http://context.test/"}', "is JSON, which is not read: save it as Turtle"),
        ("<!DOCTYPE html>\n<html><p>Thesaurus", "is a web page: download the thesaurus itself"),
        (b"reef\0\x01\x02", "is not text"),
        ("café\tis-a\tplace\n".encode("latin-1"), "is not utf-8 text: save it as UTF-8"),
    ],
)
def test_what_is_no_table(content: str | bytes, said: str, tmp_path: Path) -> None:
    """Each error says in which line, and what to do."""
    with pytest.raises(InputError, match=said):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"@prefix skos: <{SKOS}> .\n", "is Turtle without a statement"),
        (f"@prefix skos: <{SKOS}> .\n<a> skos:broader <b> .\n", "has no labels"),
        ('<http://a.test/> <http://b.test/> "c" .\n', "has no labels"),
        (f"@prefix skos: <{SKOS}> .\n\n<a> skos:prefLabel ;;; <\n", "can't be read as Turtle: line 3: "),
        ('<http://a.test/> <http://b.test/> "c" .\nnonsense\n', "can't be read as Turtle: line 2: "),
        (f"<http://a.test/> <{SKOS}broader> " + "[" * 5000 + "]" * 5000 + " .", "it is nested too deeply"),
        (f'<?xml version="1.0"?>\n{HEAD}\n<a></rdf:RDF>', "can't be read as RDF/XML: line 3: mismatched tag"),
        (f'<?xml version="1.0" encoding="klingon"?>{HEAD}</rdf:RDF>', "is not klingon text"),
        (f'<?xml version="1.0" encoding="undefined"?>{HEAD}</rdf:RDF>', "is not undefined text"),
        (f'<?xml version="1.0" encoding="punycode"?>{HEAD}</rdf:RDF>', "is not punycode text"),
        ("<a>", "can't be read as Turtle: it ends in the middle"),
    ],
)
def test_what_is_no_skos(content: str, said: str, tmp_path: Path, rdflib: None) -> None:
    """Each error says what was expected, and in which line it went wrong."""
    with pytest.raises(InputError, match=said):
        read(tmp_path, content)


def test_files_that_are_none(tmp_path: Path) -> None:
    """A directory, a pipe that no one writes to, and a file that is not there are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        (tmp_path, "is a directory"),
        (tmp_path / "pipe", "is a pipe or a device"),
        (tmp_path / "none", "No such file"),
    ):
        with pytest.raises(InputError, match=f"cannot read the ontology .*{said}"):
            read_thesaurus(path)


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit is not read."""
    monkeypatch.setattr(thesaurus, "LARGEST", 100)
    with pytest.raises(InputError, match="it has more than 100 bytes"):
        read(tmp_path, TABLE)


def test_too_many_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rdflib: None) -> None:
    """Statements are counted while they are read, those that say nothing of interest too."""
    from lycosa.text import skos

    monkeypatch.setattr(skos, "MOST_STATEMENTS", 9)
    for content in (TURTLE, TRIPLES, XML):
        with pytest.raises(InputError, match="more than 9 statements: take the part of it that you need"):
            read(tmp_path, content)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_by_their_mark(encoding: str, tmp_path: Path, rdflib: None) -> None:
    """Files that start with a byte order mark are read as it says; XML whatever it declares."""
    for content in (TURTLE, TABLE, '<?xml version="1.0" encoding="UTF-16"?>' + XML):
        assert 4 == len(read(tmp_path, content.replace("Riff", "Récif").encode(encoding)))
        assert read(tmp_path, content.replace("Riff", "Récif").encode(encoding)).is_word("récif")


def test_the_encoding_that_xml_declares(tmp_path: Path, rdflib: None) -> None:
    """ISO-8859-1 is read where an XML file says so."""
    content = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{XML}'.replace("Riff", "Récif")
    assert read(tmp_path, content.encode("latin-1")).is_word("récif")


def entities(declared: str, used: str) -> str:
    """RDF/XML with entities of its own."""
    concept = f'<skos:Concept rdf:about="{used}"><skos:prefLabel>Reef</skos:prefLabel></skos:Concept>'
    return f"<!DOCTYPE rdf:RDF [{declared}]>\n{HEAD}{concept}</rdf:RDF>"


def test_plain_entities_are_read(tmp_path: Path, rdflib: None) -> None:
    """Many thesauri abbreviate addresses by entities."""
    assert read(tmp_path, entities('<!ENTITY sea "http://sea.test/">', "&sea;reef")).is_word("reef")


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "lol"><!ENTITY sea "&a;&a;&a;">',
        '<!ENTITY sea SYSTEM "file:///etc/passwd">',
        '<!ENTITY sea PUBLIC "-//x" "http://127.0.0.1/x">',
        '<!ENTITY % p "x"><!ENTITY sea "y">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1/x.dtd"> %p;',
    ],
)
def test_entities_that_harm_are_refused(declared: str, tmp_path: Path, rdflib: None) -> None:
    """Nested ones, which can grow without limit, and those of other files or addresses."""
    with pytest.raises(InputError, match="XML entities that are nested, huge or in other files"):
        read(tmp_path, entities(declared, "&sea;reef"))


def test_an_entity_used_too_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rdflib: None) -> None:
    """1,000 characters, 1,000 times, are a million: more than twice what a file may have, here 100,000."""
    from lycosa.text import skos

    monkeypatch.setattr(skos, "LARGEST", 100_000)
    with pytest.raises(InputError, match="huge"):
        read(tmp_path, entities(f'<!ENTITY sea "{"x" * 1000}">', "&sea;" * 1000))


def test_nothing_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rdflib: None) -> None:
    """Neither a DTD, nor an import, nor what addresses lead to."""

    def no_socket(*_: Any, **__: Any) -> None:
        raise AssertionError("something connects")

    monkeypatch.setattr(socket.socket, "connect", no_socket)
    document = f'<!DOCTYPE rdf:RDF SYSTEM "http://127.0.0.1:9/skos.dtd">\n{XML}'
    imported = TURTLE + "<http://127.0.0.1:9/> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:9/more> .\n"
    assert [4, 4] == [len(read(tmp_path, content)) for content in (document, imported)]


def test_english_labels_win(tmp_path: Path, rdflib: None) -> None:
    """'gift' in English is no poison, whatever it is in German: that label is left out, with a note; others stay."""
    found = read(
        tmp_path,
        f"""@prefix skos: <{SKOS}> .
        <poison> skos:prefLabel "Gift"@de, "poison"@en-GB ; skos:altLabel "Toxin"@de .
        <present> skos:prefLabel "gift"@en .""",
    )
    assert ["gift", "poison"] == [found.names[found.concepts(word)[0]] for word in ("gift", "toxin")]
    assert 1 == len(found.concepts("gift"))
    assert ["1 labels left out: also an English label of another concept"] == found.notes


def test_schemes_and_collections_are_no_concepts(tmp_path: Path, rdflib: None) -> None:
    """Their labels name lists, and say nothing of what a page is about."""
    found = read(
        tmp_path,
        f"""@prefix skos: <{SKOS}> .
        <s> a skos:ConceptScheme ; skos:prefLabel "Thesaurus" . <c> a skos:Collection ; skos:prefLabel "By size" .
        <reef> skos:prefLabel "reef" ; skos:inScheme <s> .""",
    )
    assert ["reef"] == found.names


def test_transitive_relations_and_classes(tmp_path: Path, rdflib: None) -> None:
    """broaderTransitive, narrowerTransitive and rdfs:subClassOf are IS-A; rdfs:label is a label of a class only."""
    found = read(
        tmp_path,
        f"""@prefix skos: <{SKOS}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        <reef> skos:prefLabel "reef" ; skos:broaderTransitive <place> .
        <place> skos:prefLabel "place" ; skos:narrowerTransitive <atoll> . <atoll> skos:prefLabel "atoll" .
        <fish> a owl:Class ; rdfs:label "fish" ; rdfs:subClassOf <animal> . <animal> rdfs:label "animal" .
        <eats> rdfs:label "eats" .""",
    )
    assert (["place"], ["place"], ["animal"]) == tuple(parents(found, word) for word in ("reef", "atoll", "fish"))
    assert not found.is_word("eats")


def test_labels_of_skos_xl(tmp_path: Path, rdflib: None) -> None:
    """Labels that are things of their own are read through."""
    found = read(
        tmp_path,
        """@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
        <reef> xl:prefLabel <l1> ; xl:altLabel <l2>, <lost> .
        <l1> xl:literalForm "reef"@en . <l2> xl:literalForm "bioherm"@en .""",
    )
    assert (["reef"], ["bioherm"]) == (found.names, found.synonyms("reef"))


def test_concepts_of_the_same_name(tmp_path: Path, rdflib: None) -> None:
    """They stay two; the second is told by its address, or by its number if it has none."""
    content = f'@prefix skos: <{SKOS}> .\n<a> skos:prefLabel "crane" . <b> skos:prefLabel "crane" . '
    content += '[] skos:prefLabel "crane" . <d> skos:broader <a> .'
    found = read(tmp_path, content)
    assert ["crane", "crane (http://ontology.invalid/b)", "crane (#3)", "http://ontology.invalid/d"] == found.names
    assert (0, 1, 2) == found.concepts("crane")


def test_without_rdflib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SKOS needs an extra, which the error names; a table needs none."""
    monkeypatch.delitem(sys.modules, "lycosa.text.skos", raising=False)
    monkeypatch.delattr("lycosa.text.skos", raising=False)
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(
        InputError, match=r"looks like SKOS, which is read with rdflib: pip install 'lycosa\[meaning\]'"
    ):
        read(tmp_path, TURTLE)
    assert read(tmp_path, TABLE).is_word("reef") is False
    assert read(tmp_path, TABLE).is_word("coral reef")
