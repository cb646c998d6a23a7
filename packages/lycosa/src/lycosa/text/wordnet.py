"""Read WordNet from its database files (format: manual page wndb(5WN)).

    index.noun   dog n 7 5 @ ~ #m #p %p 7 1 02084071 10114209 ...       a word, and its synsets in data.noun
    data.noun    02084071 05 n 03 dog 0 domestic_dog 0 ... 022 @ 02083346 n 0000 ... | a member of ...
    noun.exc     mice mouse                                             irregular forms

and the same for verbs, adjectives and adverbs. The number of a synset is the byte offset of its line, so every
reference can be checked. The eight large files have 28 MB, and parsing them into Python objects would take two seconds.
They are therefore kept as byte arrays: fields are located by the positions of spaces, numbers are parsed column-wise,
and only the words of the index become strings.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import runs
from lycosa.core.errors import InputError
from lycosa.core.files import read_whole
from lycosa.text.languages import ENGLISH
from lycosa.text.ontology import ConceptEdges, Ontology, acyclic, depths, dropped_link_notes

KINDS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}  # parts of speech in file names, and their letters
REMEDY = "install WordNet again, or give a directory that has its files with --ontology DIR"
FILES = tuple(name for kind in KINDS for name in (f"data.{kind}", f"index.{kind}", f"{kind}.exc"))

# Morphy's rules of detachment: ending and replacement (manual page morphy(7WN))
ENDINGS = {
    "noun": "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}

_Rules = dict[str, list[tuple[str, str]]]

_RULES: dict[str, _Rules] = {kind: {} for kind in ENDINGS}  # rules by last letter of the ending
for _kind, _text in ENDINGS.items():
    for _ending, _instead in (rule.split(":") for rule in _text.split()):
        _RULES[_kind].setdefault(_ending[-1], []).append((_ending, _instead))
_RULES["noun"]["l"] = []  # -ful (boxesful): the part before it is inflected
_HYPHENS = re.compile("[-_]")

_VERSION = re.compile(rb"^  \d+ WordNet (\d+(?:\.\d+)*) Copyright", re.MULTILINE)
_SPACE, _NEWLINE, _BAR = 32, 10, 124

_HEX = np.full(256, 255, np.uint8)
for _number, _digit in enumerate(b"0123456789abcdef"):
    _HEX[_digit] = _number

Positions = NDArray[np.int64]


def find_wordnet(place: str = "") -> Path:
    """Return the directory of WordNet's files: `place`, else $LYCOSA_WORDNET, else one of `usual_places`."""
    for named, option in ((place, "--ontology"), (os.environ.get("LYCOSA_WORDNET", ""), "LYCOSA_WORDNET")):
        if named:
            existing = next(filter(_has_wordnet, (Path(named), Path(named, "dict"))), None)
            if existing is None:
                message = f"{option} {named} has no WordNet files such as data.noun: give the directory that has them"
                raise InputError("missing-file", message)
            return existing
    for directory in filter(_has_wordnet, usual_places()):
        return directory
    install = "install it (on Debian and Ubuntu: apt-get install wordnet-base)"
    give = "give a directory with its files (data.noun and others) with --ontology DIR"
    raise InputError("missing-package", f"WordNet is not installed; {install}, or {give}")


def user_directory() -> Path:
    data = os.environ.get("XDG_DATA_HOME", "")
    return Path(data if os.path.isabs(data) else os.path.expanduser("~/.local/share"), "lycosa", "wordnet")


def usual_places() -> Iterator[Path]:
    if named := os.environ.get("WNSEARCHDIR"):
        yield Path(named)
    if named := os.environ.get("WNHOME"):
        yield Path(named, "dict")
    yield user_directory()
    yield Path(sys.prefix, "share", "wordnet")
    for name in (
        "/usr/share/wordnet",
        "/usr/share/wordnet/dict",
        "/usr/local/share/wordnet",
        "/usr/local/share/wordnet/dict",
        "/usr/local/WordNet-3.0/dict",
        "/usr/local/WordNet-3.1/dict",
        "/opt/homebrew/opt/wordnet/dict",
    ):
        yield Path(name)


def _has_wordnet(directory: Path) -> bool:
    try:
        return (directory / "data.noun").exists()
    except OSError:
        return False


class Lemmas:
    """Dictionary of WordNet with its morphology (morphy).

    The base forms of a word are the word itself, and for each part of speech the irregular forms, or else the result of
    the first detachment rule that gives a known word. Each word of a phrase may be inflected. Unknown words are tried
    again with other hyphens and without dots.
    """

    def __init__(
        self,
        rows: dict[str, dict[str, int]],
        senses: ConceptEdges,
        exceptions: dict[str, dict[str, list[str]]],
        text: bytes,
        at: Positions,
        first: Positions,
    ) -> None:
        self._parts = [(kind, entries, exceptions[kind], _RULES[kind]) for kind, entries in rows.items()]
        self._entries = rows  # for each part of speech: words of its index, and their rows in `senses`
        self._senses = senses
        # word w is `text[at[w] : at[w + 1]]`; synset s has the words from `first[s]` on
        self._text, self._at, self._first = text, at, first

    def __len__(self) -> int:
        return len(set().union(*self._entries.values()))

    def _forms(self, word: str) -> dict[int, str]:
        forms: dict[int, str] = {}
        last, is_phrase = word[-1:], "_" in word
        for kind, entries, exceptions, rules in self._parts:
            if word in entries:
                forms[entries[word]] = word
            if word in exceptions:
                forms.update((entries[base], base) for base in exceptions[word] if base in entries)
                continue
            base = _detach(word, kind, entries, rules) if last in rules else ""
            if is_phrase and not base:
                base = "_".join([_base(part, kind, entries, exceptions, rules) for part in word.split("_")])
            if base and base in entries:
                forms[entries[base]] = base
        return forms

    def look_up(self, word: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the entries that a word may be a form of, and their synsets: nouns, verbs, adjectives, adverbs."""
        forms = self._forms(word)
        if not forms:
            if word.isalpha():
                return (), ()
            swapped = word.replace("-", "_"), word.replace("_", "-")
            for other in (*swapped, _HYPHENS.sub("", word), word.replace(".", "")):
                if other != word and (forms := self._forms(other)):
                    break
        if len(forms) == 1:
            [(row, base)] = forms.items()
            return (base,), tuple(self._senses.of(row).tolist())
        senses = dict.fromkeys([sense for row in forms for sense in self._senses.of(row).tolist()])
        return tuple(dict.fromkeys(forms.values())), tuple(senses)

    def words(self, concept: int) -> Sequence[str]:
        return [self._word(number) for number in range(self._first[concept], self._first[concept + 1])]

    def _word(self, number: int) -> str:
        # Adjectives may have a syntactic marker: galore(ip).
        return self._text[self._at[number] : self._at[number + 1]].decode("utf-8", "replace").partition("(")[0]

    def name(self, concept: int, kind: str) -> str:
        """Return the usual name of a synset: first word, part of speech, and sense number."""
        word = self._word(int(self._first[concept]))
        row = self._entries[kind].get(word.lower())
        senses = [] if row is None else self._senses.of(row).tolist()
        return f"{word}.{KINDS[kind]}.{senses.index(concept) + 1 if concept in senses else 0:02}"


def _base(word: str, kind: str, entries: dict[str, int], exceptions: dict[str, list[str]], rules: _Rules) -> str:
    if word in exceptions:
        return exceptions[word][0]
    return (_detach(word, kind, entries, rules) if word[-1:] in rules else "") or word


def _detach(word: str, kind: str, entries: dict[str, int], rules: _Rules) -> str:
    """Return the result of the first detachment rule that gives a known word, or an empty string."""
    rest = ""
    if kind == "noun":
        if word.endswith("ful"):
            word, rest = word[:-3], "ful"  # boxesful: boxful
        elif len(word) <= 2 or word.endswith("ss"):
            return ""
    for ending, instead in rules.get(word[-1:], ()):
        if word.endswith(ending) and (base := word[: -len(ending)] + instead) in entries:
            return base + rest
    return ""


class Names(Sequence[str]):
    def __init__(self, lemmas: Lemmas, starts: dict[str, int], count: int) -> None:
        self._lemmas, self._starts, self._count = lemmas, starts, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, concept: int) -> str: ...
    @overload
    def __getitem__(self, concept: slice) -> list[str]: ...
    def __getitem__(self, concept: int | slice) -> str | list[str]:
        if isinstance(concept, slice):
            return [self[number] for number in range(*concept.indices(self._count))]
        number = range(self._count)[concept]
        kind = [kind for kind, start in self._starts.items() if start <= number][-1]
        return self._lemmas.name(number, kind)


def read_wordnet(directory: Path) -> Ontology:
    """Read WordNet's files; raise InputError with file and line number if they are damaged."""
    digest = xxhash.xxh3_64()
    data: dict[str, _Synsets] = {}
    starts: dict[str, int] = {}
    count, version = 0, ""
    for kind in KINDS:
        with _File.read(directory, f"data.{kind}", digest) as file:
            data[kind] = _read_data(file, kind)
            version = version or file.version()
        starts[kind], count = count, count + len(data[kind].offsets)

    entries: dict[str, dict[str, int]] = {}
    senses, per_word, row = [], [], 0
    for kind, synsets in data.items():
        with _File.read(directory, f"index.{kind}", digest) as file:
            words, counts, synset_rows = _read_index(file, synsets)
        entries[kind] = dict(zip(words, range(row, row + len(words)), strict=True))
        row += len(words)
        per_word.append(counts)
        senses.append(synset_rows + starts[kind])
    exceptions = {kind: _read_exceptions(directory, f"{kind}.exc", digest) for kind in KINDS}

    lemmas = Lemmas(
        entries,
        ConceptEdges(_offsets(per_word), np.concatenate(senses).astype(np.int32)),
        exceptions,
        b"".join(synsets.words for synsets in data.values()),
        _offsets([synsets.word_lengths for synsets in data.values()]),
        _offsets([synsets.word_counts for synsets in data.values()]),
    )
    names = Names(lemmas, starts, count)
    sources = np.concatenate([synsets.pointer_of + starts[kind] for kind, synsets in data.items()])
    targets = np.concatenate([_resolve(synsets, data, starts) for synsets in data.values()])
    is_a = np.concatenate([synsets.is_a for synsets in data.values()])
    parents, closing = acyclic(ConceptEdges.between(sources[is_a], targets[is_a], count))
    return Ontology(
        names,
        parents,
        ConceptEdges.between(np.concatenate([sources, targets]), np.concatenate([targets, sources]), count),
        depths(parents),
        max((word.count("_") + 1 for words in entries.values() for word in words), default=0),
        f"WordNet {version} in {directory}" if version else f"WordNet in {directory}",
        digest.hexdigest(),
        lemmas,
        dropped_link_notes(names, closing),
        language=ENGLISH,
    )


def _offsets(counts: list[Positions]) -> NDArray[np.intp]:
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.intp)


@dataclass
class _File:
    """Database file: its bytes, and the bounds of the lines of its table."""

    path: Path
    content: bytes
    buffer: NDArray[np.uint8]
    begins: Positions
    ends: Positions
    lines: Positions  # line numbers, starting at 1; lines of the licence are skipped

    @classmethod
    def read(cls, directory: Path, name: str, digest: xxhash.xxh3_64) -> _File:
        path = directory / name
        content = _content(path)
        digest.update(content)
        buffer = np.frombuffer(content, np.uint8)
        ends = np.flatnonzero(buffer == _NEWLINE)
        if not len(ends) or not content.endswith(b"\n"):
            reason = "the file ends in the middle of a line" if content else "the file is empty"
            raise damaged(path, len(ends) + 1, reason)
        begins = np.concatenate([[0], ends[:-1] + 1])
        table = buffer[begins] != _SPACE  # the lines of the licence begin with two spaces
        lines = np.flatnonzero(table) + 1
        if not len(lines):
            raise damaged(path, 1, "the file has no entries")
        return cls(path, content, buffer, begins[table], ends[table], lines)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self.content, self.buffer = b"", np.zeros(0, np.uint8)

    def check(self, is_valid: NDArray[np.bool_], reason: str, of: Positions | None = None) -> None:
        """Raise InputError for the first invalid entry; `of` maps entries to lines of the table."""
        if not is_valid.all():
            bad = int(np.argmin(is_valid))
            raise damaged(self.path, int(self.lines[bad if of is None else of[bad]]), reason)

    def number(self, at: Positions, digits: int) -> tuple[Positions, NDArray[np.bool_]]:
        """Parse the decimal numbers of `digits` digits at some positions; return them with their validity."""
        total = np.zeros(len(at), np.int64)
        is_valid = np.ones(len(at), bool)
        for column in range(digits):
            # characters below "0" wrap around, and are too large as well
            digit = self.buffer.take(at + column, mode="clip") - np.uint8(48)
            is_valid &= digit <= 9
            total = 10 * total + digit
        return total, is_valid

    def version(self) -> str:
        match = _VERSION.search(self.content[:20_000])
        return match[1].decode() if match else ""


@dataclass
class _Synsets:
    file: _File
    offsets: Positions
    word_counts: Positions
    word_lengths: Positions
    words: bytes
    pointer_of: Positions  # source synset of each pointer
    pointer_to: Positions
    pointer_kind: NDArray[np.uint8]
    is_a: NDArray[np.bool_]


def _read_data(file: _File, kind: str) -> _Synsets:
    """Parse all synsets of a part of speech: 00001740 03 n 01 entity 0 003 ~ 00001930 n 0000 ... | gloss."""
    buffer, begins = file.buffer, file.begins
    bars = np.flatnonzero(buffer == _BAR)
    first_bar = np.searchsorted(bars, begins)
    bar = bars[np.minimum(first_bar, len(bars) - 1)] if len(bars) else np.full(len(begins), -1)
    is_valid = (first_bar < len(bars)) & (bar < file.ends) & (bar > begins + 18)
    file.check(is_valid, "it is not a synset: '|' is missing or misplaced")
    spaces = np.flatnonzero(buffer == _SPACE)
    first = np.searchsorted(spaces, begins)  # field f of a line ends at spaces[first + f]
    fields = np.searchsorted(spaces, bar) - first

    offsets, is_valid = file.number(begins, 8)
    file.check(is_valid & (buffer[begins + 8] == _SPACE), "it does not start with an eight-digit number")
    file.check(offsets == begins, "its number is not its byte offset, so bytes before it are missing or added")
    high, low = _HEX[buffer[begins + 14]].astype(np.int64), _HEX[buffer[begins + 15]].astype(np.int64)
    words = 16 * high + low
    file.check((high < 16) & (low < 16) & (words > 0), "its word count is not a number")
    file.check(fields >= 5 + 2 * words, "it has fewer words than its word count")
    at = spaces[first + 3 + 2 * words] + 1
    pointers, is_valid = file.number(at, 3)
    file.check(is_valid & (spaces[first + 4 + 2 * words] == at + 3), "its pointer count is not a number")
    wanted = 5 + 2 * words + 4 * pointers
    file.check((fields >= wanted) if kind == "verb" else (fields == wanted), "its pointer count is wrong")

    of, number = _spread(words)
    ends = spaces[first[of] + 4 + 2 * number]
    starts = spaces[first[of] + 3 + 2 * number] + 1
    lengths = ends - starts
    file.check(lengths > 0, "it has an empty word", of)
    _, inside = _spread(lengths)
    text = buffer[np.repeat(starts, lengths) + inside].tobytes()

    of, number = _spread(pointers)
    field = first[of] + 5 + 2 * words[of] + 4 * number
    symbol, end = spaces[field - 1] + 1, spaces[field]
    to, is_valid = file.number(end + 1, 8)
    is_valid &= (symbol < end) & (spaces[field + 1] == end + 9) & (spaces[field + 2] == end + 11)
    file.check(is_valid & (spaces[field + 3] == end + 16), "it has an invalid pointer", of)
    is_a = (buffer[symbol] == ord("@")) & ((end == symbol + 1) | (buffer[symbol + 1] == ord("i")))
    return _Synsets(file, offsets, words, lengths, text, of, to, buffer[end + 10], is_a)


def _spread(counts: Positions) -> tuple[Positions, Positions]:
    """Return owner and index of each element: for counts of 2 and 3, (0 0 1 1 1) and (0 1 0 1 2)."""
    return np.repeat(np.arange(len(counts)), counts), runs(np.zeros_like(counts), counts)


def _resolve(synsets: _Synsets, data: dict[str, _Synsets], starts: dict[str, int]) -> Positions:
    targets = np.full(len(synsets.pointer_to), -1, np.int64)
    for kind, letter in KINDS.items():
        mine = np.isin(synsets.pointer_kind, [ord(letter), ord("s") if kind == "adj" else ord(letter)])
        offsets = data[kind].offsets
        wanted = synsets.pointer_to[mine]
        at = np.minimum(np.searchsorted(offsets, wanted), len(offsets) - 1)
        targets[mine] = np.where(offsets[at] == wanted, at + starts[kind], -1)
    synsets.file.check(targets >= 0, "it has a pointer to a missing synset", synsets.pointer_of)
    return targets


def _read_index(file: _File, synsets: _Synsets) -> tuple[list[str], Positions, Positions]:
    """Parse the words of a part of speech, their sense counts, and their senses: dog n 1 2 @ ~ 1 1 02084071."""
    buffer = file.buffer
    letters = (buffer != _SPACE) & (buffer != _NEWLINE)
    edges = np.flatnonzero(letters[1:] != letters[:-1]) + 1
    if letters[0]:
        edges = np.concatenate([[0], edges])
    starts, ends = edges[0::2], edges[1::2]  # a file ends with a newline, so every field has an end
    first = np.searchsorted(starts, file.begins)
    fields = np.searchsorted(starts, file.ends) - first
    file.check(fields >= 7, "it has too few fields")
    senses, is_valid = _short_numbers(file, starts[first + 2], ends[first + 2])
    pointers, is_number = _short_numbers(file, starts[first + 3], ends[first + 3])
    file.check(is_valid & is_number & (senses > 0), "its sense count is not a number")
    file.check(fields == 6 + pointers + senses, "its sense count is wrong")
    of, number = _spread(senses)
    field = first[of] + 6 + pointers[of] + number
    file.check(ends[field] == starts[field] + 8, "a sense is not an eight-digit number", of)
    wanted, is_valid = file.number(starts[field], 8)
    at = np.minimum(np.searchsorted(synsets.offsets, wanted), len(synsets.offsets) - 1)
    is_valid &= synsets.offsets[at] == wanted
    file.check(is_valid, f"a sense is missing in {synsets.file.path.name}", of)
    try:
        words = _slices(file.content, starts[first], ends[first])
    except UnicodeDecodeError as error:
        line = int(np.searchsorted(file.begins, error.start, side="right")) - 1
        raise damaged(file.path, int(file.lines[max(line, 0)]), "it is not UTF-8") from None
    if len(set(words)) != len(words):
        last = {word: number for number, word in enumerate(words)}
        first_duplicate = next(number for number, word in enumerate(words) if last[word] != number)
        raise damaged(file.path, int(file.lines[first_duplicate]), f"duplicate entry {words[first_duplicate][:40]!r}")
    return words, senses, at


def _slices(content: bytes, starts: Positions, ends: Positions) -> list[str]:
    text = content.decode("utf-8")
    if len(text) == len(content):
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return [content[start:end].decode() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _short_numbers(file: _File, starts: Positions, ends: Positions) -> tuple[Positions, NDArray[np.bool_]]:
    total = np.zeros(len(starts), np.int64)
    is_valid = ends - starts <= 3
    for digits in (1, 2, 3):
        some = np.flatnonzero(ends - starts == digits)
        total[some], right = file.number(starts[some], digits)
        is_valid[some] &= right
    return total, is_valid


def _read_exceptions(directory: Path, name: str, digest: xxhash.xxh3_64) -> dict[str, list[str]]:
    path = directory / name
    bases_of: dict[str, list[str]] = {}
    content = _content(path)
    digest.update(content)
    for number, line in enumerate(content.splitlines(), 1):
        try:
            form, *bases = line.decode("utf-8").split()
        except ValueError:  # not UTF-8, or an empty line
            raise damaged(path, number, "it is not an irregular form") from None
        if not bases:
            raise damaged(path, number, f"{form[:40]!r} has no base form")
        bases_of.setdefault(form, []).extend(bases)
    return bases_of


def _content(path: Path) -> bytes:
    try:
        return read_whole(path, 200_000_000)  # limit in bytes; the file of nouns has 15 million
    except FileNotFoundError:
        raise InputError("missing-file", f"WordNet is not complete: {path} is missing; {REMEDY}") from None
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read {path} of WordNet: {error.strerror}; {REMEDY}") from error


def damaged(path: Path, line: int, reason: str) -> InputError:
    return InputError("bad-file", f"WordNet is damaged: {path}, line {line:,}: {reason}; {REMEDY}")
