"""`lycosa train browse`: train browsing models for the HMM strategies and the context graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.store.directory import CONFIG
from lycosa.text.bags import Bags
from lycosa.text.browsing import FORMAT, MAX_STATES, Browsing, distances
from lycosa.training.clusters import KINDS, clusters_of, describe
from lycosa.training.corpus import MAX_TERMS, MIN_PAGES_PER_TERM, Account, Corpus
from lycosa.training.record import BrowsingRecord, BrowsingVisit, read_crawl, read_record
from lycosa.training.sources import PageLoader
from lycosa.training.train_model import check_out

MAX_CLUSTERS = 1000
FEW_RELEVANT_PAGES = 10  # a warning is shown if there are fewer


@dataclass
class BrowsingResult(Account):
    browsing: Browsing
    out: Path
    # for each clustering: pages, relevant pages and words of each cluster
    clusters: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def transitions(self) -> NDArray[np.intp]:
        state, steps, n = self.browsing.state, self.browsing.steps, self.browsing.states
        return np.bincount(state[steps[:, 0]] * n + state[steps[:, 1]], minlength=n * n).reshape(n, n)


def train_browse(
    source: Path,
    out: Path,
    load_pages: PageLoader,
    *,
    unlabelled: str = "path",
    positives_only: bool = False,
    states: int = 4,  # hidden states: relevant, one step away, two steps, farther
    clusters: int = 5,  # K of Batsakis 2007, 3.4.1: four clusters of irrelevant pages, and one of relevant pages
    gap: float = 30.0,
    most: int = 3000,  # limit, since each page of a crawl is compared with all training pages
    language: str = "en",
    labels: Mapping[str, bool] | None = None,  # overrides the labels of the record
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> BrowsingResult:
    """Create a training set from a browsing record and write it to a file.

    1. Read the visits and labels. 2. Compute the distance of each page to a relevant one. 3. Choose the training pages.
    4. Load the text of pages whose words are missing in the record. 5. Cluster the pages. 6. Write the file.

    Treatment of pages by label:

    - relevant: state 0, and a cluster;
    - irrelevant: the state is the distance to a relevant page along the browsing; and a cluster;
    - unlabelled (`unlabelled="path"`): counts for distances and transitions if it leads to a relevant page, without a
      cluster; otherwise dropped. With "no" it counts as irrelevant;
    - with `positives_only`, only relevant pages are clustered; all others form the background, and no page has to be
      labelled as irrelevant.

    Pages without words stay on the paths, without a cluster.

    Paper: Batsakis 2007, 2.5 and 3.4.1. Words are weighted as in strategies/neighbours.py.
    """
    _check(out, unlabelled, states, clusters, gap, most, seed)
    record = _read(source, language, progress)  # step 1
    if labels:
        for visit in record.visits:
            visit.relevant = labels.get(visit.url, visit.relevant)
    trail = trail_of(record, gap)
    _check_labels(trail, source)
    is_relevant = trail.labels == 1
    distance = distances(is_relevant, trail.steps, states)  # step 2
    distance[~_leads_to_relevant(is_relevant, trail.steps)] = states  # no path leads to a relevant page
    role, unlabelled_rows = _roles(trail.labels, unlabelled, positives_only)
    if not (positives_only or (role == 0).any()):
        raise InputError("no-negatives", _no_negatives(source))
    rows = np.flatnonzero(~unlabelled_rows | (distance < states))  # step 3
    if len(rows) < len(role):
        record.left_out["unlabelled, and not leading to a relevant page"] += len(role) - len(rows)
    rows = _choose_rows(rows, trail.labels[rows], distance[rows], most, states, seed, record)
    urls = [trail.urls[row] for row in rows.tolist()]
    relevant, role, unlabelled_rows = is_relevant[rows], role[rows], unlabelled_rows[rows]
    has_words = _load_words(record, urls, unlabelled_rows, load_pages, progress)  # step 4
    _check_words(record, source, has_words, relevant, positives_only or bool((has_words & (role == 0)).any()))
    progress("grouping pages", 0, 0)
    places = np.array([record.row_of[url] for url in np.array(urls, object)[has_words]], np.intp)
    terms = _terms(record.corpus, places, relevant[has_words])
    number = np.full(len(trail.urls), -1, np.intp)
    number[rows] = np.arange(len(rows))
    steps = number[trail.steps]
    browsing = Browsing(
        [record.corpus.vocabulary.terms[term] for term in terms.tolist()],
        _with_empty_bags(record.corpus.bags(places, terms.tolist()), has_words),
        urls,
        relevant,
        np.minimum(distance[rows], states - 1),
        steps[(steps >= 0).all(axis=1)],
        {},
        states,
        record.corpus.vocabulary.language,
        {
            "source": source.name,
            "visits": len(record.visits),
            "paths": trail.step_source,
            "unlabelled": unlabelled,
            "positives_only": positives_only,
            "clusters": clusters,
            "seed": seed,
        },
    )
    for kind in KINDS:  # step 5
        browsing.clusterings[kind] = clusters_of(browsing, kind, has_words & (role >= 0), clusters, seed)
    browsing.save(out)  # step 6
    done = BrowsingResult(browsing, out, left_out=record.left_out, notes=record.notes)
    done.clusters = {kind: describe(browsing, kind) for kind in KINDS}
    record.notes.extend(_remarks(done, trail, distance[rows], has_words, unlabelled_rows))
    return done


@dataclass
class BrowsingTrail:
    """Pages of a browsing record, and the steps between them."""

    urls: list[str]
    labels: NDArray[np.intp]  # 1: relevant, 0: irrelevant, -1: no label
    steps: NDArray[np.intp]  # (n, 2): page i was followed by page j, with repetitions; no self-loops
    step_source: str  # source of the steps: referrers, order, links
    notes: list[str] = field(default_factory=list)


def trail_of(record: BrowsingRecord, gap: float) -> BrowsingTrail:
    """Build the graph of a record.

    The steps are the links if they are known. Otherwise they are the referrers, if any visit has one: a page without a
    referrer starts a path, and unknown referrers are ignored. Without any referrer, consecutive visits are steps (by
    time if all visits have one), and a pause of `gap` minutes starts a new path.

    >>> visits = [BrowsingVisit("a", time=0), BrowsingVisit("b", True, time=60), BrowsingVisit("c", time=9000)]
    >>> record = BrowsingRecord(visits=visits)
    >>> trail = trail_of(record, gap=30)
    >>> trail.urls, trail.labels.tolist(), trail.steps.tolist(), trail.step_source
    (['a', 'b', 'c'], [-1, 1, -1], [[0, 1]], 'order')
    """
    visits = record.visits
    if all(visit.time is not None for visit in visits):
        visits = sorted(visits, key=lambda visit: visit.time or 0.0)
    notes: list[str] = []
    number = {url: place for place, url in enumerate(dict.fromkeys(visit.url for visit in visits))}
    labels = _labels(visits, notes)
    if record.steps is not None:
        step_source, pairs = "links", list(dict.fromkeys(record.steps))
    elif any(visit.referrer for visit in visits):
        step_source, pairs = "referrers", [(visit.referrer, visit.url) for visit in visits if visit.referrer]
        unknown = sum(before not in number for before, _ in pairs)
        if unknown:
            notes.append(f"{unknown:,} visits have a referrer that is not in the record: these visits start a path")
    else:
        step_source, pairs = "order", _in_order(visits, gap * 60)
        notes.append("no visit has a referrer: consecutive visits count as steps")
    steps = [(number[a], number[b]) for a, b in pairs if a != b and a in number and b in number]
    return BrowsingTrail(
        list(number),
        np.array([int(labels[url]) if url in labels else -1 for url in number], np.intp),
        np.array(steps, np.intp).reshape(-1, 2),
        step_source,
        notes,
    )


def _labels(visits: list[BrowsingVisit], notes: list[str]) -> dict[str, bool]:
    labels: dict[str, bool] = {}
    changed: set[str] = set()
    for visit in visits:
        if visit.relevant is not None:
            if labels.get(visit.url, visit.relevant) != visit.relevant:
                changed.add(visit.url)
            labels[visit.url] = visit.relevant
    if changed:
        notes.append(f"{len(changed):,} pages have contradictory labels: the last label is used")
    return labels


def _in_order(visits: list[BrowsingVisit], gap: float) -> list[tuple[str, str]]:
    return [
        (before.url, after.url)
        for before, after in pairwise(visits)
        if before.time is None or after.time is None or abs(after.time - before.time) <= gap
    ]


def _check(out: Path, unlabelled: str, states: int, clusters: int, gap: float, most: int, seed: int) -> None:
    if unlabelled not in ("path", "no"):
        message = f"--unlabelled is {unlabelled}: it must be path (on paths only) or no (irrelevant)"
        raise InputError("bad-value", message)
    if not 2 <= states <= MAX_STATES:
        raise InputError("out-of-range", f"--states is {states}: it must be 2 to {MAX_STATES}")
    if not 2 <= clusters <= MAX_CLUSTERS:
        raise InputError("out-of-range", f"--clusters is {clusters}: it must be 2 to {MAX_CLUSTERS:,}")
    if not gap > 0:
        raise InputError("out-of-range", f"--gap is {gap:g}: it must be more than 0 minutes")
    if most < 2:
        raise InputError("out-of-range", f"--most is {most}: it must be 2 or more")
    if seed < 0:
        raise InputError("out-of-range", f"--random-seed is {seed}: it must be 0 or more")
    check_out(out, FORMAT.mark, f"is not a {FORMAT.noun}")


def _read(source: Path, language: str, progress: ProgressCallback) -> BrowsingRecord:
    if not source.exists():
        raise InputError("missing-file", f"{source} does not exist: give a browsing record, or a crawl")
    if source.is_dir():
        if not (source / CONFIG).is_file():
            raise InputError("not-a-crawl", f"{source} is not a crawl: give a browsing record, or a crawl")
        return read_crawl(source, language, progress)
    progress("reading the record", 0, 0)
    return read_record(source, language)


def _check_words(
    record: BrowsingRecord, source: Path, has_words: NDArray[np.bool_], relevant: NDArray[np.bool_], negatives: bool
) -> None:
    if not (has_words & relevant).any():
        pages = f"{int(relevant.sum()):,} relevant pages of {source} could be read{record.corpus.in_brackets()}"
        advice = "put their text into the record, or give an archive with --pages"
        raise InputError("no-pages", f"none of the {pages}: {advice}")
    if not negatives:
        message = f"{_no_negatives(source)} (the labelled ones could not be read{record.corpus.in_brackets()})"
        raise InputError("no-negatives", message)


def _check_labels(trail: BrowsingTrail, source: Path) -> None:
    if not (trail.labels == 1).any():
        message = f'no page of {source} is labelled as relevant: label some in the record ("relevant": true)'
        raise InputError("no-positives", message)


def _no_negatives(source: Path) -> str:
    return (
        f"no page of {source} is labelled as irrelevant: label some, count unlabelled pages as irrelevant "
        "(--unlabelled no), or learn from relevant pages alone (--positives-only)"
    )


def _leads_to_relevant(relevant: NDArray[np.bool_], steps: NDArray[np.intp]) -> NDArray[np.bool_]:
    before: dict[int, list[int]] = {}
    for page, following in steps.tolist():
        before.setdefault(following, []).append(page)
    leads = relevant.copy()
    left = np.flatnonzero(relevant).tolist()
    while left:
        for page in before.pop(left.pop(), ()):
            if not leads[page]:
                leads[page] = True
                left.append(page)
    return leads


def _roles(
    labels: NDArray[np.intp], unlabelled: str, positives_only: bool
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the role of each page (1: relevant, 0: irrelevant, -1: no cluster), and the pages to use without words."""
    role, unlabelled_rows = labels.copy(), np.zeros(len(labels), np.bool_)
    if positives_only:
        role[labels != 1] = -1
    elif unlabelled == "no":
        role[labels < 0] = 0
    else:
        unlabelled_rows = labels < 0
    return role, unlabelled_rows


def _load_words(
    record: BrowsingRecord,
    urls: list[str],
    unlabelled_rows: NDArray[np.bool_],
    load_pages: PageLoader,
    progress: ProgressCallback,
) -> NDArray[np.bool_]:
    """Get the missing words, unless the record is complete; return true for each page with words."""
    if not record.complete:
        wanted = [url for row, url in enumerate(urls) if not unlabelled_rows[row] and url not in record.row_of]
        for url, page in load_pages(wanted, record.corpus, progress) if wanted else ():
            record.take(url, page)
    return np.array([url in record.row_of for url in urls], np.bool_) & ~unlabelled_rows


def _choose_rows(
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
    distance: NDArray[np.intp],
    most: int,
    states: int,
    seed: int,
    record: BrowsingRecord,
) -> NDArray[np.intp]:
    """Choose at most `most` rows: relevant ones for half of them, then labelled, then near ones; ties are random."""
    if len(rows) <= most:
        return rows
    order = np.random.default_rng([seed, 3]).permutation(len(rows))
    first = order[labels[order] == 1][: max(1, most // 2)]
    rank = np.where(labels == 0, 0, np.where(distance < states, 1, 2))
    rank[labels == 1] = 3  # relevant pages beyond the first half
    rank[first] = -1
    chosen = order[np.argsort(rank[order], kind="stable")][:most]
    record.left_out[f"beyond the {most:,} training pages of --most"] += len(rows) - most
    return rows[np.sort(chosen)]


def _terms(corpus: Corpus, rows: NDArray[np.intp], relevant: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the terms of relevant pages and those on several pages, the most frequent first up to the limit."""
    frequency, wanted = (np.zeros(len(corpus.vocabulary.terms), np.intp) for _ in range(2))
    for row, relevant_count in zip(rows.tolist(), relevant.tolist(), strict=True):
        frequency[corpus.pages[row].terms.ids] += 1
        wanted[corpus.pages[row].terms.ids] += relevant_count
    # if there are few pages, even words of a single page count
    min_pages = MIN_PAGES_PER_TERM if len(rows) >= 100 else 1
    terms = np.flatnonzero((frequency >= min_pages) | (wanted > 0))
    order = np.lexsort((-frequency[terms], wanted[terms] == 0))
    return np.sort(terms[order[:MAX_TERMS]])


def _with_empty_bags(bags: Bags, has_words: NDArray[np.bool_]) -> Bags:
    lengths = np.zeros(len(has_words), np.intp)
    lengths[has_words] = np.diff(bags.starts)
    return Bags(np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp), bags.columns, bags.counts)


def _remarks(
    done: BrowsingResult,
    trail: BrowsingTrail,
    distance: NDArray[np.intp],
    has_words: NDArray[np.bool_],
    unlabelled_rows: NDArray[np.bool_],
) -> list[str]:
    browsing, notes = done.browsing, []
    relevant_count = int(browsing.relevant.sum())
    if relevant_count == 1:
        notes.append("only one relevant page: similar pages count as relevant, and little is learned about paths")
    elif relevant_count < FEW_RELEVANT_PAGES:
        notes.append(f"only {relevant_count} relevant pages: {FEW_RELEVANT_PAGES} or more are better")
    if unlabelled_rows.any():
        on_paths = f"{int(unlabelled_rows.sum()):,} unlabelled pages are on paths, but in no cluster"
        notes.append(f"{on_paths}: --unlabelled no counts them as irrelevant")
    missing = int((~has_words & ~unlabelled_rows).sum())
    if missing:
        notes.append(f"{missing:,} pages without words are on paths only")
    others = distance[~browsing.relevant]
    if not (others < browsing.states).any():
        notes.append(
            "no page leads to a relevant one, so nothing is learned about paths: use 'hybrid' instead of 'hmm', or "
            "record referrers and the pages in between"
        )
    elif (others == browsing.states).any():
        lost = int((others == browsing.states).sum())
        notes.append(f"{lost:,} pages lead to no relevant page and get the last state")
    if browsing.clusters("xmeans") < 2:
        notes.append("X-Means finds only one cluster: use 'hmm' instead of 'hmm-xmeans'")
    return [*trail.notes, *notes]
