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
from lycosa.training.sources import Look, Rows, end_of, events_of, read_table

WALKERS = 50  # simultaneous walks; their next pages are fetched together


@dataclass
class Learned(Account):
    book: RuleBook
    parents: int = 0  # pages with a class that link to others: train-0
    linked: int = 0  # linked pages that could be classified: train-1


Seen: TypeAlias = tuple[str, list[str]]  # class of a page, and its links
See: TypeAlias = "Callable[[Sequence[str], Learned], dict[str, Seen]]"


class RuleReader:
    def __init__(self, model: TrainedModel) -> None:
        self.model = model
        self.words = Vocabulary(str(model.facts.get("language", "en")))
        self.columns = ModelWords(model.column_of)

    def of_page(self, page: Page) -> str:
        """Return the class of a page's text; empty without known words."""
        return self.of_terms(self.words.read(page).terms, self.words.terms)

    def of_terms(self, terms: Terms, stems: Sequence[str]) -> str:
        """Return the class of a bag of words, given by ids into `stems`, which must be the same list in all calls."""
        self.columns.follow(stems)
        columns, counts, _ = self.columns.of(terms)
        if not len(columns):
            return ""
        order = np.argsort(columns)
        bag = Bags.of([(columns[order], counts[order])])
        return self.model.classes[int(self.model.classifier.probabilities(bag)[0].argmax())]

    def class_named(self, label: str) -> str:
        """Return the model's class of a taxonomy path: the path itself, or the ancestor that it was merged into."""
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
    look: Look,
    *,
    column: str = "",
    most: int = 150,  # linked pages fetched per class: about as many as in the paper
    walk: int = 0,
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> Learned:
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
        raise InputError(f"there is no file or directory {source}: name a table of addresses and classes, or a crawl")
    if path.is_dir():
        if not (path / CONFIG).is_file():
            raise InputError(
                f"{source} is not a crawl: rules need addresses and links; name a table of addresses and classes"
            )
        learned = _from_crawl(path, model, walk, seed, progress)
    else:
        account = Account()
        rows = read_table(path, account, column)
        if walk:
            learned = _from_walks(
                [url for url, _ in rows], partial(_see, RuleReader(model), look, progress), walk, seed
            )
        else:
            learned = _from_pages(rows, RuleReader(model), look, most, seed, progress)
        learned.left_out.update(account.left_out)
        learned.notes += account.notes
    if not len(learned.book):
        raise InputError(f"no rule could be learned from {source}: {_why_none(learned)}")
    return learned


def _why_none(learned: Learned) -> str:
    left = learned.why()
    if not learned.parents:
        return f"none of its pages has a class of the model and links ({left or 'no pages'})"
    return f"none of the pages that its {learned.parents:,} pages link to could be read ({left or 'no links'})"


def _from_pages(
    rows: Rows, reader: RuleReader, look: Look, most: int, seed: int, progress: ProgressCallback
) -> Learned:
    learned = Learned(RuleBook())
    class_of = {url: reader.class_named(label) for url, label in rows}
    strange = sum(not name for name in class_of.values())
    if strange:
        learned.left_out["of classes that the model does not know"] += strange
    linked: dict[str, dict[str, None]] = {}
    referred: dict[str, str] = {}
    for url, page in look([url for url, name in class_of.items() if name], learned, progress):
        targets = [target for target in page.links.urls if target != url]
        learned.parents += bool(targets)
        linked.setdefault(class_of[url], {}).update(dict.fromkeys(targets))
        referred[url] = reader.of_page(page)
    drawn = {name: _some(targets, most, f"{seed} {name}") for name, targets in linked.items()}
    wanted = dict.fromkeys(target for targets in drawn.values() for target in targets if target not in referred)
    train_1 = Learned(learned.book)  # failures for these are counted by _count, class by class
    referred.update((url, reader.of_page(page)) for url, page in look(list(wanted), train_1, progress))
    _count(learned, drawn, referred)
    return learned


def _some(targets: Iterable[str], most: int, chance: str) -> list[str]:
    """Return at most `most` random targets, in their original order."""
    every = list(targets)
    if not most or len(every) <= most:
        return every
    chosen = set(random.Random(chance).sample(range(len(every)), most))
    return [target for number, target in enumerate(every) if number in chosen]


def _from_crawl(path: Path, model: TrainedModel, walk: int, seed: int, progress: ProgressCallback) -> Learned:
    """Learn from the pages of a crawl log, as far as it has the linked pages."""
    learned, reader = Learned(RuleBook()), RuleReader(model)
    stems: list[str] = []
    classes: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    moved: dict[str, str] = {}
    for event in events_of(path, stems, progress):
        match event:
            case Visit(kind="redirect") if event.links.urls:
                moved[event.node] = event.links.urls[0]
            case Visit(is_page=True):
                classes[event.node] = reader.of_terms(event.terms, stems)
                links[event.node] = event.links.urls
    if walk:

        def see(urls: Sequence[str], _: Learned) -> dict[str, Seen]:
            return {
                url: (classes[url], [end_of(target, moved) for target in links[url]]) for url in urls if url in links
            }

        return _from_walks(list(links), see, walk, seed)
    linked: dict[str, dict[str, None]] = {}
    for node, targets in links.items():
        ends = [end for target in targets if (end := end_of(target, moved)) != node]
        if classes[node] and ends:
            learned.parents += 1
            linked.setdefault(classes[node], {}).update(dict.fromkeys(ends))
    _count(learned, linked, classes)
    return learned


def _count(learned: Learned, linked: Mapping[str, Iterable[str]], classes: Mapping[str, str]) -> None:
    """Add one case for each class and each page that it links to."""
    seen: set[str] = set()
    for name, targets in linked.items():
        for target in targets:
            if target not in classes:
                learned.left_out["linked pages that can't be had"] += 1
            elif not classes[target]:
                learned.left_out["linked pages without a word that the model knows"] += 1
            else:
                learned.book.add(name, classes[target])
                seen.add(target)
    learned.linked = len(seen)


def _see(
    reader: RuleReader, look: Look, progress: ProgressCallback, urls: Sequence[str], learned: Learned
) -> dict[str, Seen]:
    return {url: (reader.of_page(page), page.links.urls) for url, page in look(urls, learned, progress)}


def _from_walks(starts: Sequence[str], see: See, walk: int, seed: int) -> Learned:
    """Learn from random walks: each followed link is a case of a rule from the class of its page to that of the next.

    Walks restart at random, and after pages that are unavailable or have no links. All end when `walk` links were
    followed, or when most steps have failed.
    """
    learned, chance = Learned(RuleBook()), random.Random(seed)
    seen: dict[str, Seen] = {}
    sources: set[str] = set()
    ends: set[str] = set()
    walkers = [(chance.choice(starts), "") for _ in range(min(WALKERS, walk))]
    followed = steps = 0
    while followed < walk and steps < 10 * (walk + WALKERS):  # steps per link to follow
        wanted = list(dict.fromkeys(url for url, _ in walkers if url not in seen))
        seen.update(dict.fromkeys(wanted, ("", [])))
        seen.update(see(wanted, learned))
        for number, (url, before) in enumerate(walkers):
            name, links = seen[url]
            if name and before and followed < walk:
                learned.book.add(before, name)
                followed += 1
                ends.add(url)
            onward = [target for target in links if name and target != url]
            if onward and chance.random() >= 0.15:  # restart probability
                sources.add(url)
                walkers[number] = chance.choice(onward), name
            else:
                walkers[number] = chance.choice(starts), ""
        steps += len(walkers)
    learned.parents, learned.linked = len(sources), len(ends)
    if followed < walk:
        learned.notes.append(f"{followed:,} links were followed of {walk:,}: too few pages could be had")
    return learned
