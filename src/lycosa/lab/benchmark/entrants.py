"""Who is compared: the one list of published, modern and own strategies; programs from outside."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.spec import parse, spell
from lycosa.estimators import STRATEGIES
from lycosa.lab.hunters import AHEAD, ORACLE

SCENT = "scent"
PUBLISHED = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor", "link-context", "shark-search",
    "fish-search", "fl_n", "fl_e", "fl_ne", "sl_n", "lr_fl", "mab_var", "mab_first", "otie", "opic-alpha",
    "link-score", "nb-links", "soft-focus",
)  # fmt: skip

# Those of the published that led most cells, without those that need WordNet or training.
BEST = ("shark-search", "link-context", "best-first", "mab_var", "nb-links", "fl_n")

# From papers and programs of 2016 and later.
MODERN = ("sb-classifier", "tres", "deep-deep", "disco", "crawl4ai", "qfirst", "qmin")

FORESEEING = ("craw4llm",)  # oracles of the judge's word: no rivals

QUICK = ("best-first", "breadth-first")

PROGRAM = "lycosa.lab.strangers:Stranger"
MOST_NAME = 40


def entrants(*, quick: bool = False, full: bool = False) -> list[str]:
    """Those of a table, oracle and scent first."""
    if quick:
        return [ORACLE, SCENT, *QUICK]
    named = [*(PUBLISHED if full else BEST), *MODERN, *FORESEEING]
    return [ORACLE, SCENT, *(name for name in named if name in STRATEGIES)]


def kind(text: str) -> str:
    """What a table says of an entrant.

    >>> kind("scent"), kind("best-first"), kind("oracle"), kind(program("mine=true")), kind("scenthound:Mine")
    ('ours', 'published', 'oracle', 'program', 'own')
    """
    name = parse(text)[0]
    if name == PROGRAM:
        return "program"
    if name == ORACLE or name in FORESEEING:
        return "oracle"
    if name == SCENT or (name in STRATEGIES and STRATEGIES[name].paper.startswith("ours")):
        return "ours"
    return "modern" if name in MODERN else "published" if name in STRATEGIES else "own"


def is_rival(text: str) -> bool:
    """Whether it is one that scent is held against."""
    return kind(text) not in ("ours", "oracle")


def label(text: str) -> str:
    """What it is called in tables.

    >>> label(program("mine=true")), label("best-first,q=.9")
    ('mine', 'best-first,q=.9')
    """
    name, given = parse(text)
    return given.get("name", text) if name == PROGRAM else "look-ahead" if text == AHEAD else text


def program(told: str) -> str:
    """A strategy that is a program: `NAME=command ...`."""
    name, equals, command = told.partition("=")
    if not equals or not name.strip() or not command.strip():
        raise InputError(f"--rival is {told[:100]!r}: write NAME='command ...'")
    if not name.isprintable() or len(name) > MOST_NAME:
        raise InputError(f"--rival is called {name[:100]!r}: take at most {MOST_NAME} letters that can be printed")
    try:
        first = shlex.split(command)[0]
    except (ValueError, IndexError) as error:
        raise InputError(f"--rival {name}: the command {command!r} can't be read: {error}") from error
    if shutil.which(first) is None:
        if Path(first).is_file():
            raise InputError(f"--rival {name}: {first!r} is not executable: name its interpreter, too")
        raise InputError(f"--rival {name}: there is no program {first!r}")
    return spell(PROGRAM, {"name": name.strip(), "command": command.strip()})


def chosen(only: Sequence[str], also: Sequence[str], rivals: Sequence[str], *, quick: bool, full: bool) -> list[str]:
    """All that are compared: the usual ones or only those named, others beside them, and programs."""
    usual = [ORACLE, SCENT, *only] if only else entrants(quick=quick, full=full)
    texts = list(dict.fromkeys([*usual, *also, *(program(told) for told in rivals)]))
    names = [label(text) for text in texts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"two entrants are called {twice[0]!r}: give the program another name")
    return texts
