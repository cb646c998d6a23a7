"""Findings of an experiment as tables, figures and claims that can be printed, drawn and stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from lycosa.drawing.figure import Curve as Curve
from lycosa.drawing.figure import Figure as Drawn
from lycosa.drawing.formats import many
from lycosa_lab.confidence import Floats, PairedDifference, interval, paired
from lycosa_lab.experiments import AS_PUBLISHED as AS_PUBLISHED
from lycosa_lab.experiments import INDEPENDENT as INDEPENDENT
from lycosa_lab.experiments import Expected as Expected
from lycosa_lab.experiments import Mode as Mode

Verdict = Literal["holds", "does not hold", "cannot be tested here"]
HOLDS: Final = "holds"
FAILS: Final = "does not hold"
UNTESTED: Final = "cannot be tested here"

Cell = str | float | int | None

P = ParamSpec("P")


def plain(value: Any) -> Any:
    """Convert a value to plain JSON types: lists for arrays and sets, None for nan and infinity.

    >>> plain({"a": np.float32(0.5), 1: (np.int64(2), float("nan"), {"y", "x"})})
    {'a': 0.5, '1': [2, None, ['x', 'y']]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(held) for held in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(held) for held in value]
    return str(value)


@dataclass
class ReportTable:
    """A table of a report. A cell is text, a number (shown with `digits` decimal places) or None (empty)."""

    key: str  # unique in its report, and the name of its file: gouriten-table-7
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    mode: Mode = INDEPENDENT
    digits: int = 3
    note: str = ""  # for the reader: units, intervals, exclusions
    timed: bool = False  # contains measured times, which differ from run to run

    @classmethod
    def of(
        cls,
        key: str,
        title: str,
        columns: Mapping[str, Callable[..., Cell]],
        cases: Iterable[Sequence[Any]],
        mode: Mode = INDEPENDENT,
        note: str = "",
    ) -> ReportTable:
        """Build a table from one function per column, applied to each case."""
        rows = [[column(*case) for column in columns.values()] for case in cases]
        return cls(key, title, list(columns), rows, mode, note=note)


@dataclass
class ReportFigure(Drawn):
    """A figure of a report (lycosa.drawing.figure), with the mode of its numbers."""

    mode: Mode = INDEPENDENT
    timed: bool = False


@dataclass
class Claim:
    """A statement of a paper, the verdict on it, and the evidence."""

    text: str
    source: str  # reference: Gouriten et al. 2014, 8.2
    verdict: Verdict
    evidence: str
    timed: bool = False  # decided by measured times, which differ from run to run


class Ruling(NamedTuple):
    """Verdict on a claim with its evidence: `Claim(text, source, *ruling)`."""

    verdict: Verdict
    evidence: str


def decide(holds: bool, evidence: str | Sequence[str], unless: str = "", topics: int | None = None) -> Ruling:
    """Rule on a condition; the claim is untested if `unless` gives a reason, which then precedes the evidence.

    With `topics`, fewer than ENOUGH topics leave the claim untested. Evidence is a sentence without a full stop, or a
    list of complete lines.

    >>> decide(True, "1 of 1", "one is too few")
    Ruling(verdict='cannot be tested here', evidence='one is too few; 1 of 1')
    """
    lines, between = ([evidence], "; ") if isinstance(evidence, str) else (list(evidence), "\n")
    unless = unless or (too_few_reason(topics) if topics is not None else "")
    if unless:
        return Ruling(UNTESTED, between.join([unless, *lines]))
    return Ruling(HOLDS if holds else FAILS, between.join(lines))


ENOUGH = 6  # topics; with fewer, no p can be .05 or less
CHANCE = 0.05
NEGLIGIBLE = 0.05  # differences below this share of the other's value are ignored
CEILING = 0.99  # share of the largest possible value above which no strategy can be distinguished

WEIGHED = (
    "How claims that compare are decided: by means over the whole crawl (the area under the curve), not by its end; "
    "crossings of the curves are reported. One is better than another if the whole 95 % interval of the difference is "
    "above 0 and p is at most .05; it is not if the whole interval is below a twentieth of the other's value; "
    "otherwise the claim is undecided. Trials that cannot show a difference are left out: both crawls fetched the same "
    "pages, both are at the ceiling, or both are equal because the topic is exhausted. With fewer than 6 topics left a "
    "claim cannot be tested."
)


def too_few_reason(topics: int) -> str:
    """Return why this many topics are too few for a verdict; empty if they suffice."""
    if topics >= ENOUGH:
        return ""
    return f"{many(topics, 'topic')} only: with fewer than {ENOUGH} no difference can be distinguished from chance"


def compare(
    one: ArrayLike,
    other: ArrayLike,
    topics: Sequence[str],
    *,
    maximum: ArrayLike = math.inf,
    names: tuple[str, str] = ("the one", "the other"),
    noun: str = "harvest",
    expect: Expected = "better",
    budgets: Sequence[int] = (),
    excluded: Mapping[str, ArrayLike] = MappingProxyType({}),
    digits: int = 3,
) -> Ruling:
    """Rule on a claim that compares two strategies; the common rule of papers, benchmark and `lab run`.

    `one` and `other` have a row per trial, whose topic is in `topics`, and a column per budget (one column if only the
    end counts). Their means over the columns are compared, paired by trial: see WEIGHED.

    - `maximum`: the largest possible value, of all trials or of each: 1 for shares, the oracle's value, or math.inf;
    - `excluded`: masks of further trials to ignore, as they cannot show a difference, by reason;
    - `budgets`: pages of each column, to report where the mean curves cross;
    - `expect`: the claim about the first. "alike" means within a tenth of the other's mean on both sides.
    """
    if not len(topics):
        return Ruling(UNTESTED, f"{names[0]} and {names[1]} have no trial in common: see the remarks.")
    ours, theirs = (np.asarray(values, np.float64).reshape(len(topics), -1) for values in (one, other))
    mine, base = ours.mean(axis=1), theirs.mean(axis=1)
    silent = {
        "have nothing to compare": np.isnan(mine - base),
        "are both at the ceiling": np.minimum(mine, base) >= CEILING * np.asarray(maximum, np.float64),
        **{reason: np.asarray(which, np.bool_) for reason, which in excluded.items()},
    }
    kept = ~np.any(list(silent.values()), axis=0)
    used = [topic for topic, keep in zip(topics, kept.tolist(), strict=True) if keep]
    every, left = len(set(topics)), len(set(used))
    difference = paired(mine[kept], base[kept], groups=used)
    evidence = f"{names[0]} less {names[1]}, {noun}: {difference.text(digits)}."
    evidence += _crossing(ours[kept], theirs[kept], used, budgets, names)
    if reason := too_few_reason(every):
        return Ruling(UNTESTED, f"{reason}.\n{evidence}")
    if left < every:
        reasons = [
            f"{reason} in {int(np.count_nonzero(which))} of {len(topics)} trials"
            for reason, which in silent.items()
            if which.any()
        ]
        without = f"{' and '.join(names)} {', '.join(reasons)}: {left} of {every} topics are left."
        if left < ENOUGH:
            return Ruling(UNTESTED, f"{without}\n{evidence}")
        evidence = f"{evidence} {without}"
    if max(abs(_mean(mine[kept], used)), abs(_mean(base[kept], used))) < 0.5 * 10.0**-digits:
        return Ruling(UNTESTED, f"{' and '.join(names)} both found nearly nothing ({noun}).\n{evidence}")
    verdict = _verdict(difference, _mean(base[kept], used), expect)
    unsure = "These trials can't tell: the interval leaves both open.\n" if verdict == UNTESTED else ""
    return Ruling(verdict, unsure + evidence)


def _verdict(difference: PairedDifference, base: float, expect: Expected) -> Verdict:
    sure = difference.p <= CHANCE
    if expect == "alike":
        if max(abs(difference.low), abs(difference.high)) <= 2 * NEGLIGIBLE * abs(base):
            return HOLDS
        return FAILS if sure and (difference.low > 0 or difference.high < 0) else UNTESTED
    if difference.low > 0 and sure:
        return HOLDS if expect == "better" else FAILS
    if difference.high < NEGLIGIBLE * abs(base):
        return FAILS if expect == "better" else HOLDS
    return UNTESTED


def _mean(values: Floats, topics: Sequence[str]) -> float:
    return interval(values, draws=1, groups=topics).mean


def _crossing(ours: Floats, theirs: Floats, topics: Sequence[str], budgets: Sequence[int], names: Sequence[str]) -> str:
    """Return a sentence with the budgets at which the lead of the mean curves changes; empty without a crossing."""
    leads: list[tuple[int, str]] = []
    for at, budget in enumerate(budgets if len(topics) else ()):
        mine, base = _mean(ours[:, at], topics), _mean(theirs[:, at], topics)
        leader = names[mine < base]
        if abs(mine - base) > NEGLIGIBLE * max(mine, base) and leader != (leads[-1][1] if leads else ""):
            leads.append((budget, leader))
    ahead = [f"{leader} from {budget:,} pages on" for budget, leader in leads]
    return f" The curves cross: ahead is {', then '.join(ahead)}." if len(ahead) > 1 else ""


def combine_rulings(rulings: Iterable[Ruling]) -> Ruling:
    """Combine the rulings on the parts of a claim: it fails if any part fails, and holds if all hold."""
    several = list(rulings)
    verdicts = {one.verdict for one in several}
    verdict: Verdict = FAILS if FAILS in verdicts else HOLDS if verdicts == {HOLDS} else UNTESTED
    return Ruling(verdict, "\n".join(dict.fromkeys(line for one in several for line in one.evidence.splitlines())))


def claim_of(source: str, text: str, *, timed: bool = False) -> Callable[[Callable[P, Ruling]], Callable[P, Claim]]:
    """Return a decorator for a function that returns a `Ruling`: it then returns the ruled `Claim` of the paper."""

    def declared(rule: Callable[P, Ruling]) -> Callable[P, Claim]:
        @wraps(rule)
        def weigh(*args: P.args, **options: P.kwargs) -> Claim:
            return Claim(text, source, *rule(*args, **options), timed=timed)

        return weigh

    return declared


def qualified(noun: str, claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims with a qualifier, such as a graph or a judge, appended to their text."""
    return [replace(claim, text=f"{claim.text} ({noun})") for claim in claims]


@dataclass
class Findings:
    """The result of one experiment. `parts` are in reading order."""

    key: str  # otie, gouriten, benchmark, an experiment's name: names the directory
    title: str
    parts: list[ReportTable | ReportFigure] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    summary: str = ""  # a paragraph on the method and the result
    configuration: Mapping[str, Any] = field(default_factory=dict)  # everything needed to repeat it
    corpus: Mapping[str, Any] = field(default_factory=dict)  # source, fingerprint, pages, links ...
    remarks: list[str] = field(default_factory=list)  # exclusions, failures and their reasons

    def as_dict(self) -> dict[str, Any]:
        parts = [{"is": "figure" if isinstance(part, ReportFigure) else "table", **asdict(part)} for part in self.parts]
        return asdict(self) | {"parts": parts}
