"""Scent: rank links by the topic, and by the pages that similar links have led to so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lycosa.core.columns import distinct, fit, learned
from lycosa.core.state import State, restore_attributes, state_of_attributes
from lycosa.core.table import OPEN, SpilledTable, Table
from lycosa.core.types import Priorities, Rows, Step, Visit
from lycosa.strategies.parents import linked
from lycosa.strategies.scent.groups import LINK_GROUPS, SHRINK, LinkPlaces, OutcomeGroups, lift
from lycosa.strategies.scent.known_links import GROUPS, MAX_PATH_NAMES, NUMBERS, KnownLinks, LinkRows, named
from lycosa.strategies.scent.link_words import LinkWords, TopicMeaning, topic_meaning
from lycosa.strategies.scent.page_outcomes import PageOutcomes
from lycosa.strategies.scent.ranking import AdaptiveWeights, BestRows, NoPageRisk
from lycosa.text.tokens import stems as stems_of

# Terms of a priority, with their initial weights.
WEIGHTS = {
    "parents": 0.4,
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
# Added to each priority. The order is unchanged, but small absolute differences matter less, so that the crawl does not
# wait for a busy host.
ANY_LINK = 0.5
PARENTS_SHRINK, NEIGHBOURS_SHRINK, PLACE_SHRINK = 2.0, 0.7, 10.0
# number of ancestors that share the outcome of a page, and the share passed on from each to the next
ANCESTORS, CREDIT = 3, 0.3
PAGES_AT_ONCE = 1 << 14  # pages credited in one batch, which limits memory
MAX_RISKED = 32  # number of the most topical links for which the risk of no page is computed
Column = NDArray[np.float64]


@dataclass
class Scent:
    """Default strategy: ranks links by the topic, and by the pages that similar links have led to so far.

    The priority of a link is ANY_LINK plus the weighted sum of its `terms`; docs/scent.md has the formula of each term.
    The outcome of a page is its relevance, refined by `PageOutcomes`. The lift of a group of pages is the difference
    between its mean outcome and the overall mean, shrunk towards 0 while the group is small.

    After the first request that gave no page, priorities are multiplied by the square root of the probability that the
    link gives one (`NoPageRisk`). The weights are a prior that `AdaptiveWeights` updates with every page.

    Tunnelling: .3 of each outcome is credited to the groups of the link to the parent page, and .09 and .027 to those
    of the two pages before it.

    Weak start: until the first relevant page, every second page is the link that has been open longest. If the judge
    learns, and at most ten pages and fewer than one in six are relevant, every fourth page is the link with the largest
    sum of anchor, context, address and anchor meaning. A bonus raises such a link to the highest priority.

    Hindsight: after each model update of the judge, all sums are recomputed from the current relevance of the pages,
    and the 8,192 best rows are scored again.

    After each page only these rows are scored again: its links, the neighbours of the link to it, the 64 best rows, and
    32 others in a cycle. The priority of a row is the last one computed. A link takes 219 bytes, and a page 4 bytes per
    word for hindsight; sums of words and places have a fixed size of 13 MB, and each word vector takes 260 bytes.
    `vectors=no` disables word vectors, as does a file of vectors that cannot be read.

    >>> from lycosa.core.types import Links
    >>> table = Table(); _ = table.add_seed("http://a.test/")
    >>> links = Links.to("http://a.test/coral", "http://a.test/trains", anchors=["coral reefs", "railways"])
    >>> links.link_relevances[:] = (.8, 0)
    >>> scent = Scent(words="coral reef bleaching", vectors=False)
    >>> visit = Visit("http://a.test/", "page", "ok", pick=1, relevance=.5, links=links)
    >>> rows = scent.learn(table.absorb(visit), table)
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
    meaning_: TopicMeaning | None = learned()
    words_: LinkWords = learned()
    outcomes_: PageOutcomes = learned()
    weights_: AdaptiveWeights = learned()
    risk_: NoPageRisk = learned(NoPageRisk)
    links_: KnownLinks = learned(KnownLinks)
    best_: BestRows = learned(BestRows)
    groups_: OutcomeGroups = learned(lambda: OutcomeGroups(LINK_GROUPS))  # outcomes of the pages behind groups of links
    places_: LinkPlaces = learned(LinkPlaces)
    scored_: tuple[NDArray[np.intp], Column] = learned()  # rows scored after the last page, and their terms
    pages_: int = learned(int)
    outcome_sum_: float = learned(float)
    positive_pages_: int = learned(int)
    positive_sum_: float = learned(float)
    relevant_pages_: int = learned(int)
    has_relevant_seed_: bool = learned(bool)
    next_oldest_: int = learned(int)  # first row that has not been chosen as the oldest yet
    turn_: int = learned(lambda: -1)  # row with the bonus; -1 if none
    is_turn_by_topic_: bool = learned(bool)
    turn_bonus_: float = learned(float)

    def __post_init__(self) -> None:
        words = self.words if isinstance(self.words, str) and not self.stems else ""
        weighted: Mapping[str, float] = self.stems or ({} if isinstance(self.words, str) else self.words)
        self.meaning_ = topic_meaning(words, weighted) if self.vectors and (words or weighted) else None
        self.words_ = LinkWords(self.meaning_.add_words if self.meaning_ is not None else None)
        topic = weighted or dict.fromkeys(stems_of(words), 1.0)
        self.outcomes_ = PageOutcomes(topic, probability=self.probability, exact=self.exact)
        self.weights_ = AdaptiveWeights(np.array(list(WEIGHTS.values())))
        self.scored_ = np.zeros(0, np.intp), np.zeros((len(WEIGHTS), 0))

    @property
    def typical_outcome_(self) -> float:
        """Shrunk mean of the positive outcomes, s in docs/scent.md; .1 before the first."""
        return max((self.positive_sum_ + 0.05) / (self.positive_pages_ + 0.5), 1e-6)

    @property
    def mean_outcome_(self) -> float:
        """Shrunk mean of all outcomes, m0 in docs/scent.md."""
        return self.outcome_sum_ / (self.pages_ + 5.0)

    @property
    def priority_offset_(self) -> float:
        """Mean difference that the learned weights make to priorities; it differs between shards."""
        return self.weights_.offset

    def terms(self, links: LinkRows, table: Table | SpilledTable) -> dict[str, NDArray[Any]]:
        """Return the unweighted terms of links by their names in WEIGHTS."""
        known, scale, mean, mean_page = links.numbers, self.typical_outcome_, self.mean_outcome_, self.outcomes_.mean
        parents = table.in_degree.take(links.rows)
        anchor_root = np.maximum(known["anchor_root"], 1.0) * scale
        context_root = np.maximum(known["context_root"], 1.0) * scale
        anchor_words, context_words = links.groups["anchor"].T, links.groups["context"].T  # a column per link
        by_links, by_text = self.groups_, self.outcomes_.page_words
        sums, pages = by_links.look_up(np.array([links.groups["directory"], links.groups["host"]]))
        (directory_sum, host_sum), (directory_pages, host_pages) = sums, pages
        host_mean = (host_sum + SHRINK * mean) / (host_pages + SHRINK)
        return {
            "parents": known["outcome_sum"] / scale / (parents + PARENTS_SHRINK),
            "popularity": np.log1p(parents),
            "promise": np.log1p(np.maximum(known["promise_sum"], 0.0) / scale),  # link relevances can be negative
            "anchor": table.link_relevance_max[links.rows],
            "context": known["context_relevance"],
            "address": known["address_relevance"],
            "anchor meaning": known["anchor_cosine"],
            "neighbours": known["neighbour_sum"] / ((known["neighbour_weight"] + NEIGHBOURS_SHRINK) * scale),
            "directory": (directory_sum + SHRINK * host_mean) / ((directory_pages + SHRINK) * scale),
            "anchor words": by_links.lift_of_words(anchor_words, mean) / anchor_root,
            "anchor in pages": by_text.lift_of_words(anchor_words, mean_page) / anchor_root,
            "context in pages": by_text.lift_of_words(context_words, mean_page) / context_root,
            "new places": self._new_places(pages, known["path_names"]),
            "place": self._place_lift(links.groups, mean) / scale,
        }

    def _new_places(self, pages: NDArray[Any], path_names: NDArray[Any]) -> Column:
        # A seed on the topic has good links: curiosity would cost .013 of the optimum at 50 pages.
        curiosity = 0.0 if self.has_relevant_seed_ else 1.0 / (1.0 + self.relevant_pages_ / 3)
        unknown_directory, unknown_host = 1.0 / np.sqrt(1.0 + pages)
        upwards = 1.0 - path_names.astype(np.float64) / MAX_PATH_NAMES
        new_places: Column = 0.5 * curiosity * (unknown_directory + unknown_host) + curiosity * upwards
        return new_places

    def _place_lift(self, groups: NDArray[Any], mean: float) -> NDArray[np.float32]:
        sums, pages = self.groups_.look_up(np.array([groups["path"], groups["tags"]]))
        path_lift, tags_lift = lift(sums, pages, mean, PLACE_SHRINK)
        path_pages, _ = pages
        place_lift: NDArray[np.float32] = path_lift + PLACE_SHRINK * tags_lift / (path_pages + PLACE_SHRINK)
        return place_lift

    def _score(self, links: LinkRows, table: Table | SpilledTable) -> tuple[Column, Column]:
        """Return the terms of links, a matrix with a column per link, and their priorities."""
        terms = self._term_lines(links, table)
        return terms, self._less_risk(ANY_LINK + self.weights_.current @ terms, links, table)

    def _term_lines(self, links: LinkRows, table: Table | SpilledTable) -> Column:
        terms = self.terms(links, table)
        return np.array([terms[name] for name in WEIGHTS], np.float64)

    def _less_risk(self, priorities: Column, links: LinkRows, table: Table | SpilledTable) -> Column:
        """Multiply positive priorities by the square root of the probability that the link gives a page.

        The square root, because a request that gives no page does not use up the budget of pages. The target of a
        redirect is assumed to exist.
        """
        if not self.risk_.failures:
            return priorities
        risk = np.where(table.hops.take(links.rows) > 0, 0.0, self.risk_.probability(links))
        lessened: Column = priorities - np.maximum(priorities, 0.0) * (1.0 - np.sqrt(1.0 - risk))
        return lessened

    def priority(self, rows: Rows, table: Table) -> Priorities:
        """Return the priority that each row had when it was last scored; 0 if it never was."""
        priorities: Priorities = fit(self.best_.priority, len(table))[rows].astype(np.float64)
        return priorities

    def contributions(self, rows: Rows, table: Table) -> dict[str, Column]:
        """Return the current weighted terms of rows, which add up to their priorities; 0 for unknown rows."""
        values = np.zeros((len(WEIGHTS), len(rows)))
        is_known = rows < len(self.links_.outcome)
        links = self.links_.take(rows[is_known])
        values[:, is_known] = self._term_lines(links, table) * self.weights_.current[:, None]
        columns = dict(zip(WEIGHTS, values, strict=True))
        if self.risk_.failures:
            whole = ANY_LINK + values.sum(axis=0)
            columns["no page"] = np.zeros(len(rows))
            columns["no page"][is_known] = self._less_risk(whole[is_known], links, table) - whole[is_known]
        if self.turn_ >= 0:
            turn = "turn by topic" if self.is_turn_by_topic_ else "turn of the oldest"
            columns[turn] = np.where(rows == self.turn_, self.turn_bonus_, 0.0)
        return columns | {"any link": np.full(len(rows), ANY_LINK)}

    def explain(self, row: int, table: Table) -> dict[str, float]:
        """Return the contributions to the priority of a row, largest first; "no page" and "any link" come last."""
        values = {name: float(column[0]) for name, column in self.contributions(np.array([row]), table).items()}
        return dict(sorted(values.items(), key=lambda term: (term[0] in ("no page", "any link"), -abs(term[1]))))

    def learn(self, step: Step, table: Table) -> Rows:
        """Learn from a visit; return the rows with a new priority."""
        if step.is_inbound:
            return self._learn_inbound(step, table)
        visit, row, links = step.visit, step.row, self.links_
        self._fit(table)
        to_score = [step.children.astype(np.intp)]
        new_targets: list[int] = []
        if not links.groups["host"].item(row):  # a seed has no host group yet
            links.set_addresses([row], [table.nodes[row]])
        if visit.outcome == "redirect":
            new_targets = [target for target in step.children.tolist() if links.redirect(row, target)]
            links.set_addresses(new_targets, [table.nodes[target] for target in new_targets])
        if self._is_final(step, table):
            to_score.append(self._learn_end(row, visit, table))
        if len(step.children) and visit.outcome != "redirect":
            self._learn_links(step, table)
        to_score += [self.best_.due(table), self._next_turn(table)]
        rows: NDArray[np.intp] = distinct(np.concatenate(to_score))
        rows = rows[table.state.take(rows) == OPEN]
        terms, priorities = self._score(links.take(rows), table)
        self.scored_ = rows, terms
        if new_targets:  # redirect targets inherit the priority of the redirecting link
            priorities[np.isin(rows, new_targets)] = self.best_.priority[row]
        if self.turn_ >= 0:
            at = int(rows.searchsorted(self.turn_))
            self.turn_bonus_ = float(priorities.max()) + 0.05 - float(priorities[at])  # above the best priority
            priorities[at] += self.turn_bonus_
        return self.best_.update(rows, priorities, to_score[0][table.state[to_score[0]] == OPEN])

    def _learn_inbound(self, step: Step, table: Table) -> Rows:
        """Learn from the links of a page that another shard has fetched, and score only these links."""
        links, visit = self.links_, step.visit
        self._fit(table)
        links.outcome[step.row] = 0.0 if visit.same_as else visit.relevance
        if visit.outcome == "redirect":
            targets = step.children[links.groups["host"][step.children] == 0].tolist()
            links.set_addresses(targets, [table.nodes[target] for target in targets])
        else:
            self._learn_links(step, table)
        rows: NDArray[np.intp] = distinct(step.children[table.state[step.children] == OPEN].astype(np.intp))
        return self.best_.add(rows, self._score(links.take(rows), table)[1])

    def _is_final(self, step: Step, table: Table) -> bool:
        """Return True if this visit settles for the first time whether a row gives a page."""
        visit = step.visit
        if visit.kind not in ("page", "redirect") or visit.retry_at or visit.follows:
            return False
        if self.links_.has_outcome[step.row]:
            return False
        if visit.outcome == "redirect":  # an open target will be fetched itself
            return not (table.state[step.children] == OPEN).any()
        return visit.outcome not in ("denied", "refused")  # no request was sent

    def _learn_end(self, row: int, visit: Visit, table: Table) -> NDArray[np.intp]:
        """Learn whether a row has given a page, and its outcome; return the neighbours of the row."""
        failed = not visit.is_page or visit.is_hollow
        link = self.links_.take(np.array([row]))
        self.risk_.learn(link, failed)
        return self.links_.mark_dead(row, table.edges) if failed else self._learn_outcome(link, visit, table)

    def _learn_outcome(self, link: LinkRows, visit: Visit, table: Table) -> NDArray[np.intp]:
        """Credit the outcome of a page to its weights, groups and neighbours; return the neighbours."""
        links, row = self.links_, link.rows.item()
        terms = self._terms_when_picked(link, table) if links.edge_count[row] else None
        outcome = self.outcomes_.learn(row, visit, table, self.words_)
        links.outcome[row], links.has_outcome[row] = outcome, True
        self.pages_ += 1
        self.outcome_sum_ += outcome
        is_relevant = visit.was_relevant(self.threshold)
        self.relevant_pages_ += is_relevant
        self.has_relevant_seed_ |= self.probability and is_relevant and bool(table.is_seed[row])
        if outcome > 0:
            self.positive_sum_ += outcome
            self.positive_pages_ += 1
        if terms is not None:
            self.weights_.learn(terms, outcome / self.typical_outcome_)
        self._credit(row, outcome, table)
        return links.credit_neighbours(row, outcome, table.edges)

    def _terms_when_picked(self, link: LinkRows, table: Table) -> Column:
        """Return the terms that a row had before its visit, from `scored_` if possible."""
        rows, terms = self.scored_
        at = int(rows.searchsorted(link.rows[0]))
        if at < len(rows) and rows[at] == link.rows[0]:
            column: Column = terms[:, at]
            return column
        return self._term_lines(link, table)[:, 0]

    def _credit(self, row: int, outcome: float, table: Table) -> None:
        """Credit the groups of the link to a page with its outcome, and those of its ancestors with shares of it."""
        rows, shares = [row], [outcome]
        while len(rows) <= ANCESTORS and table.parent[rows[-1]] >= 0 and shares[-1]:
            rows.append(int(table.parent[rows[-1]]))
            shares.append(CREDIT * shares[-1])
        for number, groups in enumerate(self.links_.credited_groups(np.array(rows))):
            self.groups_.add(groups, shares[number], pages=number == 0)

    def reconsider(self, rows: Rows, relevances_now: NDArray[np.floating[Any]], table: Table) -> Rows:
        """Learn again from all pages by their current relevance; return the rows with a new priority."""
        if not self.probability:
            return np.zeros(0, np.intp)
        self._fit(table)
        relevance_now = np.zeros(len(table))
        relevance_now[rows[rows >= 0]] = relevances_now[rows >= 0]
        pages, outcome = self.outcomes_.recompute(relevance_now)
        self.links_.outcome[pages] = outcome
        is_positive = outcome > 0.0
        self.outcome_sum_, self.positive_sum_ = float(outcome.sum()), float(outcome[is_positive].sum())
        self.positive_pages_ = int(np.count_nonzero(is_positive))
        self.relevant_pages_ = int(np.count_nonzero(is_positive & (relevance_now[pages] >= self.threshold)))
        self._credit_again(pages, outcome, table)
        self.links_.sum_again(table.edges)
        self.turn_ = -1
        best = self.best_.highest(table)
        terms, priorities = self._score(self.links_.take(best), table)
        self.scored_ = best, terms
        return self.best_.update(best, priorities, best)

    def _credit_again(self, rows: Rows, outcome: Column, table: Table) -> None:
        """Replace the credit of all groups by that of the given outcomes, including the shares of ancestors."""
        share = outcome
        self.groups_.clear_sums()
        for _ in range(1 + ANCESTORS):
            for begin in range(0, len(rows), PAGES_AT_ONCE):
                some = slice(begin, begin + PAGES_AT_ONCE)
                self.groups_.add_outcomes(self.links_.credited_groups(rows[some]), share[some])
            rows, share = table.parent[rows].astype(np.intp), CREDIT * share
            on_the_way = (rows >= 0) & (share != 0.0)
            rows, share = rows[on_the_way], share[on_the_way]

    def _learn_links(self, step: Step, table: Table) -> None:
        """Update the numbers, edges and words of the rows that a page links to."""
        links, children = self.links_, step.children
        outcome, all_children = links.outcome.item(step.row), linked(step, table)
        # new links of a changed page are credited with its new version
        if step.visit.follows and step.visit.is_version:
            outcome = self.outcomes_.outcome_of(step.visit, table, self.words_)
        numbers = links.numbers.take(children)
        numbers["outcome_sum"] += outcome
        numbers["promise_sum"] += outcome * step.link_relevances
        for name, facet in (("context_relevance", "context"), ("address_relevance", "url")):
            np.maximum(numbers[name], step.facet(facet), out=numbers[name])
        if len(all_children) == len(children):
            links.add_known_neighbours(numbers, children)
        else:  # revisit: only new links are added; the sums of known links already include the page
            of_page = np.zeros(len(all_children), NUMBERS)
            links.add_known_neighbours(of_page, all_children)
            is_new = np.isin(all_children, children)
            for name in ("neighbour_sum", "neighbour_weight", "dead_weight"):
                numbers[name] += of_page[name][is_new]
        np.put(links.numbers, children, numbers)
        new = children[links.edge_count.take(children) == 0].tolist()
        url_of = dict(zip(step.of_link.tolist(), step.visit.links.urls, strict=True))
        links.set_addresses(new, [url_of[row] for row in new])
        links.add_edges(children, len(table.edges) - len(children))
        self._read_words(step, table)

    def _read_words(self, step: Step, table: Table) -> None:
        """Read the anchors, contexts and URLs of links to open rows without anchor words."""
        known, links, of_link = self.links_, step.visit.links, step.of_link
        has_no_anchor = known.groups["anchor"][of_link, 0] == 0
        without = ((of_link >= 0) & has_no_anchor & (table.state[of_link] == OPEN)).nonzero()[0]
        if not len(without):
            return
        order = without.take(of_link.take(without).argsort(kind="stable"))
        rows = of_link.take(order)
        is_first = np.empty(len(rows), bool)
        is_first[0] = True
        np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
        rows, chosen = rows[is_first].astype(np.intp), order[is_first]
        n, read = len(rows), known.take(rows)
        owner, slots = self.words_.read_links(links, chosen, step.visit.language)
        counts = np.bincount(owner, minlength=3 * n)
        begins = np.cumsum(counts) - counts
        if self.meaning_ is not None:
            begin, end = begins.item(n), begins.item(2 * n)  # the texts are contexts, anchors and URLs, in this order
            sums = self.meaning_.sums(slots[begin:end], counts[n : 2 * n], begins[n : 2 * n] - begin)
            read.numbers["anchor_cosine"] = self.meaning_.cosines(sums)
        read.set_words(owner, slots, counts, begins)
        if links.paths:
            host = step.visit.node.partition("://")[2].partition("/")[0]
            places = np.array([self.places_.groups(host, links.paths[at]) for at in chosen.tolist()], np.int32)
            read.groups["path"], read.groups["tags"] = places.T
        known.put(read)

    def _next_turn(self, table: Table) -> NDArray[np.intp]:
        """Choose the row that gets the bonus; return it and the previous one, as both get a new priority.

        A judge that learns may mistake wrong pages for relevant ones, and the crawl would follow them to more of their
        kind. Relevant pages are therefore doubtful while they are few and fewer than one page in six. A row keeps the
        bonus until it is fetched or the next one is chosen, as its host may be paused meanwhile.
        """
        before, self.turn_ = self.turn_, -1
        if self.pages_ > 3:
            relevant = self.relevant_pages_
            is_doubtful = self.probability and 0 < relevant <= 10 and 6 * relevant < self.pages_
            if not relevant and self.pages_ % 2 == 0:
                self.turn_ = self._oldest(table)
            elif is_doubtful and self.pages_ % 4 == 0:
                self.turn_ = self._most_topical(table, before)
            elif before >= 0 and table.state[before] == OPEN and self.is_turn_by_topic_ == is_doubtful:
                self.turn_ = before
            self.is_turn_by_topic_ = relevant > 0
        return np.array([row for row in {before, self.turn_} if row >= 0], np.intp)

    def _oldest(self, table: Table) -> int:
        """Return the row that has been open longest among those not chosen before; -1 if there is none."""
        while self.next_oldest_ < len(table) and table.state[self.next_oldest_] != OPEN:
            self.next_oldest_ += 1
        if self.next_oldest_ == len(table):
            return -1
        self.next_oldest_ += 1  # even if its host is paused and it stays queued for long
        return self.next_oldest_ - 1

    def _most_topical(self, table: Table, before: int) -> int:
        """Return the row with the largest sum of topical terms, reduced by its risk; -1 if there is none.

        The previously chosen row is skipped: it is being fetched, or its host is paused.
        """
        rows = self.best_.candidates(table)
        rows = rows[rows != before]
        if not len(rows):
            return -1
        known = self.links_.numbers
        values = (
            WEIGHTS["anchor"] * table.link_relevance_max[rows]
            + WEIGHTS["context"] * known["context_relevance"][rows]
            + WEIGHTS["address"] * known["address_relevance"][rows]
            + WEIGHTS["anchor meaning"] * known["anchor_cosine"][rows]
        )
        if len(rows) > MAX_RISKED:
            chosen = np.sort(values.argpartition(len(rows) - MAX_RISKED)[len(rows) - MAX_RISKED :])
            rows, values = rows[chosen], values[chosen]
        return int(rows[self._less_risk(values, self.links_.take(rows), table).argmax()])

    def state(self) -> State:
        """Return the learned attributes without the cache of places."""
        given = [name for name in vars(self) if not name.endswith("_")]
        rows, terms = self.scored_
        return {**state_of_attributes(self, "scored_", "places_", *given), "rows": rows, "terms": terms}

    def restore(self, state: State) -> None:
        self.scored_ = state["rows"], state["terms"]
        restore_attributes(self, {name: value for name, value in state.items() if name not in ("rows", "terms")})

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        self._fit(table)
        scored, terms = self.scored_
        stays = ~np.isin(scored, rows)
        self.scored_ = scored[stays], terms[:, stays]
        if self.turn_ in rows:
            self.turn_ = -1
        return self.links_.leave(rows) | self.best_.leave(rows)

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self._fit(table)
        self.links_.join(rows, known, table.edges)
        self.best_.join(rows, known)

    def renew(self, known: Mapping[str, NDArray[Any]], aside: SpilledTable, table: Table) -> Priorities:
        """Return the current priorities of spilled rows, and store them in `known`."""
        self._fit(table)
        self.links_.renew(known, aside.in_degree, table.edges)
        rows = np.arange(len(aside.in_degree))
        links = LinkRows(rows, named(known["numbers"], NUMBERS), named(known["groups"], GROUPS))
        known["priority"][:] = self._score(links, aside)[1]
        priorities: Priorities = known["priority"].astype(np.float64)
        return priorities

    def _fit(self, table: Table) -> None:
        self.links_.fit(len(table))
        self.best_.fit(len(table))
