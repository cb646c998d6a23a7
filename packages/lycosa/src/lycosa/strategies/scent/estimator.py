"""Scent: a link is worth what its words, its place and its relations turned out to be worth so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import distinct, fit
from lycosa.core.state import State, plain, put_back
from lycosa.core.table import OPEN, SpilledTable, Table
from lycosa.core.types import Priorities, Rows, Step, Visit
from lycosa.strategies.parents import linked
from lycosa.strategies.scent.link_words import SLOTS, LinkWords, Meaning, meaning_of
from lycosa.strategies.scent.mixing import Elite, Mixing, Risk
from lycosa.strategies.scent.paths import PATHS, Paths
from lycosa.strategies.scent.sharpening import Sharpening
from lycosa.strategies.scent.trails import (
    ANCHOR_NEAR,
    CONTEXT,
    DEEPEST,
    DEPTH,
    DIRECTORY,
    HOST,
    IN_ADDRESS,
    IN_CONTEXT,
    IN_PATHS,
    IN_TEXT,
    NEIGHBOUR_WEIGHT,
    NEIGHBOURS,
    OF_ANCHOR,
    OF_CONTEXT,
    OUTCOMES,
    PATH,
    PROMISE,
    ROOTS,
    SAID,
    TAGS,
    Lines,
    Trails,
    fill,
)  # fmt: skip
from lycosa.text.tokens import stems as stems_of

# The terms of a score and their weights at first.
WEIGHTS = {
    "pages": 0.4,
    "popularity": -0.1,
    "promise": 0.15,
    "anchor": 0.3,
    "context": 0.3,
    "address": 0.5,
    "anchor meaning": 0.8,
    "neighbours": 0.5,
    "directory": 0.3,
    "anchor words": 0.3,
    "anchor in pages": 0.4,
    "context in pages": 0.4,
    "new places": 0.6,
    "place": 0.6,
}
TERMS = tuple(WEIGHTS)
SHRINK = 3.0  # a group of so many pages is half known: lifts and means are shrunk towards what is known without it
AT_ONCE = 1 << 14  # pages credited at once: it takes memory
ANCESTORS, CREDIT = 3, 0.3  # pages on the way that get credit, and their share
PAGES_SHRINK, NEIGHBOURS_SHRINK, PLACE_SHRINK = 2.0, 0.7, 10.0
# Score of any link. It changes no order, but keeps a choosy crawl from waiting for the sake of small differences
# between small scores.
ANY = 0.5
RISK = "no page"  # what a score loses as the request may give no page
BY_AGE, BY_TOPIC = "turn of the oldest", "turn by topic"  # what a score has more in its turn
CANDIDATES = 32  # links of which the topic says most, before their risk counts
Column = NDArray[np.float64]
Groups = NDArray[np.float32]  # of each slot: sum of the outcomes of its pages, their number
OF_TEXT = slice(IN_TEXT, IN_TEXT + SLOTS)  # groups of pages, by their words
# Columns that are groups of links.
_GROUPS = np.array([*range(OF_ANCHOR.start, OF_ANCHOR.stop), *range(DIRECTORY, TAGS + 1)])
# Terms by which the topic judges a link, as `SAID` has them after the first.
_OF_TOPIC = TERMS.index("anchor"), slice(TERMS.index("context"), TERMS.index("anchor meaning") + 1)
_EIGHT = 8
# Columns of words (begin, end), the groups in which their lift is looked up, and its shrinkage. The first three are
# eight words each, in the order of the terms that they are summed up for.
_LOOKED_UP = (
    (OF_ANCHOR.start, OF_ANCHOR.stop, 0, SHRINK),
    (OF_ANCHOR.start, OF_ANCHOR.stop, IN_TEXT, SHRINK),
    (OF_CONTEXT.start, OF_CONTEXT.start + _EIGHT, IN_TEXT, SHRINK),
    (OF_CONTEXT.start + _EIGHT, OF_CONTEXT.stop, IN_TEXT, SHRINK),
    (DIRECTORY, HOST + 1, 0, SHRINK),
    (PATH, TAGS + 1, 0, PLACE_SHRINK),
)
_ROOTS_OF = np.array([ROOTS + 1, ROOTS + 1, ROOTS])  # number of words of each of those terms
_COLUMNS = np.concatenate([np.arange(begin, end) for begin, end, _, _ in _LOOKED_UP])
_GROUPS_OF = np.concatenate([np.full(end - begin, first, np.int32) for begin, end, first, _ in _LOOKED_UP])[:, None]
_SHRINKS = np.concatenate([np.full(end - begin, shrink, np.float32) for begin, end, _, shrink in _LOOKED_UP])[:, None]
_IN_TEXT = (_GROUPS_OF == IN_TEXT).astype(np.intp)


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

    The weights are a prior: a regression shifts them with every page, and is in force only while it has predicted
    better (Mixing).

    Tunnelling: a page on the way to a good one has led there, too; .3 b for the page before it, .09 and .027 for those
    before that, go to the groups of the links to them. Weak start: a link to a host or directory of which few pages
    were seen is worth (1 / sqrt(1 + n_host) + 1 / sqrt(1 + n_directory)) / 2 more, and, as the way to other parts of
    a site leads upwards, 1 - d / 8 more if its path has d < 8 names; all of it divided by
    1 + finds / 3: much as long as nothing smells, hardly anything once there is a trail. A find has a beta at the
    crawl's threshold. And before the first find every second page is the link that has been open for longest; beside
    a judge that learns, while there are no more than ten finds and they are fewer than a sixth of the pages, every
    fourth page is the link of which the topic says most (anchor, context, address and anchor meaning). It gets
    what it lacks to be the best.

    Hindsight: where the judge learns during the crawl, what it says after each lesson of all pages so far takes the
    place of what it said when they were fetched, in every sum above, and the 8,192 best rows are scored again. The
    first pages, which it could hardly tell apart, then teach what they should have taught.

    Scored again are the links of the page and the neighbours of the link to it, the 64 best rows, and 32 others in
    turn, never all: a row's score is that of the last time. What is known of a link takes 223 bytes; of a page, for
    hindsight, 4 bytes for each of its words; what is known of words and places has a fixed size, 13 MB, beside the
    vectors of the words met in links (260 bytes each).

    `vectors=no` leaves the word vectors out, as does a file of them that cannot be read.

    >>> from lycosa.core.types import Links
    >>> table = Table(); _ = table.add_seed("http://a.test/")
    >>> links = Links.to("http://a.test/coral", "http://a.test/trains", anchors=["coral reefs", "railways"])
    >>> links.link_relevances[:] = (.8, 0)
    >>> scent = Scent(words="coral reef bleaching", vectors=False)
    >>> rows = scent.learn(table.absorb(Visit("http://a.test/", "page", "ok", pick=1, relevance=.5, links=links)), table)
    >>> coral, trains = scent.priority(rows, table)
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
    vectors: bool = True
    meaning_: Meaning | None = field(init=False, repr=False, compare=False)
    words_: LinkWords = field(init=False, repr=False, compare=False)
    sharpening_: Sharpening = field(init=False, repr=False, compare=False)
    mixing_: Mixing = field(init=False, repr=False, compare=False)
    risk_: Risk = field(default_factory=Risk, init=False, repr=False, compare=False)
    trails_: Trails = field(default_factory=Trails, init=False, repr=False, compare=False)
    elite_: Elite = field(default_factory=Elite, init=False, repr=False, compare=False)
    groups_: Groups = field(init=False, repr=False, compare=False)
    paths_: Paths = field(default_factory=Paths, init=False, repr=False, compare=False)
    scored_: tuple[NDArray[np.intp], Column] = field(init=False, repr=False, compare=False)  # after the last visit
    sum_: float = field(default=0.0, init=False, repr=False, compare=False)
    pages_: int = field(default=0, init=False, repr=False, compare=False)
    positive_sum_: float = field(default=0.0, init=False, repr=False, compare=False)
    positives_: int = field(default=0, init=False, repr=False, compare=False)
    relevant_: int = field(default=0, init=False, repr=False, compare=False)
    oldest_: int = field(default=0, init=False, repr=False, compare=False)  # rows before it had their turn
    turn_: int = field(default=-1, init=False, repr=False, compare=False)  # whose turn it is; -1 for nobody's
    by_topic_: bool = field(default=False, init=False, repr=False, compare=False)  # and why; else for its age
    lead_: float = field(default=0.0, init=False, repr=False, compare=False)  # what that one has more

    def __post_init__(self) -> None:
        words = self.words if isinstance(self.words, str) and not self.stems else ""
        weighted: Mapping[str, float] = self.stems or ({} if isinstance(self.words, str) else self.words)
        self.meaning_ = meaning_of(words, weighted) if self.vectors and (words or weighted) else None
        self.words_ = LinkWords(self.meaning_.meet if self.meaning_ is not None else None)
        topic = weighted or dict.fromkeys(stems_of(words), 1.0)
        self.groups_ = np.zeros((IN_PATHS + 2 * PATHS, 2), np.float32)
        self.sharpening_ = Sharpening(topic, self.groups_[OF_TEXT], probability=self.probability, exact=self.exact)
        self.mixing_ = Mixing(np.array(list(WEIGHTS.values())))
        self.scored_ = np.zeros(0, np.intp), np.zeros((len(TERMS), 0))

    @property
    def scale_(self) -> float:
        """s, the mean of the positive outcomes; .1 before there is one."""
        return max((self.positive_sum_ + 0.05) / (self.positives_ + 0.5), 1e-6)

    @property
    def mean_(self) -> float:
        """m0, the mean outcome, shrunk."""
        return self.sum_ / (self.pages_ + 5.0)

    @property
    def level_(self) -> float:
        """What all scores have more here than on another shard, as the terms have other weights."""
        return self.mixing_.level

    # -- learn -------------------------------------------------------------------------------------------------

    def learn(self, step: Step, table: Table) -> Rows:
        """Learn from a visit; return the rows that were scored again."""
        if step.is_inbound:
            return self._learn_inbound(step, table)
        visit, row = step.visit, step.row
        self.trails_.fit(len(table))
        self.elite_.fit(len(table))
        touched = [step.children.astype(np.intp)]
        moved: list[int] = []
        if not self.trails_.words.item(row, HOST):  # a seed
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
        lines = self.trails_.lines(rows)
        terms = self._features(lines, table)
        priorities = self._risked(ANY + self.mixing_.weights @ terms, lines, table)
        self.scored_ = rows, terms
        if moved:  # a new address is worth what led to it was
            priorities[np.isin(rows, moved)] = self.elite_.priority[row]
        if self.turn_ >= 0:
            at = int(rows.searchsorted(self.turn_))
            self.lead_ = float(priorities.max()) + 0.05 - float(priorities[at])  # ahead of the best
            priorities[at] += self.lead_
        return self.elite_.note(rows, priorities, touched[0][table.state[touched[0]] == OPEN])

    def _learn_inbound(self, step: Step, table: Table) -> Rows:
        """Links on a page that another shard has fetched: only what they lead to is scored."""
        trails, visit = self.trails_, step.visit
        trails.fit(len(table))
        self.elite_.fit(len(table))
        trails.outcome[step.row] = 0.0 if visit.same_as else visit.relevance
        if visit.outcome == "redirect":
            for target in step.children.tolist():
                if not trails.words.item(target, HOST):
                    trails.place(target, table.nodes[target])
        else:
            self._links(step, table)
        rows: NDArray[np.intp] = distinct(step.children[table.state[step.children] == OPEN].astype(np.intp))
        lines = trails.lines(rows)
        return self.elite_.admit(
            rows, self._risked(ANY + self.mixing_.weights @ self._features(lines, table), lines, table)
        )

    def _turn(self, table: Table) -> NDArray[np.intp]:
        """While nothing was found, after the fourth page, the sixth ... it is the turn of the link open for longest;
        while finds are few and doubtful, after each fourth page of the link of which the topic says most.

        A judge that learns may take the wrong pages for relevant, and then all that was learned leads to more of them.
        A turn lasts until the page has come, or the next one has its turn: its host may rest meanwhile. Returned are
        that link and the one before, which may still be open: both have another score now.
        """
        before, self.turn_ = self.turn_, -1
        if self.pages_ > 3:
            # Finds are doubtful while there are few, and fewer than one page in six is one.
            doubtful = self.probability and self.relevant_ <= 10 and 6 * self.relevant_ < self.pages_
            if not self.relevant_ and self.pages_ % 2 == 0:
                self.turn_ = self._oldest(table)
            elif self.relevant_ and doubtful and self.pages_ % 4 == 0:
                self.turn_ = self._most_topical(table, before)
            elif before >= 0 and table.state[before] == OPEN and self.by_topic_ == bool(self.relevant_ and doubtful):
                self.turn_ = before
            self.by_topic_ = self.relevant_ > 0
        return np.array([row for row in {before, self.turn_} if row >= 0], np.intp)

    def _oldest(self, table: Table) -> int:
        """The link that has been open for longest and had no turn yet; -1 if there is none."""
        while self.oldest_ < len(table) and table.state[self.oldest_] != OPEN:
            self.oldest_ += 1
        if self.oldest_ == len(table):
            return -1
        self.oldest_ += 1  # one that can't be fetched for long, as its host rests, keeps nobody from a turn
        return self.oldest_ - 1

    def _most_topical(self, table: Table, before: int) -> int:
        """The link of which the topic says most, whatever was learned from pages; -1 if there is none.

        Not the one that had the last turn: it is on its way, or its host rests.
        """
        rows = self.elite_.hopeful(table)
        rows = rows[rows != before]
        if not len(rows):
            return -1
        of_anchor, of_others = self.mixing_.fixed[_OF_TOPIC[0]], self.mixing_.fixed[_OF_TOPIC[1]]
        values = of_anchor * table.link_relevance_max[rows] + self.trails_.known[rows, SAID] @ of_others
        if len(rows) > CANDIDATES:
            chosen = np.sort(values.argpartition(len(rows) - CANDIDATES)[len(rows) - CANDIDATES :])
            rows, values = rows[chosen], values[chosen]
        return int(rows[self._risked(values, self.trails_.lines(rows), table).argmax()])

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
        line = self.trails_.lines(np.array([row]))
        self.risk_.learn(line, failed)
        return self.trails_.bury(row, table.edges) if failed else self._turned_out(line, visit, table)

    def _risked(self, priorities: Column, lines: Lines, table: Table | SpilledTable) -> Column:
        """What is promised, if there is a page, times the root of the probability that there is one.

        The root, as a request that gives no page costs no page of the budget. Where a redirect leads there is a page,
        by its server's word.
        """
        if not self.risk_.failures:
            return priorities
        risk = np.where(table.hops.take(lines.rows) > 0, 0.0, self.risk_.of(lines))
        lessened: Column = priorities - np.maximum(priorities, 0.0) * (1.0 - np.sqrt(1.0 - risk))
        return lessened

    def _turned_out(self, line: Lines, visit: Visit, table: Table) -> NDArray[np.intp]:
        """A page is there: everything that led to it hears of it. Returned are the rows that are near."""
        trails, row = self.trails_, line.rows.item()
        before = self._when_picked(line, table) if trails.parents[row] else None
        outcome = self.sharpening_.learn(row, visit, table, self.words_)
        trails.outcome[row], trails.done[row] = outcome, True
        self.pages_ += 1
        self.sum_ += outcome
        self.relevant_ += visit.was_relevant(self.threshold)
        if outcome > 0:
            self.positive_sum_ += outcome
            self.positives_ += 1
        if before is not None:
            self.mixing_.learn(before, outcome / self.scale_)
        self._credit(row, outcome, 1)
        share, ancestor = CREDIT * outcome, int(table.parent[row])
        for _ in range(ANCESTORS):
            if ancestor < 0 or not share:
                break
            self._credit(ancestor, share, 0)
            share, ancestor = share * CREDIT, int(table.parent[ancestor])
        return trails.tell(row, outcome, table.edges)

    def _when_picked(self, line: Lines, table: Table) -> Column:
        """The terms of a row as they were before its visit: often they were looked at after the last one."""
        rows, terms = self.scored_
        at = int(rows.searchsorted(line.rows[0]))
        if at < len(rows) and rows[at] == line.rows[0]:
            column: Column = terms[:, at]
            return column
        return self._features(line, table)[:, 0]

    def _credit(self, row: int, outcome: float, pages: int) -> None:
        """The groups of the link to a row have led to this much more."""
        groups = self.trails_.words[row, _GROUPS]
        self.groups_[groups] += np.array((outcome, pages), np.float32)
        self.groups_[0] = 0.0  # the slot of no word and of no path

    def reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table) -> Rows:
        """The judge has learned: what led to the pages so far has led to what they are worth now.

        Returned are the rows that were scored again: the best ones by their last score.
        """
        if not self.probability:
            return np.zeros(0, np.intp)
        trails = self.trails_
        trails.fit(len(table))
        self.elite_.fit(len(table))
        relevance_now = np.zeros(len(table))
        relevance_now[rows[rows >= 0]] = relevances_now[rows >= 0]
        pages, outcome = self.sharpening_.relearn(relevance_now)
        trails.outcome[pages] = outcome
        positive = outcome > 0.0
        self.sum_, self.positive_sum_ = float(outcome.sum()), float(outcome[positive].sum())
        self.positives_ = int(np.count_nonzero(positive))
        self.relevant_ = int(np.count_nonzero(positive & (relevance_now[pages] >= self.threshold)))
        self._credit_anew(pages, outcome, table)
        trails.retell(table.edges)
        return self._rescored(table)

    def _rescored(self, table: Table) -> Rows:
        """All scores may have changed: the best rows by their last score are scored again, and returned."""
        self.turn_ = -1
        best = self.elite_.foremost(table)
        lines = self.trails_.lines(best)
        terms = self._features(lines, table)
        self.scored_ = best, terms
        return self.elite_.note(best, self._risked(ANY + self.mixing_.weights @ terms, lines, table), best)

    def _credit_anew(self, rows: Rows, outcome: Column, table: Table) -> None:
        """What was credited is forgotten, and credited by these outcomes: pages and those on the way to them."""
        trails, share = self.trails_, outcome
        self.groups_[: OF_TEXT.start, 0] = self.groups_[OF_TEXT.stop :, 0] = 0.0
        for _ in range(1 + ANCESTORS):
            for begin in range(0, len(rows), AT_ONCE):
                some = slice(begin, begin + AT_ONCE)
                groups = np.sort(trails.words[rows[some]][:, _GROUPS], axis=1)
                groups[:, 1:][groups[:, 1:] == groups[:, :-1]] = 0  # a word counts once a link, as in _credit
                np.add.at(self.groups_[:, 0], groups, share[some].astype(np.float32)[:, None])
            rows, share = table.parent[rows].astype(np.intp), CREDIT * share
            on_the_way = (rows >= 0) & (share != 0.0)
            rows, share = rows[on_the_way], share[on_the_way]
        self.groups_[0] = 0.0  # the slot of no word and of no path

    def _links(self, step: Step, table: Table) -> None:
        """What a page says of the rows that it links to."""
        trails, children = self.trails_, step.children
        outcome, every = trails.outcome.item(step.row), linked(step, table)
        if step.visit.follows and step.visit.is_version:  # it speaks for its new links as it is now
            outcome = self.sharpening_.outcome_of(step.visit, table, self.words_)
        lines = trails.known.take(children, axis=0)
        lines[:, OUTCOMES] += outcome
        lines[:, PROMISE] += outcome * step.link_relevances
        for column, facet in ((IN_CONTEXT, "context"), (IN_ADDRESS, "url")):
            np.maximum(lines[:, column], step.facet(facet), out=lines[:, column])
        if len(every) == len(children):
            trails.beside(lines, children)
        else:  # visited again: only the new links have something to hear
            heard = np.zeros((len(every), lines.shape[1]), np.float32)
            trails.beside(heard, every)
            lines += heard[np.isin(every, children)]
        trails.known[children] = lines
        for row in children[trails.parents.take(children) == 0].tolist():
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
        order = blank.take(of_link.take(blank).argsort(kind="stable"))
        rows = of_link.take(order)
        is_first = np.empty(len(rows), bool)
        is_first[0] = True
        np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
        rows, chosen = rows[is_first].astype(np.intp), order[is_first]
        n, lines = len(rows), trails.lines(rows)
        owner, slots = self.words_.read_links(links, chosen, step.visit.language)
        counts = np.bincount(owner, minlength=3 * n)
        begins = np.cumsum(counts) - counts
        if self.meaning_ is not None:
            begin, end = begins.item(n), begins.item(2 * n)  # anchors stand between contexts and addresses
            lines.known.T[ANCHOR_NEAR] = self.meaning_.similar(
                self.meaning_.sums(slots[begin:end], counts[n : 2 * n], begins[n : 2 * n] - begin)
            )
        fill(lines, owner, slots, counts, begins)
        if links.paths:
            host = step.visit.node.partition("://")[2].partition("/")[0]
            lines.words[:, PATH:] = [self.paths_.groups(host, links.paths[at]) for at in chosen.tolist()]
        trails.put(lines)

    def state(self) -> State:
        """All that was learned: whatever ends with an underscore. Paths are met again."""
        given = [name for name in vars(self) if not name.endswith("_")]
        rows, terms = self.scored_
        return {**plain(self, "scored_", "paths_", *given), "rows": rows, "terms": terms}

    def restore(self, state: State) -> None:
        self.scored_ = state["rows"], state["terms"]
        put_back(self, {name: value for name, value in state.items() if name not in ("rows", "terms")})
        self.sharpening_.lifts = self.groups_[OF_TEXT]

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        self.trails_.fit(len(table))
        self.elite_.fit(len(table))
        scored, terms = self.scored_
        here = ~np.isin(scored, rows)
        self.scored_ = scored[here], terms[:, here]
        if self.turn_ in rows:
            self.turn_ = -1
        return self.trails_.leave(rows) | self.elite_.leave(rows)

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self.trails_.fit(len(table))
        self.elite_.fit(len(table))
        self.trails_.join(rows, known, table.edges)
        self.elite_.join(rows, known)

    def renew(self, known: Mapping[str, NDArray[Any]], aside: SpilledTable, table: Table) -> Priorities:
        """What rows that are put aside are worth by now: the scores that they get, which are among what is known."""
        self.trails_.fit(len(table))
        self.trails_.renew(known, aside.in_degree, table.edges)
        rows = np.arange(len(aside.in_degree))
        lines = Lines(rows, np.ascontiguousarray(known["known"]), np.ascontiguousarray(known["words"]))
        known["score"][:] = self._risked(ANY + self.mixing_.weights @ self._features(lines, aside), lines, aside)
        priorities: Priorities = known["score"].astype(np.float64)
        return priorities

    # -- score -------------------------------------------------------------------------------------------------

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """The score that each row had last; 0 for one that was never scored."""
        priorities: Priorities = fit(self.elite_.priority, len(table))[rows].astype(np.float64)
        return priorities

    def terms(self, rows: Rows, table: Table) -> dict[str, Column]:
        """Of each term what it contributes to the rows' scores, as of now; nothing to a row that is not known yet."""
        values = np.zeros((len(TERMS), len(rows)))
        met = rows < len(self.trails_.done)
        lines = self.trails_.lines(rows[met])
        values[:, met] = self._features(lines, table) * self.mixing_.weights[:, None]
        columns = {name: values[number] for number, name in enumerate(TERMS) if self.mixing_.fixed[number]}
        if self.risk_.failures:
            whole = ANY + values.sum(axis=0)
            columns[RISK] = np.zeros(len(rows))
            columns[RISK][met] = self._risked(whole[met], lines, table) - whole[met]
        if self.turn_ >= 0:
            columns[BY_TOPIC if self.by_topic_ else BY_AGE] = np.where(rows == self.turn_, self.lead_, 0.0)
        return columns | {"any link": np.full(len(rows), ANY)}

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """The terms of one row's score and what each contributes: the largest first, what changes all links' last."""
        values = {name: float(column[0]) for name, column in self.terms(np.array([row]), table).items()}
        return dict(sorted(values.items(), key=lambda term: (term[0] in (RISK, "any link"), -abs(term[1]))))

    def _features(self, lines: Lines, table: Table | SpilledTable) -> Column:
        """The terms, not weighted: a line for each, in the order of TERMS."""
        rows, known = lines.rows, np.ascontiguousarray(lines.known.T)
        scale, mean, features = self.scale_, self.mean_, np.zeros((len(TERMS), len(rows)))
        parents, outcomes = table.in_degree.take(rows), known[OUTCOMES] / scale
        np.divide(outcomes, parents + PAGES_SHRINK, out=features[0])
        np.log1p(parents, out=features[1])
        # A judge of one's own may say less than nothing.
        np.log1p(np.maximum(known[PROMISE], 0.0) / scale, out=features[2])
        features[3] = table.link_relevance_max[rows]  # which is no column by itself: `take` would copy all of it
        features[4:7] = known[SAID]
        features[7] = known[NEIGHBOURS] / ((known[NEIGHBOUR_WEIGHT] + NEIGHBOURS_SHRINK) * scale)
        lifts, sums, counts = self._lifts(lines.words)
        directory, host, path, _ = counts[-4:]
        of_host = (sums[-3] + SHRINK * mean) / (host + SHRINK)
        features[8] = (sums[-4] + SHRINK * of_host) / ((directory + SHRINK) * scale)
        np.divide(_summed(lifts), np.maximum(known.take(_ROOTS_OF, axis=0), 1.0) * scale, out=features[9:12])
        curiosity = 1.0 / (1.0 + self.relevant_ / 3)
        unknown = 1.0 / np.sqrt(1.0 + counts[-4:-2])
        features[12] = 0.5 * curiosity * (unknown[0] + unknown[1])
        features[12] += curiosity * (1.0 - known[DEPTH].astype(np.float64) / DEEPEST)
        features[13] = (lifts[-2] + PLACE_SHRINK * lifts[-1] / (path + PLACE_SHRINK)) / scale
        return features

    def _lifts(self, words: NDArray[np.int32]) -> tuple[Groups, Groups, Groups]:
        """The lifts of the words of some lines, as `_LOOKED_UP` says; and of each group the two numbers behind it."""
        slots = words.T.take(_COLUMNS, axis=0)
        slots += _GROUPS_OF
        # Both numbers of a slot at once, as one of eight bytes: four times as fast as line by line.
        pairs = self.groups_.view(np.uint64).reshape(-1).take(slots).view(np.float32)
        sums, counts = pairs[:, 0::2], pairs[:, 1::2].copy()
        means = np.array((self.mean_, self.sharpening_.mean), np.float32).take(_IN_TEXT)
        lifts: Groups = (sums - means * counts) / (counts + _SHRINKS)
        return lifts, sums, counts


def _summed(lifts: Groups) -> Groups:
    """The sums over the words of each text: of eight two by two, what a context has more one by one."""
    eights = lifts[: 3 * _EIGHT].reshape(3, _EIGHT, lifts.shape[1])
    pairs = eights[:, 0::2] + eights[:, 1::2]
    fours = pairs[:, 0::2] + pairs[:, 1::2]
    sums = fours[:, 0] + fours[:, 1]
    in_context = sums[2]
    for more in lifts[3 * _EIGHT : 3 * _EIGHT + CONTEXT - _EIGHT]:
        in_context += more
    return sums
