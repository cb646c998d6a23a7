"""`lycosa train rules`: learn rules between classes from labelled pages and their links."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.types import Page, Terms, Visit
from lycosa.judges.model import TrainedModel
from lycosa.store.directory import CONFIG
from lycosa.strategies.rulebook import RuleBook
from lycosa.text.bags import Bags
from lycosa.text.model_words import ModelWords
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Account
from lycosa.training.sources import PageLoader, Rows, read_events, read_table, redirect_target

WALKS = 50  # simultaneous walks; their next pages are fetched together


@dataclass
class LearnedRules(Account):
    book: RuleBook
    parents: int = 0  # pages with a class that link to others (train-0)
    linked: int = 0  # linked pages that could be classified (train-1)


ClassifiedPage: TypeAlias = tuple[str, list[str]]  # class of a page, and its links
Classify: TypeAlias = "Callable[[Sequence[str], LearnedRules], dict[str, ClassifiedPage]]"


class RuleReader:
    def __init__(self, model: TrainedModel) -> None:
        self.model = model
        self.words = Vocabulary(str(model.facts.get("language", "en")))
        self.columns = ModelWords(model.column_of)

    def of_page(self, page: Page) -> str:
        return self.of_terms(self.words.read(page).terms, self.words.terms)

    def of_terms(self, terms: Terms, stems: Sequence[str]) -> str:
        """Return the class of a bag of words with ids into `stems`, which must be the same list in all calls."""
        self.columns.follow(stems)
        columns, counts, _ = self.columns.of(terms)
        if not len(columns):
            return ""
        order = np.argsort(columns)
        bag = Bags.of([(columns[order], counts[order])])
        return self.model.classes[int(self.model.classifier.probabilities(bag)[0].argmax())]

    def class_named(self, label: str) -> str:
        """Return the model's class for a taxonomy path: the path itself, or the ancestor that it was merged into."""
        spelled = {name.casefold(): name for name in self.model.classes}
        parts = label.split("/")
        for length in range(len(parts), 0, -1):
            name = spelled.get("/".join(parts[:length]).casefold())
            if name is not None:
                return name
        return ""


def train_rules(
    source: str,
    model: TrainedModel,
    load_pages: PageLoader,
    *,
    column: str = "",
    most: int = 150,  # linked pages fetched per class; the paper had about as many
    walk: int = 0,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> LearnedRules:
    """Learn rules from a table of URLs and classes, or from a crawl whose pages the model classifies.

    Paper: Altingovde, Ulusoy 2004, figure 2. (a) The model has learned the taxonomy from train-0. (b) The pages that
    those of train-0 link to are train-1, a set for each class; `most` of each are sampled (0: all). (c) The model
    classifies them; the share of each class among them is the probability of a rule.

    With `walk` the rules are the topic-citation matrix, their future work (after Chakrabarti et al. 2002): random walks
    choose the linking and the linked pages. `walk` links are followed; the model classifies both ends of each, and a
    row of the matrix has the shares of the classes that pages of a class link to.
    """
    path = Path(source)
    if not path.exists():
        raise InputError("missing-file", f"{source} does not exist: give a table of URLs and classes, or a crawl")
    if path.is_dir():
        if not (path / CONFIG).is_file():
            raise InputError("not-a-crawl", f"{source} is not a crawl: give a crawl, or a table of URLs and classes")
        learned = _from_crawl(path, model, walk, seed, progress)
    else:
        account = Account()
        rows = read_table(path, account, column)
        if walk:
            classify = partial(_classify_loaded, RuleReader(model), load_pages, progress)
            learned = _from_walks([url for url, _ in rows], classify, walk, seed)
        else:
            learned = _from_pages(rows, RuleReader(model), load_pages, most, seed, progress)
        learned.left_out.update(account.left_out)
        learned.notes += account.notes
    if not len(learned.book):
        raise InputError("no-pages", f"no rule could be learned from {source}: {_no_rules_reason(learned)}")
    return learned


def _no_rules_reason(learned: LearnedRules) -> str:
    left = learned.why()
    if not learned.parents:
        return f"no page has both links and a class of the model ({left or 'no pages'})"
    return f"no page that its {learned.parents:,} pages link to could be read ({left or 'no links'})"


def _from_pages(
    rows: Rows, reader: RuleReader, load_pages: PageLoader, limit: int, seed: int, progress: ProgressCallback
) -> LearnedRules:
    learned = LearnedRules(RuleBook())
    class_of = {url: reader.class_named(label) for url, label in rows}
    unknown = sum(not name for name in class_of.values())
    if unknown:
        learned.left_out["in classes that the model does not have"] += unknown
    linked: dict[str, dict[str, None]] = {}
    class_of_linked: dict[str, str] = {}
    for url, page in load_pages([url for url, name in class_of.items() if name], learned, progress):
        targets = [target for target in page.links.urls if target != url]
        learned.parents += bool(targets)
        linked.setdefault(class_of[url], {}).update(dict.fromkeys(targets))
        class_of_linked[url] = reader.of_page(page)
    drawn = {name: _sample(targets, limit, f"{seed} {name}") for name, targets in linked.items()}
    wanted = dict.fromkeys(target for targets in drawn.values() for target in targets if target not in class_of_linked)
    train_1 = LearnedRules(learned.book)  # collects failures, which _count counts by class
    class_of_linked.update((url, reader.of_page(page)) for url, page in load_pages(list(wanted), train_1, progress))
    _count(learned, drawn, class_of_linked)
    return learned


def _sample(targets: Iterable[str], limit: int, generator: str) -> list[str]:
    every = list(targets)
    if not limit or len(every) <= limit:
        return every
    chosen = set(random.Random(generator).sample(range(len(every)), limit))
    return [target for number, target in enumerate(every) if number in chosen]


def _from_crawl(path: Path, model: TrainedModel, walk: int, seed: int, progress: ProgressCallback) -> LearnedRules:
    """Learn from the pages of a crawl log whose linked pages are in the log, too."""
    learned, reader = LearnedRules(RuleBook()), RuleReader(model)
    stems: list[str] = []
    classes: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    redirects: dict[str, str] = {}
    for event in read_events(path, stems, progress):
        match event:
            case Visit(kind="redirect") if event.links.urls:
                redirects[event.node] = event.links.urls[0]
            case Visit(is_page=True):
                classes[event.node] = reader.of_terms(event.terms, stems)
                links[event.node] = event.links.urls
    if walk:

        def classify(urls: Sequence[str], _: LearnedRules) -> dict[str, ClassifiedPage]:
            return {
                url: (classes[url], [redirect_target(target, redirects) for target in links[url]])
                for url in urls
                if url in links
            }

        return _from_walks(list(links), classify, walk, seed)
    linked: dict[str, dict[str, None]] = {}
    for node, targets in links.items():
        ends = [end for target in targets if (end := redirect_target(target, redirects)) != node]
        if classes[node] and ends:
            learned.parents += 1
            linked.setdefault(classes[node], {}).update(dict.fromkeys(ends))
    _count(learned, linked, classes)
    return learned


def _count(learned: LearnedRules, linked: Mapping[str, Iterable[str]], classes: Mapping[str, str]) -> None:
    seen: set[str] = set()
    for name, targets in linked.items():
        for target in targets:
            if target not in classes:
                learned.left_out["linked pages that are not available"] += 1
            elif not classes[target]:
                learned.left_out["linked pages without known words"] += 1
            else:
                learned.book.add(name, classes[target])
                seen.add(target)
    learned.linked = len(seen)


def _classify_loaded(
    reader: RuleReader, load_pages: PageLoader, progress: ProgressCallback, urls: Sequence[str], learned: LearnedRules
) -> dict[str, ClassifiedPage]:
    return {url: (reader.of_page(page), page.links.urls) for url, page in load_pages(urls, learned, progress)}


def _from_walks(starts: Sequence[str], classify: Classify, walk: int, seed: int) -> LearnedRules:
    """Learn from random walks: each followed link is a case of a rule from the class of its page to that of the next.

    Walks restart at random, and after pages that are unavailable or have no links. All end when `walk` links have been
    followed, or when most steps have failed.
    """
    learned, generator = LearnedRules(RuleBook()), random.Random(seed)
    seen: dict[str, ClassifiedPage] = {}
    sources: set[str] = set()
    ends: set[str] = set()
    walkers = [(generator.choice(starts), "") for _ in range(min(WALKS, walk))]
    followed = steps = 0
    while followed < walk and steps < 10 * (walk + WALKS):  # limit of steps per followed link
        wanted = list(dict.fromkeys(url for url, _ in walkers if url not in seen))
        seen.update(dict.fromkeys(wanted, ("", [])))
        seen.update(classify(wanted, learned))
        for number, (url, before) in enumerate(walkers):
            name, links = seen[url]
            if name and before and followed < walk:
                learned.book.add(before, name)
                followed += 1
                ends.add(url)
            onward = [target for target in links if name and target != url]
            if onward and generator.random() >= 0.15:  # restart probability
                sources.add(url)
                walkers[number] = generator.choice(onward), name
            else:
                walkers[number] = generator.choice(starts), ""
        steps += len(walkers)
    learned.parents, learned.linked = len(sources), len(ends)
    if followed < walk:
        learned.notes.append(f"only {followed:,} of {walk:,} links were followed: too few pages are available")
    return learned
