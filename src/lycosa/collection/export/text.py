"""A corpus of plain text: the pages' prose, each once.

Lines that are nothing but links (menus, lists of pages) are left out: 2 % of the words of an encyclopedia, 7 % of
those of home pages. Every line is a paragraph or a heading. In one file, a blank line stands between pages; in a folder
each page is a file, and `index.tsv` says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from lycosa.collection.export.cleaning import clean, count, iso, line, moment
from lycosa.collection.export.near import Repeats
from lycosa.collection.export.selection import Selection, Written
from lycosa.core.types import Visit
from lycosa.web.html import CLOSE, OPEN

INDEX = "index.tsv"

_LINK = re.compile(f"{OPEN}[^{CLOSE}]*{CLOSE}")
_WORD = re.compile(r"\w")


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write all texts into one file."""
    done = Written()
    for _, text in _texts(pages, done):
        out.write((b"\n" if done.pages > 1 else b"") + text.encode() + b"\n")
    return done


def write_folder(pages: Selection, folder: Path) -> Written:
    """Write each text into a file of its own."""
    done = Written()
    with open(folder / INDEX, "w", encoding="utf-8", newline="\n") as index:
        print("file", "url", "title", "score", "language", "fetched", sep="\t", file=index)
        for visit, text in _texts(pages, done):
            name = _name(done.pages, visit.node)
            with open(folder / name, "w", encoding="utf-8", newline="\n") as file:
                file.write(text + "\n")
            when = iso(moment(visit.started)) or ""
            about = (line(visit.node), line(visit.title), f"{visit.worth:.6g}", line(visit.language), when)
            print(name, *about, sep="\t", file=index)
    return done


def _texts(pages: Selection, done: Written) -> Iterator[tuple[Visit, str]]:
    """Pages with prose that no earlier page had; the others are counted."""
    repeats = Repeats(lambda seq: prose(pages.read(pages.visit(seq))[0].marked))
    bare = copies = 0
    for seq, visit in pages.pages():
        text = prose(pages.read(visit)[0].marked)
        if not text:
            bare += 1
        elif not repeats.is_new(seq, visit.simhash, text):
            copies += 1
        else:
            done.pages += 1
            yield visit, text
    if copies:
        done.remarks.append(f"left out: {count(copies, 'near-duplicate')}")
    if bare:
        done.remarks.append(f"left out: {count(bare, 'page')} without text")


def prose(marked: str) -> str:
    """What a page says, a paragraph a line, without the lines that only link elsewhere.

    >>> prose("\\x01Home\\x02 | \\x01About\\x02\\n\\n  Reefs   bleach, see \\x01here\\x02. \\n\\n")
    'Reefs bleach, see here.'
    """
    kept = []
    for raw in clean(_unlinked(marked)).split("\n"):
        if words := " ".join(raw.split()):
            kept.append(words)
    return "\n".join(kept)


def _unlinked(marked: str) -> str:
    """The text without marks, and without lines that have no word outside of links."""
    lines = [
        part
        for part in marked.split("\n")
        if OPEN not in part or CLOSE not in part or _WORD.search(_LINK.sub("", part))
    ]
    return "\n".join(lines).replace(OPEN, "").replace(CLOSE, "")


def _name(number: int, node: str) -> str:
    """A file's name that tells where its text is from.

    >>> _name(7, "http://a.test:81/Coral_Reefs.html?x=1")
    '000007-a.test-81-coral-reefs-html-x-1.txt'
    """
    told = re.sub(r"[^a-z0-9.]+", "-", node.partition("//")[2].lower() or node.lower())
    host, _, path = told.partition("-")
    slug = f"{host}-{path.replace('.', '-')}"[:80].strip("-.")
    return f"{number:06d}-{slug}.txt" if slug else f"{number:06d}.txt"
