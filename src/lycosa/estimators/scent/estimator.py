"""Scent: a link is worth what its words, its place and its relations turned out to be worth so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows, Scores, Step, Visit
from lycosa.estimators.scent.elite import Elite
from lycosa.estimators.scent.meaning import Meaning, meaning_of
from lycosa.estimators.scent.mixing import Mixing
from lycosa.estimators.scent.trails import (
    ANCHOR_NEAR, ANCHOR_SCALE, CONTEXT_NEAR, CONTEXT_SCALE, IN_ADDRESS, IN_CONTEXT, NEIGHBOUR_WEIGHT, NEIGHBOURS,
    OUTCOMES, PROMISE, SIBLING_COUNT, SIBLINGS, Trails, fill,
)  # fmt: skip
from lycosa.estimators.scent.words import SLOTS, LinkWords, slot_of
from lycosa.text.addresses import words_of
from lycosa.text.tokens import stems

WEIGHTS = {
    "pages": 0.4,
    "many pages": 0.3,
    "links": -0.1,
    "promise": 0.15,
    "anchor": 0.3,
    "context": 0.3,
    "address": 0.5,
    "siblings": 0.3,
    "neighbours": 0.5,
    "directory": 0.3,
    "anchor words": 0.3,
    "anchor in pages": 0.3,
    "best anchor word": 0.0,
    "context in pages": 0.3,
    "address words": 0.2,
    "anchor meaning": 0.8,
    "context meaning": 0.4,
    "learned meaning": 0.5,
    "new places": 0.0,
}
TERMS = tuple(WEIGHTS)
SHRINK = 3.0
CREDIT, ANCESTORS = 0.3, 3

Column = NDArray[np.float64]


@dataclass
class Scent:
    """..."""

    proportional: ClassVar[bool] = False
    wants: ClassVar[tuple[str, ...]] = ("context", "url")

    words: str | Mapping[str, float] = ""
    terms_of_topic: Mapping[str, float] = field(default_factory=dict)
    without: str = ""
    seed: int = 0
    weights: str = ""
    credit: float = 0.3
    own: float = 0.5
    feedback: float = 0.0
    lift: str = "sqrt"
    shrink: float = 3.0
    vectors: bool = True
    ridge: float = 0.0
    guard: bool = True

    def __post_init__(self) -> None:
        left_out = [name for name in self.without.split("+") if name]
        w = dict(WEIGHTS)
        for pair in self.weights.split("+"):
            if pair:
                k, v = pair.split(":")
                w[k.replace("_", " ")] = float(v)
        self.weights_ = np.array([0.0 if name in left_out else w[name] for name in TERMS])
        words = self.words if isinstance(self.words, str) else ""
        given: Mapping[str, float] = self.terms_of_topic or ({} if isinstance(self.words, str) else self.words)
        self.meaning_ = meaning_of(words, given) if self.vectors and (words or given) else None
        self.mixing_ = Mixing(self.weights_, self.ridge) if self.ridge else None
        self.words_ = LinkWords(self.meaning_.meet if self.meaning_ is not None else None)
        self.trails_ = Trails()
        self.elite_ = Elite()
        self.stems_ = np.zeros((SLOTS, 4))
        self.addresses_ = np.zeros((SLOTS, 2))
        self.directories_ = np.zeros((SLOTS, 2))
        self.hosts_ = np.zeros((SLOTS, 2))
        self.sum_ = self.positive_ = self.own_ = self.told_ = self.raw_ = 0.0
        self.fs_ = self.fr_ = 1e-9
        self.pages_ = self.positives_ = 0
        topic = dict(given) or dict.fromkeys(stems(words), 1.0)
        self.topic_ = np.zeros(SLOTS, np.float32)
        for stem, weight in topic.items():
            self.topic_[slot_of(stem)] += weight
        self.topic_ /= max(float(np.sqrt(self.topic_ @ self.topic_)), 1e-9)
        self.has_topic_ = bool(topic)

    @property
    def scale_(self) -> float:
        return max((self.positive_ + 0.05) / (self.positives_ + 0.5), 1e-6)

    @property
    def mean_(self) -> float:
        return self.sum_ / (self.pages_ + 5.0)

    def learn(self, step: Step, table: Table) -> Rows:
        """Learn from a visit; return the rows that were scored again."""
        visit, row = step.visit, step.row
        self._fit(len(table))
        touched = [step.children.astype(np.intp)]
        if visit.kind == "redirect":
            self._redirect(step, table)
        else:
            if visit.is_page and not self.trails_.done[row]:
                touched.append(self._turned_out(row, visit, table))
            if len(step.children):
                self._links(step, table)
        touched.append(self.elite_.due(table))
        rows = np.unique(np.concatenate(touched))
        rows = rows[table.state[rows] == OPEN]
        scores = self._weigh(rows, table)
        if visit.kind == "redirect":
            scores[np.isin(rows, step.children)] = self.elite_.score[row]
        self.elite_.note(rows, scores)
        return rows

    def score(self, rows: Rows, table: Table) -> Scores:
        """The score that each row had last."""
        known = min(len(self.elite_.score), len(table))
        found = np.zeros(len(rows))
        scored = np.asarray(rows) < known
        found[scored] = self.elite_.score[np.asarray(rows)[scored]]
        return found

    def _fit(self, rows: int) -> None:
        self.trails_.fit(rows)
        self.elite_.fit(rows)

    def _redirect(self, step: Step, table: Table) -> None:
        for target in step.children.tolist():
            self.trails_.move(step.row, target)
            self.trails_.place(target, table.nodes[target])

    def _weigh(self, rows: Rows, table: Table) -> Scores:
        w = self.weights_
        if self.mixing_ is not None:
            w = self.mixing_.weights if self.guard else self.mixing_.shifted
        return w @ self.features(rows, table)

    def _outcome(self, visit: Visit, table: Table) -> tuple[float, float, NDArray[np.intp]]:
        if visit.same_as:
            return 0.0, 0.0, np.zeros(0, np.intp)
        slots = self.words_.slots(table.stems, visit.terms.ids)
        b = visit.beta
        if not len(slots):
            return b, b, slots
        x = 1.0 + np.log(visit.terms.counts.astype(np.float64))
        length = float(np.sqrt(x @ x))
        if self.own and self.has_topic_:
            own = float(x @ self.topic_[slots]) / length
            self.own_ += own
            self.told_ += b
            if self.own_ > 0 and self.told_ > 0:
                b = (1 - self.own) * b + self.own * own * self.told_ / self.own_
        raw = b
        if self.feedback and self.pages_ > 3:
            known = self.stems_[slots, 2:]
            mr = self.raw_ / self.pages_
            f = float(x @ ((known[:, 0] - mr * known[:, 1]) / (known[:, 1] + 3))) / length
            self.fs_ += f * f
            self.fr_ += raw * raw
            b = max(0.0, raw + self.feedback * f * np.sqrt(self.fr_ / self.fs_))
        self.raw_ += raw
        return b, raw, slots

    def _turned_out(self, row: int, visit: Visit, table: Table) -> Rows:
        trails = self.trails_
        feats = self.features(np.array([row]), table)[:, 0] if self.mixing_ is not None and table.parent[row] >= 0 else None
        outcome, raw, slots = self._outcome(visit, table)
        trails.outcome[row], trails.done[row] = outcome, True
        self.pages_ += 1
        self.sum_ += outcome
        if outcome > 0:
            self.positive_ += outcome
            self.positives_ += 1
        if feats is not None:
            self.mixing_.learn(feats, outcome / self.scale_)
        self._credit(row, outcome, 1)
        share, ancestor = self.credit, int(table.parent[row])
        for _ in range(ANCESTORS):
            if ancestor < 0 or not outcome or not share:
                break
            self._credit(ancestor, share * outcome, 0)
            share, ancestor = share * self.credit, int(table.parent[ancestor])
        if len(slots):
            self.stems_[slots, 2] += raw
            self.stems_[slots, 3] += 1
        if self.meaning_ is not None:
            self.meaning_.learn(trails.anchor[row], outcome)
            self.meaning_.turn(self.mean_)
        return trails.tell(row, outcome, table.edges)

    def _credit(self, row: int, outcome: float, pages: int) -> None:
        trails = self.trails_
        said = np.array([outcome, pages])
        self.stems_[trails.anchor[row], :2] += said
        self.addresses_[trails.address[row]] += said
        self.directories_[trails.directory[row]] += said
        self.hosts_[trails.host[row]] += said
        self.stems_[0] = self.addresses_[0] = 0.0

    def _links(self, step: Step, table: Table) -> None:
        trails, children = self.trails_, step.children
        outcome = float(trails.outcome[step.row])
        lines = trails.known[children]
        lines[:, OUTCOMES] += outcome
        lines[:, PROMISE] += outcome * step.alphas
        lines[:, IN_CONTEXT] = np.maximum(lines[:, IN_CONTEXT], step.facet("context"))
        lines[:, IN_ADDRESS] = np.maximum(lines[:, IN_ADDRESS], step.facet("url"))
        trails.beside(lines, children)
        trails.known[children] = lines
        new = children[(trails.parents[children] == 0).nonzero()[0]]
        for row in new.tolist():
            trails.place(row, table.nodes[row])
        trails.link(children, len(table.edges) - len(children))
        self._read(step, table)

    def _read(self, step: Step, table: Table) -> None:
        """The words of links to rows of which no anchor is known yet."""
        trails, links, of_link = self.trails_, step.visit.links, step.of_link
        blank = ((of_link >= 0) & (trails.anchor[of_link, 0] == 0) & (table.state[of_link] == OPEN)).nonzero()[0]
        if not len(blank):
            return
        rows, first = np.unique(of_link[blank], return_index=True)
        chosen = blank[first].tolist()
        n = len(rows)
        texts = [links.anchors[i] for i in chosen] + [links.contexts[i] for i in chosen]
        texts += [words_of(links.urls[i]) for i in chosen]
        owner, slots = self.words_.read(texts, step.visit.language)
        cuts = np.searchsorted(owner, (n, 2 * n)).tolist()
        parts = (slice(0, cuts[0]), slice(cuts[0], cuts[1]), slice(cuts[1], None))
        for number, (matrix, part) in enumerate(
            zip((trails.anchor, trails.context, trails.address), parts, strict=True)
        ):
            fill(matrix, rows, owner[part] - number * n, slots[part])
        if self.meaning_ is not None:
            for number, column in ((0, ANCHOR_NEAR), (1, CONTEXT_NEAR)):
                part = parts[number]
                near, scale = self.meaning_.similar(*self.meaning_.sums(owner[part] - number * n, slots[part], n))
                trails.known[rows, column] = near
                trails.known[rows, column + 1] = scale

    def features(self, rows: Rows, table: Table) -> Column:
        trails, scale, mean = self.trails_, self.scale_, self.mean_
        known = trails.known[rows].T.astype(np.float64)
        degree = table.in_degree[rows].astype(np.float64)
        found = np.zeros((len(TERMS), len(rows)))
        (pages, many, links, promise, anchor, context, address, siblings, neighbours, directory, anchor_words,
         anchor_pages, best_anchor, context_pages, address_words, anchor_meaning, context_meaning, learned, new,
        ) = found  # fmt: skip
        outcomes = known[OUTCOMES] / scale
        np.divide(outcomes, degree + 2.0, out=pages)
        np.log1p(outcomes, out=many)
        np.log1p(degree, out=links)
        np.log1p(known[PROMISE] / scale, out=promise)
        anchor[:] = table.alpha_max[rows]
        context[:] = known[IN_CONTEXT]
        address[:] = known[IN_ADDRESS]
        np.divide(known[SIBLINGS], (np.maximum(known[SIBLING_COUNT], 1.0)) * scale, out=siblings)
        np.divide(known[NEIGHBOURS], (known[NEIGHBOUR_WEIGHT] + 0.7) * scale, out=neighbours)
        host, place = self.hosts_[trails.host[rows]].T, self.directories_[trails.directory[rows]].T
        back = (host[0] + 3.0 * mean) / (host[1] + 3.0)
        np.divide((place[0] + 3.0 * back), (place[1] + 3.0) * scale, out=directory)
        new[:] = 1 / np.sqrt(1 + host[1]) + 1 / np.sqrt(1 + place[1])
        words = trails.anchor[rows]
        count = np.maximum(np.count_nonzero(words, axis=1), 1)
        root = np.sqrt(count) if self.lift == "sqrt" else count
        said = self.stems_[words]
        lift = (said[..., 0] - mean * said[..., 1]) / (said[..., 1] + self.shrink)
        np.divide(lift.sum(axis=1), root * scale, out=anchor_words)
        mr = self.raw_ / (self.pages_ + 1.0)
        lift = (said[..., 2] - mr * said[..., 3]) / (said[..., 3] + self.shrink)
        np.divide(lift.sum(axis=1), root * scale, out=anchor_pages)
        np.divide(np.where(words > 0, lift, -9e9).max(axis=1) * (words[:, 0] > 0), scale, out=best_anchor)
        if self.meaning_ is not None:
            anchor_meaning[:] = known[ANCHOR_NEAR]
            context_meaning[:] = known[CONTEXT_NEAR]
            np.divide(self.meaning_.toward(words) * known[ANCHOR_SCALE], scale, out=learned)
        words = trails.context[rows]
        said = self.stems_[words][..., 2:]
        lift = (said[..., 0] - mr * said[..., 1]) / (said[..., 1] + self.shrink)
        n = np.maximum(np.count_nonzero(words, axis=1), 1)
        np.divide(lift.sum(axis=1), (np.sqrt(n) if self.lift == "sqrt" else n) * scale, out=context_pages)
        words = trails.address[rows]
        said = self.addresses_[words]
        lift = (said[..., 0] - mean * said[..., 1]) / (said[..., 1] + self.shrink)
        n = np.maximum(np.count_nonzero(words, axis=1), 1)
        np.divide(lift.sum(axis=1), (np.sqrt(n) if self.lift == "sqrt" else n) * scale, out=address_words)
        return found

    def terms(self, rows: Rows, table: Table) -> dict[str, Column]:
        said = self.features(rows, table) * self.weights_[:, None]
        return {name: said[number] for number, name in enumerate(TERMS) if self.weights_[number]}

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The terms of one row's score and what each contributes, the largest first; their sum is the score."""
        said = {name: float(column[0]) for name, column in self.terms(np.array([row]), table).items()}
        return dict(sorted(said.items(), key=lambda term: -abs(term[1])))
