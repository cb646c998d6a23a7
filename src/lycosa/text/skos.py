"""Thesauri in SKOS (and classes in RDFS), by rdflib: only thesaurus.py imports this, when it meets such a file."""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.sax import SAXParseException

from rdflib import OWL, RDF, RDFS, SKOS, BNode, Graph, Literal, Namespace
from rdflib.plugins.parsers.notation3 import BadSyntax

from lycosa.core.errors import InputError
from lycosa.text.ontology import fold
from lycosa.text.thesaurus import LARGEST, Thesaurus, unique, words_for

MOST_STATEMENTS = 1_000_000
"""These take a minute or two to read."""

_XL = Namespace("http://www.w3.org/2008/05/skos-xl#")
_LABELS = (SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel, RDFS.label)
"""The preferred ones first."""
_LONG_LABELS = {_XL.prefLabel: SKOS.prefLabel, _XL.altLabel: SKOS.altLabel, _XL.hiddenLabel: SKOS.hiddenLabel}
_BROADER = frozenset((SKOS.broader, SKOS.broaderTransitive, RDFS.subClassOf))
_NARROWER = frozenset((SKOS.narrower, SKOS.narrowerTransitive))
_CONCEPTS = frozenset((SKOS.Concept, OWL.Class, RDFS.Class))
_GROUPS = frozenset((SKOS.ConceptScheme, SKOS.Collection, SKOS.OrderedCollection))
_KEPT = frozenset((*_LABELS, *_LONG_LABELS, *_BROADER, *_NARROWER, SKOS.related, RDF.type, _XL.literalForm))

_ANYWHERE = "http://ontology.invalid/"
"""What relative addresses are relative to; nothing is fetched from there, or from anywhere."""

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_ENTITY = re.compile(r"""<!ENTITY\s+(\S+)\s+("[^"]*"|'[^']*')\s*>""")
_TRIPLE = re.compile(r"(?:<[^<>]*>|_:\S+)[ \t]*<[^<>]*>[ \t]*[<_\"].*\.[ \t]*(?:#.*)?\r?(?:\n|\Z)")


def read(text: str, form: str, path: Path) -> Thesaurus:
    """The concepts of a file, their labels, and their relations.

    Words are the preferred, alternative and hidden labels, in all languages, English ones first; a label in another
    language that is an English label of another concept is left out, as the pages are read for English words, too.
    `broader` and `narrower`, transitive or not, are IS-A, and so is `rdfs:subClassOf`; `related` is related; what leads
    to other thesauri (`exactMatch` and the like) is left out. Labels of SKOS-XL are read.
    """
    if form == "xml":
        text = _harmless(text, path)
    elif _TRIPLE.match(re.sub(r"\A(?:\s+|#[^\n]*\n)*", "", text)):
        form = "nt"
    with _quiet():
        statements = _parse(text, form, path)
    return _thesaurus(statements)


class _TooMany(Exception):
    pass


class _Statements(Graph):
    """Keeps of a graph what is needed, in the order of the file."""

    def __init__(self) -> None:
        super().__init__(bind_namespaces="none")
        self.kept: list[tuple[Any, Any, Any]] = []
        self.met = 0

    def add(self, triple: Any) -> _Statements:
        self.met += 1
        if self.met > MOST_STATEMENTS:
            raise _TooMany
        if triple[1] in _KEPT:
            self.kept.append(triple)
        return self


def _parse(text: str, form: str, path: Path) -> list[tuple[Any, Any, Any]]:
    names = {"xml": "RDF/XML", "turtle": "Turtle", "nt": "N-Triples"}
    statements = _Statements()
    try:
        statements.parse(data=text, format=form, publicID=_ANYWHERE)
    except _TooMany:
        raise InputError(
            f"the ontology {path} has more than {MOST_STATEMENTS:,} statements: take the part of it that you need"
        ) from None
    except Exception as error:  # rdflib lets all kinds of errors through
        if form == "nt":  # each line of it is Turtle, too, so this may be Turtle after all
            return _parse(text, "turtle", path)
        raise InputError(f"the ontology {path} can't be read as {names[form]}: {_reason(error)}") from error
    if not statements.met:
        raise InputError(f"the ontology {path} is {names[form]} without a statement: it has to have concepts")
    return statements.kept


def _reason(error: BaseException) -> str:
    if isinstance(error, SAXParseException):
        return f"line {error.getLineNumber()}: {error.getMessage()}"
    if isinstance(error, BadSyntax):
        return f"line {error.lines + 1}: {error._why}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, IndexError):  # of rdflib's, which looks for what comes next
        return "it ends in the middle of something"
    return " ".join(str(error).split())[:200] or type(error).__name__


def _harmless(text: str, path: Path) -> str:
    """XML whose entities, which many thesauri use to abbreviate addresses, are plain and don't make it huge."""
    entities = _ENTITY.findall(text)
    grown = sum(text.count(f"&{name};") * len(value) for name, value in entities)
    nested = any("&" in value or "%" in value for _, value in entities)
    if len(entities) != text.count("<!ENTITY") or nested or len(text) + grown > 2 * LARGEST:
        raise InputError(
            f"the ontology {path} has XML entities that are nested, huge or in other files: save it without them"
        )
    return _DECLARATION.sub("", text)  # it is text by now, whatever encoding it declares


@contextmanager
def _quiet() -> Iterator[None]:
    """Without rdflib's complaints of dates and addresses, which do not matter here."""
    log = logging.getLogger("rdflib")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _thesaurus(statements: list[tuple[Any, Any, Any]]) -> Thesaurus:
    forms = {s: o for s, p, o in statements if p == _XL.literalForm}
    groups = {s for s, p, o in statements if p == RDF.type and o in _GROUPS}
    labels: dict[Any, list[tuple[int, Literal]]] = {}
    plain: dict[Any, list[tuple[int, Literal]]] = defaultdict(list)
    broader: list[tuple[Any, Any]] = []
    related: list[tuple[Any, Any]] = []
    for s, p, o in statements:
        o, p = (forms.get(o), _LONG_LABELS[p]) if p in _LONG_LABELS else (o, p)
        if p == RDF.type:
            if o in _CONCEPTS:
                labels.setdefault(s, [])
        elif p in _LABELS:
            if isinstance(o, Literal):  # rdfs:label may be that of anything
                (plain[s] if p == RDFS.label else labels.setdefault(s, [])).append((_LABELS.index(p), o))
        elif o is not None and not isinstance(o, Literal) and p != _XL.literalForm:
            labels.setdefault(s, [])
            labels.setdefault(o, [])
            if p == SKOS.related:
                related.append((s, o))
            else:
                broader.append((s, o) if p in _BROADER else (o, s))
    concepts = [concept for concept in labels if concept not in groups]
    words, notes = _words([sorted(labels[c] + plain[c], key=_rank) for c in concepts])
    # Blank nodes have other names each time.
    places = [f"#{n}" if isinstance(concept, BNode) else str(concept) for n, concept in enumerate(concepts, 1)]
    shown = unique((own[0] if own else place, place) for own, place in zip(words, places, strict=True))
    names = dict(zip(concepts, shown, strict=True))
    return Thesaurus(
        {names[concept]: own for concept, own in zip(concepts, words, strict=True)},
        [(names[a], names[b]) for a, b in broader if a in names and b in names],
        [(names[a], names[b]) for a, b in related if a in names and b in names],
        notes,
    )


def _rank(label: tuple[int, Literal]) -> tuple[bool, int]:
    """English first, then by kind."""
    return not _is_english(label[1]), label[0]


def _is_english(label: Literal) -> bool:
    return not label.language or label.language.lower().split("-")[0] == "en"


def _words(labels: list[list[tuple[int, Literal]]]) -> tuple[list[list[str]], list[str]]:
    """The words of each concept, and what is to be said of those left out."""
    english: dict[str, set[int]] = defaultdict(set)
    for concept, own in enumerate(labels):
        for _, label in own:
            if _is_english(label):
                for word in words_for(str(label)):
                    english[fold(word)].add(concept)
    left: Counter[str] = Counter()
    words: list[list[str]] = []
    for concept, own in enumerate(labels):
        usable: list[str] = []
        for _, label in own:
            spellings = words_for(str(label))
            clear = [w for w in spellings if _is_english(label) or not english.get(fold(w), set()) - {concept}]
            left["empty, or longer than any word"] += not spellings
            left["also an English label of another concept"] += len(spellings) - len(clear)
            usable += clear
        words.append(list(dict.fromkeys(usable)))
    return words, [f"{count:,} labels left out: {why}" for why, count in left.items() if count]
