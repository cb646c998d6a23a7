"""Interclass rules: rank links by how likely pages of their page's class lead to the target class."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import column, fit, learned
from lycosa.core.errors import InputError
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step
from lycosa.strategies.parents import Merge, MergedPriorities, PriorityFromParents
from lycosa.strategies.rulebook import MAX_LINKS, Paths, RuleBook


@dataclass
class InterclassRules(PriorityFromParents):
    """Interclass rules: priority = probability that a page of this class leads to the target within `depth` links.

    The class of a page is the likeliest one according to the classifier. If no rules lead from it to the target, or the
    page has no classes, the priority is the page's relevance, as in soft focus. `file` is the output of `lycosa train
    rules`; `targets` default to those of the crawl. `paths` merges several paths to the target (`sum` as in the paper,
    or `max`), `merge` several pages that link to the same URL.

    With `refine=yes` each page counts as a case for the classes of the pages that link to it, and the probabilities of
    new links are recomputed every `period` pages.

    Paper: Altingovde, Ulusoy 2004, figure 4. `refine` is their future work.

    >>> from lycosa.core.types import Links, Visit
    >>> book = RuleBook(); book.add("CH", "PH", 4); book.add("CH", "CH", 6)
    >>> rules, table = InterclassRules(book, ("PH",)), Table()
    >>> _ = table.add_seed("u")
    >>> classes = {"classes": [["CH", .9], ["PH", .05]]}
    >>> visit = Visit("u", "page", "ok", 1, relevance=.05, links=Links.to("v"), data=classes)
    >>> rules.priority(rules.learn(table.absorb(visit), table), table).tolist()
    [0.4]
    """

    file: str | RuleBook = ""
    targets: tuple[str, ...] = ()
    depth: int = 2
    paths: Paths = "sum"
    merge: Merge = "max"
    refine: bool = False
    period: int = 100
    notes: list[str] = learned(list)
    book_: RuleBook = learned()
    wanted_: set[str] = learned()  # classes of the book that match the targets
    probability_: dict[str, float] = learned()
    priority_: MergedPriorities = learned()
    class_: NDArray[np.int32] = column(np.int32)
    class_numbers_: dict[str, int] = learned(dict)
    cases_: int = learned(int)

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MAX_LINKS:
            raise ValueError(f"'depth' is {self.depth}: it must be 1 to {MAX_LINKS}")
        if self.period < 1:
            raise ValueError(f"'period' is {self.period}: it must be at least 1 page")
        if not self.file:
            hint = "train them with 'lycosa train rules', then --strategy rules,file=FILE"
            raise InputError("missing-file", f"rules need a file: {hint}")
        # copied, because `refine` modifies it
        self.book_ = deepcopy(self.file) if isinstance(self.file, RuleBook) else RuleBook.load(Path(self.file))
        if not self.targets:
            raise InputError("missing-option", "rules need a target: say which class is wanted with --target CLASS")
        self.wanted_ = self.book_.wanted(self.targets)
        self.probability_ = self.book_.chain(self.wanted_, self.depth, self.paths)
        self.priority_ = MergedPriorities(self.merge)
        if not self.probability_:
            self.notes.append(f"no rule leads to {', '.join(self.targets)}: links get the relevance of their page")

    def learn(self, step: Step, table: Table) -> Rows:
        visit = step.visit
        name = self._class_name(step)
        if self.refine and visit.is_version:
            self._refine(step, name, table)
        return self.priority_.update(step, table, self.probability_.get(name, visit.relevance))

    def _class_name(self, step: Step) -> str:
        """Return the likeliest class of a page, a wanted one if the page is on target; empty without classes."""
        names = [str(name) for name, _ in step.visit.data.get("classes") or ()]
        if step.visit.data.get("target"):
            return next((name for name in names if name in self.wanted_), min(self.wanted_))
        return names[0] if names else ""

    def _refine(self, step: Step, name: str, table: Table) -> None:
        """Count a new page for the classes of its parents, and recompute the probabilities every `period` pages."""
        self.class_ = fit(self.class_, len(table), -1)
        first = step.visit.is_page
        if name:
            classes = list(self.class_numbers_)
            for number in self.class_[table.edges.parents(step.row)].tolist() if first else ():
                if number >= 0:
                    self.book_.add(classes[number], name)
            self.class_[step.row] = self.class_numbers_.setdefault(name, len(self.class_numbers_))
        if not first:
            return
        self.cases_ += 1
        if self.cases_ % self.period == 0:
            self.wanted_ = self.book_.members(self.targets)
            # new rules may give too many paths, so use shorter ones then
            depth = self.book_.feasible_depth(self.wanted_, self.depth)
            self.probability_ = self.book_.chain(self.wanted_, depth, self.paths)
