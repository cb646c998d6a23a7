"""Interclass rules: pages of class A link to pages of class B with probability p."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write, read_input

HEADER = "# Lycosa interclass rules, version 1"
_COLUMNS = "from\tto\tprobability\tcount"
MAX_LINKS = 5  # maximum number of links of a path; the number of paths grows exponentially
Paths = Literal["sum", "max"]


class Rule(NamedTuple):
    """Rule: pages of class `source` link to pages of class `to` with this probability, estimated from `cases`."""

    source: str
    to: str
    probability: float
    cases: float

    def __str__(self) -> str:
        return f"{self.source} -> {self.to} ({self.probability:.3g})"


class RuleBook:
    """Rules between the classes of a taxonomy.

    `chain` computes the probability that a page of each class leads to a target within a few links: the product of the
    rules along each acyclic path, merged by sum or max. Targets are never intermediate; links between pages of the
    target only count for pages of the target itself.

    Paper: Altingovde, Ulusoy 2004, tables 1 and 2, figures 2, 4 and 5.

    >>> book = RuleBook()
    >>> for to, count in {"CH": 8, "PH": 1, "SP": 1}.items(): book.add("DH", to, count)
    >>> for to, count in {"DH": 2, "CH": 4, "PH": 4}.items(): book.add("CH", to, count)
    >>> {name: round(p, 6) for name, p in book.chain({"PH"}, depth=2).items()}    # .1 + .8 * .4; .4 + .2 * .1
    {'CH': 0.42, 'DH': 0.42}
    """

    def __init__(self) -> None:
        self._count: dict[str, dict[str, float]] = {}
        self._total: dict[str, float] = {}

    def __len__(self) -> int:
        return sum(map(len, self._count.values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleBook) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # rule books are mutable

    def __iter__(self) -> Iterator[Rule]:
        for source in sorted(self._count):
            row = self._count[source]
            for to in sorted(row, key=lambda name: (-row[name], name)):
                yield Rule(source, to, self.probability(source, to), row[to])

    @property
    def classes(self) -> list[str]:
        return sorted(self._count.keys() | {to for row in self._count.values() for to in row})

    def add(self, source: str, to: str, count: float = 1.0) -> None:
        row = self._count.setdefault(source, {})
        row[to] = row.get(to, 0.0) + count
        self._total[source] = self._total.get(source, 0.0) + count

    def probability(self, source: str, to: str) -> float:
        total = self._total.get(source, 0.0)
        return self._count[source].get(to, 0.0) / total if total else 0.0

    def has_rules(self, source: str) -> bool:
        return source in self._count

    def grouped(self, level: int) -> RuleBook:
        """Return the rules between branches of the first `level` levels of the taxonomy; cases are added up.

        >>> book = RuleBook(); book.add("Art/Film", "Art/Opera", 3); book.add("Art/Opera", "Science", 1)
        >>> [str(rule) for rule in book.grouped(1)]
        ['Art -> Art (0.75)', 'Art -> Science (0.25)']
        """
        groups = RuleBook()
        for rule in self:
            source, to = ("/".join(name.split("/")[:level]) for name in (rule.source, rule.to))
            groups.add(source, to, rule.cases)
        return groups

    def members(self, targets: Iterable[str]) -> set[str]:
        """Return the classes that are targets or below a target."""
        return {name for name in self.classes for target in targets if name == target or name.startswith(target + "/")}

    def wanted(self, targets: Sequence[str]) -> set[str]:
        """Return `members(targets)`; raise InputError for a target without rules."""
        for target in targets:
            if not self.members([target]):
                near = difflib.get_close_matches(target, self.classes, 3, 0.3) or self.classes[:5]
                raise InputError("unknown-name", f"no rule has the class {target}; similar classes: {', '.join(near)}")
        return self.members(targets)

    def chain(self, wanted: set[str], depth: int = 2, paths: Paths = "sum") -> dict[str, float]:
        """Return the probability of reaching any wanted class in at most `depth` links, where it is above 0."""
        feasible_depth = self.feasible_depth(wanted, depth)
        if feasible_depth < depth:
            size = f"{len(self):,} rules between {len(self.classes)} classes"
            raise InputError("too-large", f"{size} make too many paths of {depth} links: use depth={feasible_depth}")
        rules = _RulePaths(self, wanted, paths)
        chances = {source: chance for source in rules.rows if (chance := rules.walk(source, depth, (source,))) > 0}
        inside = [(self._count[name], self._total[name]) for name in sorted(wanted) if self._total.get(name)]
        total = sum(all_ for _, all_ in inside)
        loop = math.fsum(count for row, _ in inside for to, count in row.items() if to in wanted)
        if loop:
            chances.update(dict.fromkeys(wanted, loop / total))
        return chances

    def feasible_depth(self, wanted: set[str], depth: int) -> int:
        """Return `depth`, or the largest depth with at most two million paths, which take some seconds."""
        rules = _RulePaths(self, wanted, "sum")
        return next(links for links in range(depth, 0, -1) if links <= 2 or rules.count(links) <= 2_000_000)

    def save(self, path: Path) -> None:
        """Write the rules as an editable table: from, to, probability, count."""
        lines = [HEADER, "# You can edit the probabilities. The sum of those from a class must not exceed 1.", _COLUMNS]
        lines += [f"{rule.source}\t{rule.to}\t{rule.probability:.9g}\t{rule.cases:.9g}" for rule in self]
        with atomic_write(path) as file:
            file.write(("\n".join(lines) + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> RuleBook:
        """Read a table of rules. Counts only matter when the rules are refined with new cases."""
        try:
            lines = read_input(path, 100_000_000, "the rules in").decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            hint = "is it a file of 'lycosa train rules'?"
            raise InputError("bad-encoding", f"the rules in {path} are not UTF-8 text: {hint}") from error
        if not lines[0].startswith(HEADER.rpartition(" ")[0]):
            raise InputError("bad-file", f"{path} contains no rules: its first line should be '{HEADER}'")
        if lines[0].strip() != HEADER:
            version = lines[0].strip()[2:]
            hint = "train it again"
            raise InputError("bad-version", f"{path} was written by another version of Lycosa ({version}): {hint}")
        book = cls()
        rules = [_rule(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if _is_rule(line)]
        if not rules:
            raise InputError("empty-file", f"{path} contains no rules: train them again with more pages")
        stated: dict[str, dict[str, float]] = {}
        for rule in rules:
            if rule.to in stated.setdefault(rule.source, {}):
                raise InputError("duplicate", f"{path}: the rule {rule.source} -> {rule.to} is listed twice")
            stated[rule.source][rule.to] = rule.probability
            book.add(rule.source, rule.to, rule.cases)
        for source, row in stated.items():
            if (total := math.fsum(row.values())) > 1 + 1e-6:
                raise InputError("out-of-range", f"{path}: the probabilities of {source} add up to {total:.6g}, not 1")
            total = book._total[source] = book._total[source] or 1.0
            book._count[source] = {to: probability * total for to, probability in row.items()}
        return book


class _RulePaths:
    """Rules between classes that are not wanted, and the probabilities from each of them to the wanted ones."""

    def __init__(self, book: RuleBook, wanted: set[str], paths: Paths) -> None:
        self.sum = paths == "sum"
        self.rows: dict[str, dict[str, float]] = {rule.source: {} for rule in book if rule.source not in wanted}
        last: dict[str, list[float]] = {source: [] for source in self.rows}
        for source, to, probability, _ in book:
            if source in self.rows and probability:
                if to in wanted:
                    last[source].append(probability)
                elif to in self.rows and to != source:
                    self.rows[source][to] = probability
        self.direct = {source: math.fsum(several) for source, several in last.items()}
        # Probability of reaching a wanted class in two links, by intermediate class.
        self.second = {
            source: {to: p * self.direct[to] for to, p in row.items() if self.direct[to]}
            for source, row in self.rows.items()
        }
        self.total = {source: math.fsum(row.values()) for source, row in self.second.items()}
        self.order = {source: sorted(row, key=lambda to: -row[to]) for source, row in self.second.items()}

    def count(self, depth: int) -> float:
        """Return the approximate number of paths to walk, without the last two links, which are looked up."""
        width = max(map(len, self.rows.values()), default=0)
        return float(sum(map(len, self.rows.values()))) * float(width) ** max(0, depth - 3)

    def walk(self, source: str, depth: int, visited: tuple[str, ...]) -> float:
        """Return the probability of reaching a wanted class from `source` without visiting a class twice."""
        direct = self.direct[source]
        if depth == 1:
            return direct
        if depth == 2:
            rest = self._two_links(source, visited)
            return direct + rest if self.sum else max(direct, rest)
        unvisited = [(to, p) for to, p in self.rows[source].items() if to not in visited]
        further = [p * self.walk(to, depth - 1, (*visited, to)) for to, p in unvisited]
        return math.fsum([direct, *further]) if self.sum else max([direct, *further])

    def _two_links(self, source: str, visited: tuple[str, ...]) -> float:
        row = self.second[source]
        if not self.sum:
            return next((row[to] for to in self.order[source] if to not in visited), 0.0)
        there = [row[to] for to in visited if to in row]
        rest = self.total[source] - math.fsum(there)
        return rest if len(there) < len(row) and rest > 0 else 0.0


def _is_rule(line: str) -> bool:
    return bool(line.strip()) and (not line.startswith("#") or "\t" in line) and line.strip("\r") != _COLUMNS


def _rule(line: str, where: str) -> Rule:
    fields = line.strip("\r").split("\t")
    if len(fields) not in (3, 4) or not fields[0] or not fields[1]:
        raise InputError("bad-file", f"{where}: a rule must have from, to, probability and count, separated by tabs")
    if not (fields[0] + fields[1]).isprintable():
        raise InputError("bad-value", f"{where}: the name of a class has an unprintable character")
    try:
        probability, count = float(fields[2]), float(fields[3]) if len(fields) == 4 else 1.0
    except ValueError:
        probability = count = math.nan
    if not 0 <= probability <= 1 or not 0 <= count <= 1e15:  # sums of larger counts lose precision
        found = str(fields[2:])[:100]
        raise InputError("out-of-range", f"{where}: {found} must be a probability between 0 and 1, and a count")
    return Rule(fields[0], fields[1], probability, count)
