"""Training of strategies before a crawl, on pages of the corpus with the production trainers. Nothing is fetched.

The training pages are drawn at random: for model and rules a quarter of the relevant pages and a quarter of all others,
which preserves their proportion; for browsing four in ten of the relevant pages, including that quarter, and all
others. The remaining relevant pages are never read. Every page read in training is marked `seen`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Links, Page
from lycosa.judges.model import TrainedModel
from lycosa.judges.taxonomy import MIN_CLASS_PAGES, choose_classes
from lycosa.text.bags import Bags
from lycosa.text.model_words import ModelWords
from lycosa.training.browse import train_browse
from lycosa.training.corpus import Account
from lycosa.training.rules import train_rules
from lycosa.training.simulated_browsing import sessions
from lycosa.training.sources import table_rows
from lycosa.training.train_model import TrainingResult, train
from lycosa_lab.cache import corpus_digest, digest
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.subjects import HuntSubject, labelled, seeded_random

TRAINING_SHARE = 0.25  # share of the pages used to train a model and rules
BROWSING_SHARE = 0.4  # share of the relevant pages that browsing sessions may visit
SAMPLE_SHARE, MAX_SAMPLE = 0.2, 4000  # share of the labelled pages used to train a model, and their maximum number
SESSIONS = 60  # number of browsing sessions


def prepare(
    index: CorpusIndex,
    subject: HuntSubject,
    needs: Collection[str],
    out: Path,
    random_seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> HuntSubject:
    """Return the subject with the training data it needs, cached under `out`; reasons of failures are in `lacking`.

    A model separates the subject from the other classes; small ones among these are merged into their parents. Rules
    are learned from the same pages and their links. Browsing is simulated: a session starts at a random page off the
    subject and follows links until it finds relevant pages.
    """
    wanted = {*needs, *(("model",) if "rules" in needs else ())}
    done = replace(subject, notes=list(subject.notes), seen=~subject.unseen, lacking={})
    work = _Work(index, done, random_seed, progress)
    for need, make in (("model", _model), ("rules", _rules), ("browsing", _browsing)):
        if need in wanted and getattr(done, need) is None:
            try:
                if not index.has_text:
                    raise InputError("no-text", f"the corpus has no text to train {' and '.join(sorted(wanted))} on")
                path, read_nodes = _cached(out, work, need, make)
            except InputError as error:
                done.lacking[need] = str(error)
                continue
            setattr(done, need, path / need)
            done.seen[read_nodes] = True
            if need == "model":
                done.targets = (subject.name,)
    return done


@dataclass
class _Work:
    index: CorpusIndex
    subject: HuntSubject
    random_seed: int
    progress: ProgressCallback

    def seeded_random(self, purpose: str) -> np.random.Generator:
        return seeded_random(self.random_seed, purpose, self.subject.name)

    def open(self) -> NDArray[np.bool_]:
        """Mask of the nodes used to train a model and rules: a share of the relevant ones and of the others."""
        relevant = self.subject.truth > 0
        return self._first(relevant, TRAINING_SHARE) | self._first(~relevant, TRAINING_SHARE)

    def browsed(self) -> NDArray[np.bool_]:
        """Mask of the nodes that browsing may visit: a larger share of the relevant ones, and all others."""
        relevant = self.subject.truth > 0
        return self._first(relevant, BROWSING_SHARE) | self._first(~relevant, 1.0)

    def _first(self, part: NDArray[np.bool_], share: float) -> NDArray[np.bool_]:
        """Return a mask of a share of the nodes: example pages first, then random ones."""
        subject = self.subject
        rank = self.seeded_random("open").permutation(len(self.index))
        rank[list(subject.examples)] = -len(rank) - 1
        nodes = np.flatnonzero(part)
        nodes = nodes[np.argsort(rank[nodes], kind="stable")]
        allowed = np.zeros(len(self.index), np.bool_)
        allowed[nodes[: max(int(share * len(nodes)), int(part[list(subject.examples)].sum()))]] = True
        return allowed


def _cached(out: Path, work: _Work, need: str, make: Callable[[_Work, Path], set[int]]) -> tuple[Path, list[int]]:
    """Return the path of training data, created atomically or reused, and the pages read for it."""
    subject = work.subject
    known = [subject.name, subject.examples, need, work.random_seed, subject.truth]
    path = Path(out) / "prepared" / f"{need}-{digest(corpus_digest(work.index), *known)}"
    if not (path / "looked.json").is_file():
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            read_nodes = make(work, unfinished)
            (unfinished / "looked.json").write_text(json.dumps(sorted(read_nodes)), encoding="utf-8")
            with suppress(OSError):  # another process was faster
                unfinished.rename(path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return path, json.loads((path / "looked.json").read_text(encoding="utf-8"))


def address(node: int) -> str:
    """Return the URL of a node in tables and records, as names of a corpus need not be URLs."""
    return f"http://corpus.invalid/{node}"


def node_of(url: str) -> int:
    number = url.removeprefix("http://corpus.invalid/")
    return int(number) if number.isdecimal() else -1


@dataclass
class TrackedPages:
    index: CorpusIndex
    allowed: NDArray[np.bool_]
    read_nodes: set[int] = field(default_factory=set)

    def __call__(self, urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        for number, url in enumerate(urls, 1):
            progress("reading pages", number, len(urls))
            node = node_of(url)
            if not 0 <= node < len(self.index) or not self.allowed[node]:
                account.left_out["not to be looked at"] += 1
                continue
            self.read_nodes.add(node)
            yield url, self.page(node)

    def page(self, node: int) -> Page:
        page = self.index.page(node)
        links = [address(child) for child in self.index.children(node).tolist()]
        return replace(page, links=Links.to(*links))


def table_of(labels: Mapping[int, str], path: Path) -> Path:
    path.write_text("".join(f"{address(node)}\t{label}\n" for node, label in labels.items()), encoding="utf-8")
    return path


def trained_on(
    index: CorpusIndex,
    table: Path,
    out: Path,
    random_seed: int,
    kind: str = "nb",
    progress: ProgressCallback = no_progress,
) -> TrainingResult:
    pages = TrackedPages(index, np.ones(len(index), np.bool_))
    return train(
        [str(table)],
        out,
        pages,
        kind=kind,
        least=MIN_CLASS_PAGES,
        whole_tree=True,
        held_out=0.0,
        seed=random_seed,
        progress=progress,
    )


def classified(index: CorpusIndex, model: TrainedModel, name: str, nodes: NDArray[np.bool_]) -> NDArray[np.float64]:
    words, probabilities = ModelWords(model.column_of), np.zeros(len(index))
    words.follow(index.stems)
    wanted = model.classes.index(name)
    for node in np.flatnonzero(nodes).tolist():
        columns, counts, _ = words.of(index.terms(node))
        if len(columns):
            order = np.argsort(columns, kind="stable")
            probabilities[node] = model.classifier.probabilities(Bags.of([(columns[order], counts[order])]))[0][wanted]
    return probabilities


def _model(work: _Work, folder: Path) -> set[int]:
    labels = _sampled(work)
    table = table_of(labels, folder / "labels.tsv")
    trained = trained_on(work.index, table, folder / "model", work.random_seed, progress=work.progress)
    if work.subject.name not in trained.model.classes:
        few = f"{work.subject.name!r} has fewer than {MIN_CLASS_PAGES} training pages: choose a larger subject"
        raise InputError("too-few-pages", few)
    return set(labels)


def _sampled(work: _Work) -> dict[int, str]:
    index, subject = work.index, work.subject
    label_of = _class_of_each(work)
    share = min(SAMPLE_SHARE, MAX_SAMPLE / max(1, len(label_of)))
    sizes = Counter(label_of.values())
    allowed = work.open()
    rank = work.seeded_random("sample").permutation(len(index))
    rank[list(subject.examples)] = -1
    taken: Counter[str] = Counter()
    chosen: dict[int, str] = {}
    for node in sorted(label_of, key=lambda node: int(rank[node])):
        label = label_of[node]
        if allowed[node] and taken[label] < max(2 * MIN_CLASS_PAGES, share * sizes[label]):
            taken[label] += 1
            chosen[node] = label
    _merge(chosen, subject.name)
    return {node: chosen[node] for node in sorted(chosen)}


def _class_of_each(work: _Work) -> dict[int, str]:
    """Return one class per labelled page: the subject if it belongs to it, else its first class."""
    index, name = work.index, work.subject.name
    member, start = index.of_class(name), index.class_start
    classes = {
        int(node): name if member[node] else index.classes[index.class_of[start[node]]]
        for node in np.flatnonzero(labelled(index))
    }
    # no other class is labelled, so unlabelled pages are the negatives
    if all(label == name for label in classes.values()):
        classes |= {int(node): "no class" for node in np.flatnonzero(~labelled(index))}
    return classes


def _merge(chosen: dict[int, str], subject: str) -> None:
    """Merge small classes except the subject into their parents, as `lycosa train` does."""
    counts = Counter(label for label in chosen.values() if label != subject)
    if len(counts) < 2:
        return
    try:
        new = choose_classes(counts, whole_tree=True).of
    except InputError:  # all classes would be merged into one
        return
    for node, label in list(chosen.items()):
        if label != subject and label in new:
            chosen[node] = new[label]
        elif label != subject:
            del chosen[node]


def _rules(work: _Work, folder: Path) -> set[int]:
    model = work.subject.model
    if model is None:
        raise InputError("lacking", work.subject.lacking["model"])
    labels = {node_of(url): label for url, label in table_rows(model.with_name("labels.tsv"))}
    pages = TrackedPages(work.index, work.open())
    table = table_of(labels, folder / "labels.tsv")
    learned = train_rules(str(table), TrainedModel.load(model), pages, seed=work.random_seed, progress=work.progress)
    learned.book.save(folder / "rules")
    return pages.read_nodes | set(labels)


def _browsing(work: _Work, folder: Path) -> set[int]:
    index, subject = work.index, work.subject
    relevant = subject.truth > 0
    allowed = work.browsed()
    starts = np.flatnonzero(~relevant & allowed & (np.diff(index.child_start) > 0))
    order = work.seeded_random("browsing").permutation(starts)

    def links(url: str) -> list[str]:
        children = index.children(node_of(url))
        return [address(child) for child in children[allowed[children]].tolist()]

    walked = sessions(
        links, lambda url: bool(relevant[node_of(url)]), map(address, order.tolist()), random_seed=work.random_seed
    )
    lines: list[str] = []
    done = 0
    for done, walk in enumerate(islice(walked, SESSIONS), 1):
        for view in walk:
            relevance = bool(relevant[node_of(view.url)])
            lines.append(json.dumps({"url": view.url, "referrer": view.referrer, "relevant": relevance}))
        work.progress("browsing", done, SESSIONS)
    if not done:
        raise InputError("unreachable", f"no short path leads to pages of {subject.name!r}: choose a larger subject")
    record = folder / "record.jsonl"
    record.write_text("\n".join(lines) + "\n", encoding="utf-8")
    pages = TrackedPages(index, allowed)
    train_browse(record, folder / "browsing", pages, seed=work.random_seed, progress=work.progress)
    visited = {node_of(json.loads(line)["url"]) for line in lines}
    return visited | pages.read_nodes
