"""Read an ontology from a table of relations, in place of WordNet."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.files import read_input
from lycosa.text.ontology import MAX_WORD_LENGTH, Ontology, fold

MAX_BYTES = 64_000_000
RELATIONS = ("is-a", "broader", "narrower", "related", "part-of", "synonym")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--.{0,200}?-->", re.DOTALL)
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")


def read_thesaurus(path: Path) -> Ontology:
    """Read an ontology from a TSV table with the columns `term`, `relation`, `term`.

    `#` starts a comment line; a first line with `relation` in the middle is a header. `is-a` and `broader` mean that
    the second term is broader, `narrower` that the first one is; `related` and `part-of` are symmetric; `synonym`
    assigns both words to one concept. Case and spaces are ignored.

    Markup is removed; a term with a qualifier such as "Cranes (birds)" matches with and without it. Words are looked up
    as they are, then by English stem (ontology.py). IS-A links that close a cycle are dropped with a note.
    """
    terms = _Terms()
    links: list[tuple[str, str, str]] = []
    for first, relation, second in _rows(_read(path), path):
        a, b = terms.add(first), terms.add(second)
        if relation == "synonym":
            terms.join(a, b)
        else:
            links.append((a, relation, b))
    if not terms.written:
        message = f"the ontology {path} is empty: write a term, a relation and a term on each line, separated by tabs"
        raise InputError("empty-file", message)
    labels: dict[str, list[str]] = {}
    for key, term in terms.written.items():
        labels.setdefault(terms.written[terms.of(key)], []).extend(words_for(term))
    named = [(terms.written[terms.of(a)], relation, terms.written[terms.of(b)]) for a, relation, b in links]
    broader = [(a, b) for a, relation, b in named if relation in ("is-a", "broader")]
    broader += [(b, a) for a, relation, b in named if relation == "narrower"]
    related = [(a, b) for a, relation, b in named if relation in ("related", "part-of")]
    return Ontology.build(labels, broader, related, str(path))


def words_for(label: str) -> list[str]:
    """Return the spellings of a term without markup, with and without its qualifier; none if it is empty or too long.

    >>> words_for("<i>Grus</i> &amp; kin  (birds)"), words_for("a < b"), words_for("...")
    (['Grus & kin (birds)', 'Grus & kin'], ['a < b'], [])
    """
    plain = " ".join(unescape(_TAG.sub(" ", label)).split())
    spellings = dict.fromkeys([plain, _QUALIFIER.sub("", plain)])
    return [word for word in spellings if len(word) <= MAX_WORD_LENGTH and any(letter.isalnum() for letter in word)]


def _read(path: Path) -> str:
    raw = read_input(path, MAX_BYTES, "the ontology")
    encoding = "utf-8"
    for mark, name in _BOMS:
        if raw.startswith(mark):
            raw, encoding = raw[len(mark) :], name
    try:
        text = raw.decode(encoding)
    except ValueError as error:
        raise InputError("bad-encoding", f"the ontology {path} is not {encoding} text: save it as UTF-8") from error
    if "\0" in text:
        raise InputError("bad-file", f"the ontology {path} is not text: it must be a table of relations")
    return text


class _Terms:
    """Terms of a table, grouped by synonymy (union-find); the first term of a group names it."""

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


def _rows(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    has_rows = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{path}, line {number}"
        cells = [cell.strip() for cell in line.rstrip("\r").split("\t")]
        if len(cells) != 3 or not cells[0] or not cells[2]:
            message = f"{where}: {line.strip()[:80]!r} is not a term, a relation and a term separated by tabs"
            raise InputError("bad-row", message)
        is_title, has_rows = not has_rows, True
        relation = re.sub(r"[\s_]+", "-", cells[1].strip().lower())
        if relation in RELATIONS:
            yield _term(cells[0], where), relation, _term(cells[2], where)
        elif not (is_title and relation in ("relation", "relations", "relationship", "predicate")):
            message = f"{where}: unknown relation {cells[1][:80]!r}; use one of {', '.join(RELATIONS)}"
            raise InputError("unknown-name", message)


def _term(cell: str, where: str) -> str:
    words = words_for(cell)
    if not words:
        message = f"{where}: {cell[:80]!r} is not a term: it has no letters, or more than {MAX_WORD_LENGTH} characters"
        raise InputError("bad-value", message)
    return words[0]
