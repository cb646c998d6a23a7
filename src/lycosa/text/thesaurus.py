"""Ontologies of one's own: a table of relations, or SKOS. They stand where WordNet would.

Paper items:
    batsakis-own-ontologies: `--ontology`. Test: text/test_thesaurus.py::test_four_ways_to_say_the_same.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from lycosa.core.errors import InputError
from lycosa.core.files import read_input
from lycosa.text.ontology import LONGEST_WORD, Ontology, fold

LARGEST = 64_000_000
"""Bytes that a file may have."""

EXTRA = "pip install 'lycosa[meaning]'"

RELATIONS = ("is-a", "broader", "narrower", "related", "part-of", "synonym")
_BELOW = ("is-a", "broader")
_HEADERS = ("relation", "relations", "relationship", "predicate")

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NO_CHARSETS = ("punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape")
"""Python decodes these as well; no file is written in them, and punycode of some length takes for ever."""
_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']""")
_XML = re.compile(r"<\?xml\b|<!(?!doctype\s+html)|<[^<>]*\sxmlns\b", re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html|<html\b", re.IGNORECASE)
_RDF = re.compile(r"@prefix\b|@base\b|prefix\s|base\s+<|<|_:|\[", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--.{0,200}?-->", re.DOTALL)
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")


class Thesaurus(NamedTuple):
    """What a file says: concepts with their words, and how they are related."""

    labels: dict[str, list[str]]
    broader: list[tuple[str, str]]
    related: list[tuple[str, str]]
    notes: list[str]


def read_thesaurus(path: Path) -> Ontology:
    """An ontology from a file: SKOS in Turtle, N-Triples or RDF/XML, or a table. Its content says which it is.

    A table has lines of three columns with tabs between them, `term`, `relation`, `term`; `#` starts a comment line.
    `is-a` and `broader` say that the second term is the broader one, `narrower` that the first is; `related` and
    `part-of` relate them without order; `synonym` makes them words for one concept. Case and spaces don't matter.
    For SKOS see skos.py; it needs the extra `lycosa[meaning]`.

    Labels lose their markup; one with a qualifier, "Cranes (birds)", is a word with and without it. Words are looked
    up as they are, then by their English stems (ontology.py). IS-A links that close a cycle are left out, with a note.
    Nothing is loaded from elsewhere.
    """
    text = _read(path)
    start = _first_line(text)
    if not start:
        raise InputError(
            f"the ontology {path} is empty: write a term, a relation and a term on each line, tabs between them"
        )
    if _is_row(start):
        return _built(_table(text, path), path)
    if _HTML.match(start):
        raise InputError(f"the ontology {path} is a web page: download the thesaurus itself, as Turtle or RDF/XML")
    if start[0] == "{" or start.startswith("[{"):
        raise InputError(f"the ontology {path} is JSON, which is not read: save it as Turtle, RDF/XML or a table")
    if _XML.match(start) or _RDF.match(start):
        try:
            from lycosa.text import skos
        except ImportError as error:
            raise InputError(f"the ontology {path} looks like SKOS, which is read with rdflib: {EXTRA}") from error
        return _built(skos.read(text, "xml" if _XML.match(start) else "turtle", path), path)
    return _built(_table(text, path), path)


def _built(told: Thesaurus, path: Path) -> Ontology:
    if not any(told.labels.values()):
        raise InputError(f"the ontology {path} has no labels, so no word can be found in it: give its concepts labels")
    ontology = Ontology.build(told.labels, told.broader, told.related, str(path))
    ontology.notes.extend(told.notes)
    return ontology


def words_for(label: str) -> list[str]:
    """A label as words: without markup, and also without a qualifier; none if nothing is left, or too much.

    >>> words_for("<i>Grus</i> &amp; kin  (birds)"), words_for("a < b"), words_for("...")
    (['Grus & kin (birds)', 'Grus & kin'], ['a < b'], [])
    """
    plain = " ".join(unescape(_TAG.sub(" ", label)).split())
    spellings = dict.fromkeys([plain, _QUALIFIER.sub("", plain)])
    return [word for word in spellings if len(word) <= LONGEST_WORD and any(letter.isalnum() for letter in word)]


def _read(path: Path) -> str:
    raw = read_input(path, LARGEST, "the ontology")
    declared = _DECLARED.match(raw)
    encoding = declared[1].decode() if declared else "utf-8"
    for mark, name in _BOMS:
        if raw.startswith(mark):
            raw, encoding = raw[len(mark) :], name
    try:
        if codecs.lookup(encoding).name in _NO_CHARSETS:
            raise LookupError
        text = raw.decode(encoding)
    except (ValueError, LookupError) as error:
        raise InputError(f"the ontology {path} is not {encoding} text: save it as UTF-8") from error
    if "\0" in text:
        raise InputError(f"the ontology {path} is not text: it must be SKOS, or a table of relations")
    return text


def _first_line(text: str) -> str:
    """The first line that says something, and what follows it in the first 2,000 characters."""
    at = re.match(r"(?:\s+|#[^\n]*(?:\n|$))*", text)
    return text[at.end() : at.end() + 2000] if at else ""


def _is_row(start: str) -> bool:
    """Whether this starts with a line of a table: terms may look like anything."""
    cells = start.split("\n", 1)[0].split("\t")
    return len(cells) == 3 and _relation(cells[1]) in (*RELATIONS, *_HEADERS)


def _relation(cell: str) -> str:
    return re.sub(r"[\s_]+", "-", cell.strip().lower())


class _Terms:
    """Terms of a table to concepts: synonyms share one, which has the name of the first of them."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}
        self._same: dict[str, str] = {}

    def add(self, term: str) -> str:
        key = fold(term)
        self.written.setdefault(key, term)
        return key

    def join(self, first: str, second: str) -> None:
        self._same[self.of(second)] = self.of(first)

    def of(self, key: str) -> str:
        root = key
        while (above := self._same.get(root, root)) != root:
            root = above
        while key != root:
            self._same[key], key = root, self._same[key]
        return root


def _table(text: str, path: Path) -> Thesaurus:
    """A table of relations."""
    terms = _Terms()
    links: list[tuple[str, str, str]] = []
    for first, relation, second in _table_rows(text, path):
        a, b = terms.add(first), terms.add(second)
        if relation == "synonym":
            terms.join(a, b)
        else:
            links.append((a, relation, b))
    labels: dict[str, list[str]] = {}
    for key, term in terms.written.items():
        labels.setdefault(terms.written[terms.of(key)], []).extend(words_for(term))
    named = [(terms.written[terms.of(a)], relation, terms.written[terms.of(b)]) for a, relation, b in links]
    broader = [(a, b) for a, relation, b in named if relation in _BELOW]
    broader += [(b, a) for a, relation, b in named if relation == "narrower"]
    return Thesaurus(labels, broader, [(a, b) for a, relation, b in named if relation in ("related", "part-of")], [])


def _table_rows(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """Term, relation and term of each line, but for comments, and for titles in the first."""
    begun = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{path}, line {number}"
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if len(cells) != 3 or not cells[0] or not cells[2]:
            raise InputError(f"{where}: {line.strip()[:80]!r} is not a term, a relation and a term with tabs between")
        is_title, begun = not begun, True
        relation = _relation(cells[1])
        if relation in RELATIONS:
            yield _term(cells[0], where), relation, _term(cells[2], where)
        elif not (is_title and relation in _HEADERS):
            raise InputError(f"{where}: there is no relation {cells[1][:80]!r}: write one of {', '.join(RELATIONS)}")


def _term(cell: str, where: str) -> str:
    words = words_for(cell)
    if not words:
        raise InputError(f"{where}: {cell[:80]!r} is not a term: it has no letters, or more than {LONGEST_WORD}")
    return words[0]


def unique(names: Iterable[tuple[str, str]]) -> list[str]:
    """Names for people, each once: the second of a pair is added where the first is taken.

    >>> unique([("Crane", "a"), ("Crane", "b")])
    ['Crane', 'Crane (b)']
    """
    taken: dict[str, None] = {}
    for name, more in names:
        fresh = name if name not in taken else f"{name} ({more})"
        while fresh in taken:
            fresh += "'"
        taken[fresh] = None
    return list(taken)
