"""What an experiment found, in a form that can be printed, drawn and stored: tables, figures, claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from typing import Any, Final, Literal, NamedTuple, ParamSpec

from lycosa.drawing.figure import Curve
from lycosa.drawing.figure import Figure as Drawn
from lycosa.lab.experiments import AS_PUBLISHED, INDEPENDENT, Mode

__all__ = [
    "AS_PUBLISHED", "FAILS", "HOLDS", "INDEPENDENT", "UNTESTED", "Cell", "Claim", "Curve", "Figure", "Findings", "Mode",
    "Ruling", "Table", "Verdict", "on", "ruled", "says",
]  # fmt: skip

Verdict = Literal["holds", "does not hold", "cannot be tested here"]
HOLDS: Final = "holds"
FAILS: Final = "does not hold"
UNTESTED: Final = "cannot be tested here"

Cell = str | float | int | None

P = ParamSpec("P")


@dataclass
class Table:
    """Rows of cells under titles. A cell is a text, a number (drawn with `digits` places) or None (nothing to tell)."""

    key: str  # unique in its report, also the file name: gouriten-table-7
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    mode: Mode = INDEPENDENT
    digits: int = 3
    note: str = ""  # for the reader: units, intervals, what was left out
    timed: bool = False  # holds times, which differ from run to run: goes to times.json

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        columns: Mapping[str, Callable[..., Cell]],
        cases: Iterable[Sequence[Any]],
        mode: Mode = INDEPENDENT,
        note: str = "",
    ) -> Table:
        """Each column with what it says of a case.

        >>> Table.of("t", "Squares", {"n": lambda n: n, "n * n": lambda n: n * n}, [(1,), (2,)]).rows
        [[1, 1], [2, 4]]
        """
        rows = [[tell(*case) for tell in columns.values()] for case in cases]
        return cls(key, title, list(columns), rows, mode, note=note)


@dataclass
class Figure(Drawn):
    """A figure of a report: see lycosa.drawing.figure."""

    mode: Mode = INDEPENDENT
    timed: bool = False


@dataclass
class Claim:
    """Something that a paper says, and whether it is so here. `evidence` has the figures that decide it."""

    text: str
    source: str  # where it is said: Gouriten et al. 2014, 8.2
    verdict: Verdict
    evidence: str
    timed: bool = False  # decided by times, which differ from run to run: goes to times.json


class Ruling(NamedTuple):
    """A verdict and the figures that decide it: what makes a claim of a sentence, `Claim(text, source, *ruling)`."""

    verdict: Verdict
    evidence: str


def ruled(holds: bool, evidence: str | Sequence[str], unless: str = "") -> Ruling:
    """Whether something holds; or, where `unless` says why, that it can't be tested here. That is said first.

    Evidence is a sentence without its end, or a list of whole ones, each a line.

    >>> ruled(True, "1 of 1")
    Ruling(verdict='holds', evidence='1 of 1')
    >>> ruled(True, "1 of 1", "one is too few")
    Ruling(verdict='cannot be tested here', evidence='one is too few; 1 of 1')
    """
    lines, between = ([evidence], "; ") if isinstance(evidence, str) else (list(evidence), "\n")
    if unless:
        return Ruling(UNTESTED, between.join([unless, *lines]))
    return Ruling(HOLDS if holds else FAILS, between.join(lines))


def says(source: str, text: str, *, timed: bool = False) -> Callable[[Callable[P, Ruling]], Callable[P, Claim]]:
    """Declare a claim: a paper says this there; the function below decides by numbers whether it is so.

    >>> @says("Someone 2014, 8.2", "It is larger")
    ... def larger(one: int, other: int) -> Ruling:
    ...     return ruled(one > other, f"{one} against {other}")
    >>> larger(3, 2)
    Claim(text='It is larger', source='Someone 2014, 8.2', verdict='holds', evidence='3 against 2', timed=False)
    """

    def declared(rule: Callable[P, Ruling]) -> Callable[P, Claim]:
        @wraps(rule)
        def weigh(*args: P.args, **options: P.kwargs) -> Claim:
            return Claim(text, source, *rule(*args, **options), timed=timed)

        return weigh

    return declared


def on(what: str, claims: Iterable[Claim]) -> list[Claim]:
    """The same claims, said of some graphs, or by some judge."""
    return [replace(claim, text=f"{claim.text} ({what})") for claim in claims]


@dataclass
class Findings:
    """All of one experiment. `parts` are in the order in which they are to be read."""

    key: str  # otie, gouriten, benchmark, an experiment's name: names the directory
    title: str
    parts: list[Table | Figure] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    summary: str = ""  # a paragraph: what was done, what came out
    configuration: Mapping[str, Any] = field(default_factory=dict)  # everything needed to repeat it
    corpus: Mapping[str, Any] = field(default_factory=dict)  # source, fingerprint, pages, links ...
    remarks: list[str] = field(default_factory=list)  # what was left out and why, what went wrong

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; each part says what it is."""
        parts = [{"is": type(part).__name__.lower(), **asdict(part)} for part in self.parts]
        return asdict(self) | {"parts": parts}
