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
from lycosa.training.clusters import KINDS, clusters_of, described
from lycosa.training.corpus import COMMON, MOST_TERMS, Account, Corpus
from lycosa.training.record import CrawlRecord, Visited, read_crawl, read_record
from lycosa.training.sources import Look
from lycosa.training.train_model import check_out

MOST_CLUSTERS = 1000
FEW = 10  # fewer relevant pages get a warning


@dataclass
class Browsed(Account):
    browsing: Browsing
    out: Path
    # of each clustering: pages, relevant pages and words per cluster
    clusters: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def transitions(self) -> NDArray[np.intp]:
        state, steps, n = self.browsing.state, self.browsing.steps, self.browsing.states
        return np.bincount(state[steps[:, 0]] * n + state[steps[:, 1]], minlength=n * n).reshape(n, n)


def train_browse(
    source: Path,
    out: Path,
    look: Look,
    *,
    unlabelled: str = "path",
    positives_only: bool = False,
    states: int = 4,  # hidden states: relevant, one step away, two, farther
    clusters: int = 5,  # K of Batsakis 2007, 3.4.1: four clusters of irrelevant pages, and one of the relevant ones
    gap: float = 30.0,
    most: int = 3000,  # each page of a crawl is compared with all training pages
    language: str = "en",
    labels: Mapping[str, bool] | None = None,  # override the labels of the record
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> Browsed:
    """Make a training set from a browsing record and write it to a file.

    1. Read the visits and labels. 2. Compute the distance of each page to a relevant one. 3. Choose the training pages. 4. Get
    the text of pages that the record has no words of. 5. Cluster the pages. 6. Write the file.

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
    record = _read(source, language, progress)  # 1
    if labels:
        for visit in record.visits:
            visit.relevant = labels.get(visit.url, visit.relevant)
    trail = trail_of(record, gap)
    _check_labels(trail, source)
    is_relevant = trail.said == 1
    distance = distances(is_relevant, trail.steps, states)  # 2
    distance[~_leading(is_relevant, trail.steps)] = states  # no path leads to a relevant page
    role, wordless = _roles(trail.said, unlabelled, positives_only)
    if not (positives_only or (role == 0).any()):
        raise InputError(_no_negatives(source))
    rows = np.flatnonzero(~wordless | (distance < states))  # 3
    if len(rows) < len(role):
        record.left_out["unlabelled, and lead to no relevant page"] += len(role) - len(rows)
    rows = _some(rows, trail.said[rows], distance[rows], most, states, seed, record)
    urls = [trail.urls[row] for row in rows.tolist()]
    relevant, role, wordless = is_relevant[rows], role[rows], wordless[rows]
    worded = _worded(record, urls, wordless, look, progress)  # 4
    _check_words(record, source, worded, relevant, positives_only or bool((worded & (role == 0)).any()))
    progress("grouping pages", 0, 0)
    places = np.array([record.row_of[url] for url in np.array(urls, object)[worded]], np.intp)
    terms = _terms(record.corpus, places, relevant[worded])
    number = np.full(len(trail.urls), -1, np.intp)
    number[rows] = np.arange(len(rows))
    steps = number[trail.steps]
    browsing = Browsing(
        [record.corpus.vocabulary.terms[term] for term in terms.tolist()],
        _spread(record.corpus.bags(places, terms.tolist()), worded),
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
            "paths": trail.how,
            "unlabelled": unlabelled,
            "positives_only": positives_only,
            "clusters": clusters,
            "seed": seed,
        },
    )
    for kind in KINDS:  # 5
        browsing.clusterings[kind] = clusters_of(browsing, kind, worded & (role >= 0), clusters, seed)
    browsing.save(out)  # 6
    done = Browsed(browsing, out, left_out=record.left_out, notes=record.notes)
    done.clusters = {kind: described(browsing, kind) for kind in KINDS}
    record.notes.extend(_remarks(done, trail, distance[rows], worded, wordless))
    return done


@dataclass
class BrowsingTrail:
    """The pages of a record and the steps between them."""

    urls: list[str]
    said: NDArray[np.intp]  # 1: relevant, 0: irrelevant, -1: no label
    steps: NDArray[np.intp]  # (n, 2): page i was followed by page j, with repetitions; no self-loops
    how: str  # source of the steps: referrers, order, links
    notes: list[str] = field(default_factory=list)


def trail_of(record: CrawlRecord, gap: float) -> BrowsingTrail:
    """Build the graph of a record.

    The steps are the links if they are known. Otherwise they are the referrers, if any visit has one: a page without a
    referrer starts a path, and unknown referrers are ignored. Without any referrer, consecutive visits are steps (by
    time if all visits have one), and a pause of `gap` minutes starts a new path.

    >>> record = CrawlRecord(visits=[Visited("a", time=0), Visited("b", True, time=60), Visited("c", time=9000)])
    >>> trail = trail_of(record, gap=30)
    >>> trail.urls, trail.said.tolist(), trail.steps.tolist(), trail.how
    (['a', 'b', 'c'], [-1, 1, -1], [[0, 1]], 'order')
    """
    visits = record.visits
    if all(visit.time is not None for visit in visits):
        visits = sorted(visits, key=lambda visit: visit.time or 0.0)
    notes: list[str] = []
    number = {url: place for place, url in enumerate(dict.fromkeys(visit.url for visit in visits))}
    labels = _labels(visits, notes)
    if record.steps is not None:
        how, pairs = "links", list(dict.fromkeys(record.steps))
    elif any(visit.referrer for visit in visits):
        how, pairs = "referrers", [(visit.referrer, visit.url) for visit in visits if visit.referrer]
        strange = sum(before not in number for before, _ in pairs)
        if strange:
            notes.append(f"{strange:,} visits came from pages that are not in the record: they start a path")
    else:
        how, pairs = "order", _in_order(visits, gap * 60)
        notes.append("no visit has a referrer: each page is taken to have led to the next")
    steps = [(number[a], number[b]) for a, b in pairs if a != b and a in number and b in number]
    return BrowsingTrail(
        list(number),
        np.array([int(labels[url]) if url in labels else -1 for url in number], np.intp),
        np.array(steps, np.intp).reshape(-1, 2),
        how,
        notes,
    )


def _labels(visits: list[Visited], notes: list[str]) -> dict[str, bool]:
    labels: dict[str, bool] = {}
    changed: set[str] = set()
    for visit in visits:
        if visit.relevant is not None:
            if labels.get(visit.url, visit.relevant) != visit.relevant:
                changed.add(visit.url)
            labels[visit.url] = visit.relevant
    if changed:
        notes.append(f"{len(changed):,} pages have both labels: the last one counts")
    return labels


def _in_order(visits: list[Visited], gap: float) -> list[tuple[str, str]]:
    return [
        (before.url, after.url)
        for before, after in pairwise(visits)
        if before.time is None or after.time is None or abs(after.time - before.time) <= gap
    ]


def _check(out: Path, unlabelled: str, states: int, clusters: int, gap: float, most: int, seed: int) -> None:
    if unlabelled not in ("path", "no"):
        raise InputError(f"--unlabelled is {unlabelled}: it is path (they are on paths only) or no (irrelevant)")
    if not 2 <= states <= MAX_STATES:
        raise InputError(f"--states is {states}: it must be 2 to {MAX_STATES}")
    if not 2 <= clusters <= MOST_CLUSTERS:
        raise InputError(f"--clusters is {clusters}: it must be 2 to {MOST_CLUSTERS:,}")
    if not gap > 0:
        raise InputError(f"--gap is {gap:g}: it must be more than 0 minutes")
    if most < 2:
        raise InputError(f"--most is {most}: it must be 2 or more")
    if seed < 0:
        raise InputError(f"--random-seed is {seed}: it must be 0 or more")
    check_out(out, FORMAT.mark, f"is not a {FORMAT.noun}")


def _read(source: Path, language: str, progress: ProgressCallback) -> CrawlRecord:
    if not source.exists():
        raise InputError(f"there is no file or directory {source}: name a browsing record, or a crawl")
    if source.is_dir():
        if not (source / CONFIG).is_file():
            raise InputError(f"{source} is not a crawl: name a browsing record, or a crawl")
        return read_crawl(source, language, progress)
    progress("reading the record", 0, 0)
    return read_record(source, language)


def _check_words(
    record: CrawlRecord, source: Path, worded: NDArray[np.bool_], relevant: NDArray[np.bool_], negatives: bool
) -> None:
    if not (worded & relevant).any():
        raise InputError(
            f"none of the {int(relevant.sum()):,} relevant pages of {source} could be read"
            f"{record.corpus.in_brackets()}. Give their text in the record, or an archive with --pages"
        )
    if not negatives:
        raise InputError(f"{_no_negatives(source)} (those that are could not be read{record.corpus.in_brackets()})")


def _check_labels(trail: BrowsingTrail, source: Path) -> None:
    if not (trail.said == 1).any():
        raise InputError(f'no page of {source} is labelled as relevant: say in the record which are ("relevant": true)')


def _no_negatives(source: Path) -> str:
    return (
        f"no page of {source} is labelled as irrelevant: label some, take those without a label for irrelevant "
        "(--unlabelled no), or learn from the relevant ones alone (--positives-only)"
    )


def _leading(relevant: NDArray[np.bool_], steps: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return true for each page from which a relevant page can be reached."""
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


def _roles(said: NDArray[np.intp], unlabelled: str, positives_only: bool) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the role of each page (1: relevant, 0: irrelevant, -1: no cluster), and the pages to use without words."""
    role, wordless = said.copy(), np.zeros(len(said), np.bool_)
    if positives_only:
        role[said != 1] = -1
    elif unlabelled == "no":
        role[said < 0] = 0
    else:
        wordless = said < 0
    return role, wordless


def _worded(
    record: CrawlRecord, urls: list[str], wordless: NDArray[np.bool_], look: Look, progress: ProgressCallback
) -> NDArray[np.bool_]:
    """Get the missing words, unless the record is complete; return true for each page with words."""
    if not record.complete:
        wanted = [url for row, url in enumerate(urls) if not wordless[row] and url not in record.row_of]
        for url, page in look(wanted, record.corpus, progress) if wanted else ():
            record.take(url, page)
    return np.array([url in record.row_of for url in urls], np.bool_) & ~wordless


def _some(
    rows: NDArray[np.intp],
    said: NDArray[np.intp],
    distance: NDArray[np.intp],
    most: int,
    states: int,
    seed: int,
    record: CrawlRecord,
) -> NDArray[np.intp]:
    """Choose at most `most` rows: relevant ones for half of them, then labelled ones, then near ones; ties are random."""
    if len(rows) <= most:
        return rows
    order = np.random.default_rng([seed, 3]).permutation(len(rows))
    first = order[said[order] == 1][: max(1, most // 2)]
    rank = np.where(said == 0, 0, np.where(distance < states, 1, 2))
    rank[said == 1] = 3  # relevant pages beyond the first half
    rank[first] = -1
    chosen = order[np.argsort(rank[order], kind="stable")][:most]
    record.left_out[f"beyond the {most:,} training pages that --most allows"] += len(rows) - most
    return rows[np.sort(chosen)]


def _terms(corpus: Corpus, rows: NDArray[np.intp], relevant: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the terms of relevant pages and those on several pages, the most frequent first up to the limit."""
    frequency, wanted = (np.zeros(len(corpus.vocabulary.terms), np.intp) for _ in range(2))
    for row, good in zip(rows.tolist(), relevant.tolist(), strict=True):
        frequency[corpus.pages[row].terms.ids] += 1
        wanted[corpus.pages[row].terms.ids] += good
    least = COMMON if len(rows) >= 100 else 1  # with few pages, even words of a single page count
    terms = np.flatnonzero((frequency >= least) | (wanted > 0))
    order = np.lexsort((-frequency[terms], wanted[terms] == 0))
    return np.sort(terms[order[:MOST_TERMS]])


def _spread(bags: Bags, worded: NDArray[np.bool_]) -> Bags:
    """Add an empty bag for each page without words."""
    lengths = np.zeros(len(worded), np.intp)
    lengths[worded] = np.diff(bags.starts)
    return Bags(np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp), bags.columns, bags.counts)


def _remarks(
    done: Browsed,
    trail: BrowsingTrail,
    distance: NDArray[np.intp],
    worded: NDArray[np.bool_],
    wordless: NDArray[np.bool_],
) -> list[str]:
    browsing, notes = done.browsing, []
    good = int(browsing.relevant.sum())
    if good == 1:
        notes.append("one relevant page only: what is like it is taken for relevant, and little is learned of paths")
    elif good < FEW:
        notes.append(f"{good} relevant pages only: {FEW} or more make better clusters and paths")
    if wordless.any():
        notes.append(
            f"{int(wordless.sum()):,} unlabelled pages count on paths, but are in no cluster: --unlabelled no takes "
            "them for irrelevant"
        )
    missing = int((~worded & ~wordless).sum())
    if missing:
        notes.append(f"{missing:,} pages without words stay on the paths only")
    others = distance[~browsing.relevant]
    if not (others < browsing.states).any():
        notes.append(
            "no page leads to a relevant one: nothing is learned of paths, and 'hybrid' will do better than 'hmm'. "
            "Record referrers, or the pages on the way"
        )
    elif (others == browsing.states).any():
        lost = int((others == browsing.states).sum())
        notes.append(f"{lost:,} pages lead to no relevant page: they are in the last state")
    if browsing.clusters("xmeans") < 2:
        notes.append("X-Means sees one cluster only: 'hmm-xmeans' can't tell these pages apart, use 'hmm'")
    return [*trail.notes, *notes]
