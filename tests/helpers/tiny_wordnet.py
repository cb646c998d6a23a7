"""A WordNet of a dozen synsets in the original file format."""

from __future__ import annotations

from pathlib import Path

LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
LICENCE = ["  1 This is not the real one.  ", "  2 WordNet 9.9 Copyright by nobody.  "]

SYNSETS: dict[str, list[tuple[str, str]]] = {
    "noun": [
        ("entity", ""),
        ("animal beast", "@noun.entity +verb.hound"),
        ("dog domestic_dog Canis_familiaris", "@noun.animal %pnoun.tail"),
        ("cat", "@noun.animal"),
        ("tail", "@noun.entity #pnoun.dog"),
        ("Laika", "@inoun.dog"),
        ("glass", "@noun.entity"),
        ("spectacles glasses", "@noun.entity"),
        ("attorney_general", "@noun.entity"),
        ("mouse", "@noun.animal"),
        ("box", "@noun.entity"),
        ("boxful", "@noun.entity"),
        ("dog frump", "@noun.entity"),
    ],
    "verb": [
        ("hound hunt", "+noun.animal"),
        ("hope", ""),
        ("hop", ""),
        ("ask", ""),
        ("ask_for", "@verb.ask"),
        ("mouse", ""),
    ],
    "adj": [("big large", "!adj.small"), ("small", "!adj.big"), ("galore(ip)", "&adj.big")],
    "adv": [("well", "")],
}
"""Words of each synset by part of speech; pointers are a symbol and the first word of the target."""

EXCEPTIONS = {"noun": "mice mouse\nattorneys_general attorney_general\n", "verb": "", "adj": "", "adv": "best well\n"}


def write(directory: Path) -> Path:
    """Write all files."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = {kind: [_line(kind, words, pointers, {}) for words, pointers in SYNSETS[kind]] for kind in LETTERS}
    offsets: dict[str, int] = {}
    places: dict[str, list[int]] = {}
    for kind in LETTERS:
        at = sum(len(line) + 1 for line in LICENCE)
        places[kind] = []
        for (words, _), line in zip(SYNSETS[kind], lines[kind], strict=True):
            offsets.setdefault(f"{kind}.{words.split()[0]}", at)
            places[kind].append(at)
            at += len(line) + 1
    for kind, letter in LETTERS.items():
        rows = [
            f"{at:08}{_line(kind, words, pointers, offsets)[8:]}"
            for at, (words, pointers) in zip(places[kind], SYNSETS[kind], strict=True)
        ]
        (directory / f"data.{kind}").write_text("\n".join([*LICENCE, *rows]) + "\n")
        senses: dict[str, list[int]] = {}
        for at, (words, _) in zip(places[kind], SYNSETS[kind], strict=True):
            for word in words.split():
                senses.setdefault(word.partition("(")[0].lower(), []).append(at)
        entries = [
            f"{word} {letter} {len(found)} 1 @ {len(found)} 0 {' '.join(f'{at:08}' for at in found)}  "
            for word, found in sorted(senses.items())
        ]
        (directory / f"index.{kind}").write_text("\n".join([*LICENCE, *entries]) + "\n")
        (directory / f"{kind}.exc").write_text(EXCEPTIONS[kind])
    return directory


def _line(kind: str, words: str, pointers: str, offsets: dict[str, int]) -> str:
    named = words.split()
    links = []
    for pointer in pointers.split():
        at = next(
            place for place in range(1, len(pointer)) if pointer[place:].startswith(tuple(f"{k}." for k in LETTERS))
        )
        target = pointer[at:]
        links.append(f"{pointer[:at]} {offsets.get(target, 0):08} {LETTERS[target.partition('.')[0]]} 0000")
    frames = ["01 + 02 00"] if kind == "verb" else []
    parts = [f"{len(named):02x}", *(f"{word} 0" for word in named), f"{len(links):03}", *links, *frames]
    return f'00000000 03 {LETTERS[kind]} {" ".join(parts)} | what it means; "a | bar"  '
