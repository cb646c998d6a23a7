"""Scent: a link is worth what its words, its place and its relations turned out to be worth so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import distinct
from lycosa.core.state import State, plain, put_back
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Rows, Scores, Step, Visit
from lycosa.estimators.present import linked
from lycosa.estimators.scent.elite import Elite
from lycosa.estimators.scent.meaning import Meaning, meaning_of
from lycosa.estimators.scent.mixing import Mixing
from lycosa.estimators.scent.paths import PATHS, Paths
from lycosa.estimators.scent.risk import Risk
from lycosa.estimators.scent.sharpening import Sharpening
from lycosa.estimators.scent.trails import (
    ANCHOR,
    ANCHOR_NEAR,
    ANCHOR_SCALE,
    CONTEXT,
    CONTEXT_NEAR,
    DEEPEST,
    IN_ADDRESS,
    IN_CONTEXT,
    NEIGHBOUR_WEIGHT,
    NEIGHBOURS,
    OF_ADDRESS,
    OF_ANCHOR,
    OF_CONTEXT,
    OUTCOMES,
    PROMISE,
    SIBLING_COUNT,
    SIBLINGS,
    Trails,
    fill,
)  # fmt: skip
from lycosa.estimators.scent.words import SLOTS, LinkWords
from lycosa.text.tokens import stems as stems_of

WEIGHTS = {
    "pages": 0.4,
    "many pages": 0.15,
    "popularity": -0.1,
    "promise": 0.15,
    "anchor": 0.3,
    "context": 0.3,
    "address": 0.5,
    "anchor meaning": 0.8,
    "context meaning": 0.4,
    "learned meaning": 0.4,
    "siblings": 0.3,
    "neighbours": 0.5,
    "directory": 0.3,
    "anchor words": 0.3,
    "anchor in pages": 0.4,
    "context in pages": 0.4,
    "address words": 0.2,
    "new places": 0.3,
    "place": 0.6,
}
"""The terms of a score, and how much each counts at first."""

TERMS = tuple(WEIGHTS)

LEAN = {
    **dict.fromkeys(("many pages", "learned meaning", "siblings", "context meaning", "address words"), 0.0),
    "new places": 0.6,
}
"""Of these five terms nothing is lost if they are left out, beside hindsight and places; and from start pages that are
off the topic more curiosity finds more."""

SHRINK = 3.0
"""A group of so many pages is half known: lifts and means are shrunk towards what is known without them."""

ANCESTORS = 3
"""Pages on the way that get credit for where it led."""

PAGES_SHRINK, NEIGHBOURS_SHRINK, PLACE_SHRINK = 2.0, 0.7, 10.0

ANY = 0.5
"""What any link is worth. It changes no order; but a choosy crawl waits for a host only if what it would get there is
worth much more than what it could have now, and not for the sake of small differences between small scores."""

RISK = "no page"
"""What a score loses as the request may give no page."""

SMELT = 3
"""Finds after which looking at new places counts half."""

OLDEST = "oldest link"
"""What a score has more as it is its turn."""

LEAD = 0.01
"""How much better than the best the link is whose turn it is."""

Column = NDArray[np.float64]
Groups = NDArray[np.float32]
"""Of each slot the sum of the outcomes of its pages, and how many they are."""

_TEXT = slice(OF_CONTEXT.start, OF_ANCHOR.stop)
_LINK = slice(OF_ANCHOR.start, OF_ADDRESS.stop)
_BEGIN = (OF_CONTEXT.start or 0, OF_ANCHOR.start, OF_ADDRESS.start)


@dataclass
class Scent:
    """An estimator that starts from what the topic says of a link and learns from every page what led to good ones.

    b is a page's outcome: the judge's beta, sharpened by our own reading of its words and, unless beta is a
    probability, by relevance feedback (Sharpening); an exact judge's beta is taken as it is. s is the mean of the
    positive ones, m0 the mean of all, shrunk to 0 by five pages. The lift of a group of pages (those that a word, a
    token of an address led to) is (sum b - m0 n) / (n + 3). A score is a weighted sum:

        weight  term               what it is
        .4      pages              sum of the parents' b over (their number + 2), by s
        -.1     popularity         log(1 + number of parents): what everyone links to is nobody's
        .15     promise            log(1 + sum over parents of alpha b / s)
        .3      anchor             the largest alpha: what the topic says of the anchor
        .3      context            what it says of the words around the link
        .5      address            what it says of the words of the URL
        .8      anchor meaning     cosine of the anchor's word vectors with the topic's
        .5      neighbours         of fetched links within 4 places: sum of .6^d b over (sum of .6^d + .7)
        .3      directory          mean b of its directory, backed off to its host's, and that to m0
        .3      anchor words       lift of the anchor's stems by what links with them led to
        .4      anchor in pages    lift of the anchor's stems by the pages that have them in their text
        .4      context in pages   the same of the context's stems
        .6      new places         curiosity, below
        .6      place              lift of the path of tags to it, by what links that stand there on pages of the same
                                   host led to, shrunk by ten pages to that of the tags without ids and classes

    and .5 for any link, terms in b being divided by s. Sums of lifts are divided by the root of the number of words.
    All of it is multiplied by the root of the probability that the link gives a page, once a request has given none
    (Risk).
    Nothing is lost without five more, which are there if `lean` is off (new places then count .3):

        .15     many pages         log(1 + sum of the parents' b / s)
        .4      context meaning    cosine of the context's word vectors with the topic's
        .4      learned meaning    the anchor's vector in the direction of anchors that led to good pages (Meaning)
        .3      siblings           mean b of the fetched links of the same pages (later: within 32 places)
        .2      address words      lift of the URL's stems by what links with them led to

    The weights are a prior: a regression shifts them with every page, and is in force only while it has predicted
    better (Mixing).

    Tunnelling: a page on the way to a good one has led there, too; .3 b for the page before it, .09 and .027 for those
    before that, go to the groups of the links to them. Weak start: a link to a host or directory of which few pages
    were seen is worth (1 / sqrt(1 + n_host) + 1 / sqrt(1 + n_directory)) / 2 more, and, as the way to other parts of
    a site leads upwards, 1 - d / 8 more if its path has d < 8 names (not unless `lean`); all of it divided by
    1 + finds / 3: much as long as nothing smells, hardly anything once there is a trail. A find has a beta at the
    crawl's threshold. And before the first find every second page is the link that has been open for longest (not
    unless `lean`): it gets what it lacks to be the best.

    Hindsight: where the judge learns during the crawl, what it says after each lesson of all pages so far takes the
    place of what it said when they were fetched, in every sum above, and the 8,192 best rows are scored again. The
    first pages, which it could hardly tell apart, then teach what they should have taught.

    Scored again are the links of the page and the neighbours of the link to it, the 64 best rows, and 32 others in
    turn, never all: a row's score is that of the last time. What is known of a link takes 224 bytes; of a page, for
    hindsight, 4 bytes for each of its words; what is known of words and places has a fixed size, 15 MB, beside the
    vectors of the words met in links (260 bytes each).

    `without` leaves terms out, joined by +, with _ for a space. `credit` is the share that is handed back. `sharpen`,
    `adapt`, `hindsight` and `vectors` switch off relevance feedback, the shifting of weights, hindsight, and the
    vectors, which are also left out where wordllama is not installed. Without `lean` no term is left out.

    >>> from lycosa.core.types import Links
    >>> table = Table(); _ = table.add_seed("http://a.test/")
    >>> links = Links.to("http://a.test/coral", "http://a.test/trains", anchors=["coral reefs", "railways"])
    >>> links.alphas[:] = (.8, 0)
    >>> scent = Scent(words="coral reef bleaching", vectors=False)
    >>> rows = scent.learn(table.absorb(Visit("http://a.test/", "page", "ok", pick=1, beta=.5, links=links)), table)
    >>> coral, trains = scent.score(rows, table)
    >>> bool(coral > trains), list(scent.explain(int(rows[0]), table))[:2]
    (True, ['new places', 'address'])
    """

    proportional: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ("context", "url")

    words: str | Mapping[str, float] = ""
    stems: Mapping[str, float] | None = None
    threshold: float = 0.1
    probability: bool = False
    exact: bool = False
    without: str = ""
    credit: float = 0.3
    sharpen: bool = True
    adapt: bool = True
    vectors: bool = True
    hindsight: bool = True
    lean: bool = True
    meaning_: Meaning | None = field(init=False, repr=False, compare=False)
    words_: LinkWords = field(init=False, repr=False, compare=False)
    sharpening_: Sharpening = field(init=False, repr=False, compare=False)
    mixing_: Mixing = field(init=False, repr=False, compare=False)
    risk_: Risk = field(default_factory=Risk, init=False, repr=False, compare=False)
    trails_: Trails = field(default_factory=Trails, init=False, repr=False, compare=False)
    elite_: Elite = field(default_factory=Elite, init=False, repr=False, compare=False)
    groups_: Groups = field(init=False, repr=False, compare=False)  # of links, by words of anchors and of addresses
    directories_: Groups = field(init=False, repr=False, compare=False)
    hosts_: Groups = field(init=False, repr=False, compare=False)
    paths_: Paths = field(default_factory=Paths, init=False, repr=False, compare=False)
    places_: Groups = field(init=False, repr=False, compare=False)  # of links, by their paths
    scored_: tuple[NDArray[np.intp], Column] = field(init=False, repr=False, compare=False)  # after the last visit
    directed_: bool = field(init=False, repr=False, compare=False)  # whether there is a learned meaning
    around_: bool = field(init=False, repr=False, compare=False)  # whether there is a context meaning
    sum_: float = field(default=0.0, init=False, repr=False, compare=False)
    pages_: int = field(default=0, init=False, repr=False, compare=False)
    positive_sum_: float = field(default=0.0, init=False, repr=False, compare=False)
    positives_: int = field(default=0, init=False, repr=False, compare=False)
    finds_: int = field(default=0, init=False, repr=False, compare=False)
    oldest_: int = field(default=0, init=False, repr=False, compare=False)  # no row before it is open
    turn_: int = field(default=-1, init=False, repr=False, compare=False)  # whose turn it is; -1 for nobody's
    lead_: float = field(default=0.0, init=False, repr=False, compare=False)  # what that one has more

    def __post_init__(self) -> None:
        if not 0 <= self.credit <= 1:
            raise ValueError(f"credit={self.credit:g} is a share that is handed back: take a number from 0 to 1")
        left_out = {name.strip().replace("_", " ") for name in self.without.split("+") if name.strip()}
        unknown = sorted(left_out.difference(TERMS))
        if unknown:
            raise ValueError(f"without names {unknown[0]!r}, which is no term of scent: it has {', '.join(TERMS)}")
        words = self.words if isinstance(self.words, str) and not self.stems else ""
        weighted: Mapping[str, float] = self.stems or ({} if isinstance(self.words, str) else self.words)
        self.meaning_ = meaning_of(words, weighted) if self.vectors and (words or weighted) else None
        self.words_ = LinkWords(self.meaning_.meet if self.meaning_ is not None else None)
        topic = weighted or dict.fromkeys(stems_of(words), 1.0)
        self.sharpening_ = Sharpening(topic, feedback=self.sharpen, probability=self.probability, exact=self.exact)
        weights = WEIGHTS | LEAN if self.lean else WEIGHTS
        self.mixing_ = Mixing(np.array([0.0 if name in left_out else weight for name, weight in weights.items()]))
        self.trails_.siblings = bool(self.mixing_.fixed[TERMS.index("siblings")])
        self.directed_ = bool(self.mixing_.fixed[TERMS.index("learned meaning")])
        self.around_ = bool(self.mixing_.fixed[TERMS.index("context meaning")])
        self.scored_ = np.zeros(0, np.intp), np.zeros((len(TERMS), 0))
        self.groups_ = np.zeros((2 * SLOTS, 2), np.float32)  # addresses behind anchors
        self.places_ = np.zeros((2 * PATHS, 2), np.float32)
        self.directories_, self.hosts_ = np.zeros((SLOTS, 2), np.float32), np.zeros((SLOTS, 2), np.float32)

    @property
    def scale_(self) -> float:
        """s, the mean of the positive outcomes; .1 before there is one."""
        return max((self.positive_sum_ + 0.05) / (self.positives_ + 0.5), 1e-6)

    @property
    def mean_(self) -> float:
        """m0, the mean outcome, shrunk."""
        return self.sum_ / (self.pages_ + 5.0)

    @property
    def weights_(self) -> Column:
        """What each term counts at present."""
        return self.mixing_.weights if self.adapt else self.mixing_.fixed

    # -- learn -------------------------------------------------------------------------------------------------

    def learn(self, step: Step, table: Table) -> Rows:
        """Learn from a visit; return the rows that were scored again."""
        visit, row = step.visit, step.row
        self.trails_.fit(len(table))
        self.elite_.fit(len(table))
        touched = [step.children.astype(np.intp)]
        moved: list[int] = []
        if not self.trails_.host[row]:  # a seed
            self.trails_.place(row, table.nodes[row])
        if visit.outcome == "redirect":
            moved = [target for target in step.children.tolist() if self.trails_.move(row, target)]
            for target in moved:
                self.trails_.place(target, table.nodes[target])
        if self._ends(step, table):
            touched.append(self._ended(row, visit, table))
        if len(step.children) and visit.outcome != "redirect":
            self._links(step, table)
        touched.append(self.elite_.due(table))
        touched.append(self._turn(table))
        rows: NDArray[np.intp] = distinct(np.concatenate(touched))
        rows = rows[table.state.take(rows) == OPEN]
        terms = self._features(rows, table)
        self.scored_ = rows, terms
        scores = self._risked(ANY + self.weights_ @ terms, rows, table)
        if moved:  # a new address is worth what led to it was
            scores[np.isin(rows, moved)] = self.elite_.score[row]
        if self.turn_ >= 0:
            at = int(rows.searchsorted(self.turn_))
            self.lead_ = float(scores.max()) + LEAD - float(scores[at])
            scores[at] += self.lead_
        return self.elite_.note(rows, scores, touched[0][table.state[touched[0]] == OPEN])

    def _turn(self, table: Table) -> NDArray[np.intp]:
        """While nothing was found, after every second page it is the turn of the link that has been open for longest.

        Returned are that link and the one before, which may still be open: both have another score now.
        """
        before, self.turn_ = self.turn_, -1
        if self.lean and not self.finds_ and self.pages_ % 2 == 0:
            while self.oldest_ < len(table) and table.state[self.oldest_] != OPEN:
                self.oldest_ += 1
            self.turn_ = self.oldest_ if self.oldest_ < len(table) else -1
        return np.array([row for row in (before, self.turn_) if row >= 0], np.intp)

    def _ends(self, step: Step, table: Table) -> bool:
        """Whether a row's requests have come to an end, with a page or without; for the first time, and for good."""
        visit = step.visit
        if visit.kind not in ("page", "redirect") or visit.retry_at or visit.follows or self.trails_.done[step.row]:
            return False
        if visit.outcome == "redirect":  # to nowhere that was new: what is new will have an end of its own
            return not (table.state[step.children] == OPEN).any()
        return visit.outcome not in ("denied", "refused")  # nothing was sent

    def _ended(self, row: int, visit: Visit, table: Table) -> NDArray[np.intp]:
        """There is a page, or there is none: what led here hears of it. Returned are the rows that are near."""
        failed = not visit.is_page or visit.is_hollow
        self.risk_.learn(row, self.trails_, failed)
        return self.trails_.bury(row, table.edges) if failed else self._turned_out(row, visit, table)

    def _risked(self, scores: Column, rows: Rows, table: Table) -> Column:
        """What is promised, if there is a page, times the root of the probability that there is one.

        The root, as a request that gives no page costs no page of the budget. Where a redirect leads there is a page,
        by its server's word.
        """
        if not self.risk_.failures:
            return scores
        risk = np.where(table.hops.take(rows) > 0, 0.0, self.risk_.of(rows, self.trails_))
        lessened: Column = scores - np.maximum(scores, 0.0) * (1.0 - np.sqrt(1.0 - risk))
        return lessened

    def _turned_out(self, row: int, visit: Visit, table: Table) -> NDArray[np.intp]:
        """A page is there: everything that led to it hears of it. Returned are the rows that are near."""
        trails = self.trails_
        before = self._when_picked(row, table) if self.adapt and trails.parents[row] else None
        outcome = self.sharpening_.learn(row, visit, table, self.words_)
        trails.outcome[row], trails.done[row] = outcome, True
        self.pages_ += 1
        self.sum_ += outcome
        self.finds_ += visit.is_find(self.threshold)
        if outcome > 0:
            self.positive_sum_ += outcome
            self.positives_ += 1
        if before is not None:
            self.mixing_.learn(before, outcome / self.scale_)
        self._credit(row, outcome, 1)
        share, ancestor = self.credit * outcome, int(table.parent[row])
        for _ in range(ANCESTORS):
            if ancestor < 0 or not share:
                break
            self._credit(ancestor, share, 0)
            share, ancestor = share * self.credit, int(table.parent[ancestor])
        if self.meaning_ is not None and self.directed_:
            self.meaning_.learn(trails.words[row, OF_ANCHOR], outcome, self.mean_)
        return trails.tell(row, outcome, table.edges)

    def _when_picked(self, row: int, table: Table) -> Column:
        """The terms of a row as they were before its visit: mostly they were looked at after the last one."""
        rows, terms = self.scored_
        at = int(rows.searchsorted(row))
        if at < len(rows) and rows[at] == row:
            column: Column = terms[:, at]
            return column
        return self._features(np.array([row]), table)[:, 0]

    def _credit(self, row: int, outcome: float, pages: int) -> None:
        """The groups of the link to a row have led to this much more."""
        trails, gain = self.trails_, np.array((outcome, pages), np.float32)
        self.groups_[trails.words[row, _LINK]] += gain
        self.places_[trails.path[row]] += gain
        self.groups_[0] = self.places_[0] = 0.0  # the slots of no word and of no path
        self.directories_[trails.directory[row]] += gain
        self.hosts_[trails.host[row]] += gain

    def reconsider(self, rows: Rows, worths: NDArray[np.floating[Any]], table: Table) -> Rows:
        """The judge has learned: what led to the pages so far has led to what they are worth now.

        Returned are the rows that were scored again: the best ones by their last score.
        """
        if not self.hindsight or not self.probability:
            return np.zeros(0, np.intp)
        trails = self.trails_
        trails.fit(len(table))
        self.elite_.fit(len(table))
        worth = np.zeros(len(table))
        worth[rows[rows >= 0]] = worths[rows >= 0]
        pages, outcome = self.sharpening_.relearn(worth)
        trails.outcome[pages] = outcome
        positive = outcome > 0.0
        self.sum_, self.positive_sum_ = float(outcome.sum()), float(outcome[positive].sum())
        self.positives_ = int(np.count_nonzero(positive))
        self.finds_ = int(np.count_nonzero(positive & (worth[pages] >= self.threshold)))
        self._credit_anew(pages, outcome, table)
        if self.meaning_ is not None and self.directed_:
            self.meaning_.relearn(trails.words[pages, OF_ANCHOR], outcome, self.mean_)
        trails.retell(table.edges)
        self.turn_ = -1
        best = self.elite_.foremost(table)
        terms = self._features(best, table)
        self.scored_ = best, terms
        return self.elite_.note(best, self._risked(ANY + self.weights_ @ terms, best, table), best)

    def _credit_anew(self, rows: Rows, outcome: Column, table: Table) -> None:
        """What was credited is forgotten, and credited by these outcomes: pages and those on the way to them."""
        trails, share = self.trails_, outcome
        for groups in (self.groups_, self.places_, self.directories_, self.hosts_):
            groups[:, 0] = 0.0
        for _ in range(1 + ANCESTORS):
            words = np.sort(trails.words[rows, _LINK], axis=1)
            words[:, 1:][words[:, 1:] == words[:, :-1]] = 0  # a word counts once a link, as in _credit
            for groups, slots in (
                (self.groups_, words),
                (self.places_, trails.path[rows]),
                (self.directories_, trails.directory[rows][:, None]),
                (self.hosts_, trails.host[rows][:, None]),
            ):
                np.add.at(groups[:, 0], slots, share.astype(np.float32)[:, None])
            rows, share = table.parent[rows].astype(np.intp), self.credit * share
            on_the_way = (rows >= 0) & (share != 0.0)
            rows, share = rows[on_the_way], share[on_the_way]
        self.groups_[0] = self.places_[0] = 0.0  # the slots of no word and of no path

    def _links(self, step: Step, table: Table) -> None:
        """What a page says of the rows that it links to."""
        trails, children = self.trails_, step.children
        outcome, every = trails.outcome.item(step.row), linked(step, table)
        if step.visit.follows and step.visit.is_version:  # it speaks for its new links as it is now
            outcome = self.sharpening_.worth(step.visit, table, self.words_)
        lines = trails.known[children]
        lines[:, OUTCOMES] += outcome
        lines[:, PROMISE] += outcome * step.alphas
        for column, facet in ((IN_CONTEXT, "context"), (IN_ADDRESS, "url")):
            np.maximum(lines[:, column], step.facet(facet), out=lines[:, column])
        if len(every) == len(children):
            trails.beside(lines, children)
        else:  # visited again: only the new links have something to hear
            heard = np.zeros((len(every), lines.shape[1]), np.float32)
            trails.beside(heard, every)
            lines += heard[np.isin(every, children)]
        trails.known[children] = lines
        for row in children[(trails.parents[children] == 0).nonzero()[0]].tolist():
            trails.place(row, table.nodes[row])
        trails.link(children, len(table.edges) - len(children))
        self._read(step, table)

    def _read(self, step: Step, table: Table) -> None:
        """The words of links to rows of which no anchor is known yet: anchors, contexts and addresses at once."""
        trails, links, of_link = self.trails_, step.visit.links, step.of_link
        blank = (
            (of_link >= 0) & (trails.words[of_link, OF_ANCHOR.start] == 0) & (table.state[of_link] == OPEN)
        ).nonzero()[0]
        if not len(blank):
            return
        rows, first = np.unique(of_link[blank], return_index=True)
        chosen, n = blank[first], len(rows)
        if links.paths:
            host = step.visit.node.partition("://")[2].partition("/")[0]
            trails.path[rows] = [self.paths_.groups(host, links.paths[at]) for at in chosen.tolist()]
        owner, slots = self.words_.read_links(links, chosen, step.visit.language)
        in_address = int(owner.searchsorted(2 * n))
        if self.meaning_ is not None:
            begin = 0 if self.around_ else int(owner.searchsorted(n))  # of anchors alone
            words = owner[begin:in_address], slots[begin:in_address]
            near, scale = self.meaning_.similar(*self.meaning_.sums(*words, 2 * n))
            trails.known[rows, CONTEXT_NEAR] = near[:n]
            trails.known[rows, ANCHOR_NEAR], trails.known[rows, ANCHOR_SCALE] = near[n:], scale[n:]
        slots[in_address:] += SLOTS
        fill(trails.words, rows, owner, slots)

    def state(self) -> State:
        """All that was learned: whatever ends with an underscore. Paths are met again."""
        given = [name for name in vars(self) if not name.endswith("_")]
        rows, terms = self.scored_
        return {**plain(self, "scored_", "paths_", *given), "rows": rows, "terms": terms}

    def restore(self, state: State) -> None:
        """Know it."""
        self.scored_ = state["rows"], state["terms"]
        put_back(self, {name: value for name, value in state.items() if name not in ("rows", "terms")})

    # -- score -------------------------------------------------------------------------------------------------

    def score(self, rows: Rows, table: Table) -> Scores:
        """The score that each row had last; 0 for one that was never scored."""
        score = self.elite_.score
        if len(rows) and int(rows.max()) >= len(score):
            return np.array([score[row] if row < len(score) else 0.0 for row in rows.tolist()])
        scores: Scores = score[rows].astype(np.float64)
        return scores

    def terms(self, rows: Rows, table: Table) -> dict[str, Column]:
        """Of each term what it contributes to the rows' scores, as of now; nothing to a row that is not known yet."""
        values = np.zeros((len(TERMS), len(rows)))
        met = rows < len(self.trails_.done)
        values[:, met] = self._features(rows[met], table) * self.weights_[:, None]
        columns = {name: values[number] for number, name in enumerate(TERMS) if self.mixing_.fixed[number]}
        if self.risk_.failures:
            whole = ANY + values.sum(axis=0)
            columns[RISK] = np.zeros(len(rows))
            columns[RISK][met] = self._risked(whole[met], rows[met], table) - whole[met]
        if self.turn_ >= 0:
            columns[OLDEST] = np.where(rows == self.turn_, self.lead_, 0.0)
        return columns | {"any link": np.full(len(rows), ANY)}

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The terms of one row's score and what each contributes: the largest first, what any link has last."""
        values = {name: float(column[0]) for name, column in self.terms(np.array([row]), table).items()}
        return dict(sorted(values.items(), key=lambda term: (term[0] not in WEIGHTS, -abs(term[1]))))

    def _features(self, rows: Rows, table: Table) -> Column:
        """The terms, not weighted: a line for each, in the order of TERMS."""
        trails, scale = self.trails_, self.scale_
        features = np.zeros((len(TERMS), len(rows)))
        sums = trails.known.take(rows, axis=0).T
        parents = table.in_degree.take(rows).astype(np.float64)
        outcomes = sums[OUTCOMES] / scale
        features[0] = outcomes / (parents + PAGES_SHRINK)
        np.log1p(np.maximum(outcomes, 0.0), out=features[1])  # a judge of one's own may say less than nothing
        np.log1p(parents, out=features[2])
        np.log1p(np.maximum(sums[PROMISE], 0.0) / scale, out=features[3])
        features[4], features[5], features[6] = table.alpha_max.take(rows), sums[IN_CONTEXT], sums[IN_ADDRESS]
        words = trails.words.take(rows, axis=0)
        if self.meaning_ is not None:
            features[7], features[8] = sums[ANCHOR_NEAR], sums[CONTEXT_NEAR]
            if self.directed_:
                features[9] = self.meaning_.toward(words[:, OF_ANCHOR]) * sums[ANCHOR_SCALE] / scale
        features[10] = sums[SIBLINGS] / (np.maximum(sums[SIBLING_COUNT], 1.0) * scale)
        features[11] = sums[NEIGHBOURS] / ((sums[NEIGHBOUR_WEIGHT] + NEIGHBOURS_SHRINK) * scale)
        host = self.hosts_.take(trails.host.take(rows), axis=0).T
        directory = self.directories_.take(trails.directory.take(rows), axis=0).T
        of_host = (host[0] + SHRINK * self.mean_) / (host[1] + SHRINK)
        features[12] = (directory[0] + SHRINK * of_host) / ((directory[1] + SHRINK) * scale)
        root = np.sqrt(np.maximum(np.add.reduceat(words != 0, _BEGIN, axis=1, dtype=np.float32), 1.0)) * scale
        in_text = _lifts(self.sharpening_.lifts, words[:, _TEXT], self.sharpening_.mean)
        of_link = _lifts(self.groups_, words[:, _LINK], self.mean_)
        features[13] = of_link[:, :ANCHOR].sum(axis=1) / root[:, 1]
        features[14] = in_text[:, CONTEXT:].sum(axis=1) / root[:, 1]
        features[15] = in_text[:, :CONTEXT].sum(axis=1) / root[:, 0]
        features[16] = of_link[:, ANCHOR:].sum(axis=1) / root[:, 2]
        curiosity = 1.0 / (1.0 + self.finds_ / SMELT)
        features[17] = 0.5 * curiosity * (1.0 / np.sqrt(1.0 + host[1]) + 1.0 / np.sqrt(1.0 + directory[1]))
        if self.lean:
            features[17] += curiosity * (1.0 - trails.depth[rows] / DEEPEST)
        paths = trails.path.take(rows, axis=0)
        exact, tags = _lifts(self.places_, paths, self.mean_, PLACE_SHRINK).T
        known = self.places_[paths[:, 0], 1]
        features[18] = (exact + PLACE_SHRINK * tags / (known + PLACE_SHRINK)) / scale
        return features


def _lifts(groups: Groups, slots: NDArray[np.int32], mean: float, shrink: float = SHRINK) -> Groups:
    """The lift of each slot; the slot of no word has none."""
    # Both numbers of a slot at once, as one of eight bytes: four times as fast as line by line.
    sums = groups.view(np.uint64).reshape(-1).take(slots.reshape(-1)).view(np.float32).reshape(-1, 2)
    count = sums[:, 1].copy()
    lifts: Groups = (sums[:, 0] - np.float32(mean) * count) / (count + np.float32(shrink))
    return lifts.reshape(slots.shape)
