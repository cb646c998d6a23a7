"""A crawl as a browsing record: its pages as if someone had visited them, over the links they have."""

from __future__ import annotations

from pathlib import Path

from lycosa.core.errors import DamagedError, InputError
from lycosa.core.telling import Tell
from lycosa.core.types import Label, Setting, Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.text.vocabulary import Vocabulary
from lycosa.training.corpus import Corpus
from lycosa.training.record import Record, Visited
from lycosa.training.rules import end_of


def read_crawl(path: Path, language: str, tell: Tell) -> Record:
    """The pages of a crawl with the words that its log keeps, and every link between them.

    A page is relevant if someone has said so (`lycosa label`); of those nobody spoke of, if it reached the crawl's
    threshold.
    """
    if not (path / NAME).exists():
        raise InputError(f"nothing has been crawled in {path} yet: start with 'lycosa resume {path}'")
    record = Record(Corpus(Vocabulary(language)), complete=True)
    stems: list[str] = []
    labels: dict[str, bool] = {}
    moved: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    betas: dict[str, float] = {}
    threshold = 0.0
    log = SqliteLog(path / NAME, readonly=True)
    try:
        for number, event in enumerate(log, 1):
            if isinstance(event, Label):
                labels.pop(event.node, None)
                if event.relevant is not None:
                    labels[event.node] = event.relevant
            elif isinstance(event, Setting) and event.key == "threshold":
                threshold = float(event.value)
            if not isinstance(event, Visit):
                continue
            stems += event.terms.new
            if event.kind == "redirect" and event.links.urls:
                moved[event.node] = event.links.urls[0]
            if event.is_page:
                ids = event.terms.ids.tolist()
                if ids and ids[-1] >= len(stems):
                    raise DamagedError(
                        f"{path / NAME} is damaged: it has words without a name. Restore it from a backup"
                    )
                links[event.node], betas[event.node] = event.links.urls, event.beta
                words = [stems[n] for n in ids]
                if event.node not in record.row_of and record.corpus.add_stems(
                    "", event.node, words, event.terms.counts.tolist(), event.simhash
                ):
                    record.row_of[event.node] = len(record.corpus.pages) - 1
            tell("reading the crawl", number, 0)
    finally:
        log.close()
    if not links:
        raise InputError(f"the crawl in {path} has no pages: go on with 'lycosa resume {path}'")
    for node, beta in betas.items():
        record.add(Visited(node, labels.get(node, beta >= threshold)))
    record.steps = [
        (node, end) for node, targets in links.items() for target in targets if (end := end_of(target, moved)) in links
    ]
    labelled = len(labels.keys() & betas.keys())
    record.notes.append(
        f"{labelled:,} pages are labelled by a person, of the others those with {threshold:g} or more count as relevant"
    )
    return record
