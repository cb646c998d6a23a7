"""A past crawl as a corpus: what its archive holds of the pages, redirects of its log, labels that someone gave it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lycosa.collection.reading import Collection
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Label, Visit
from lycosa.lab.corpora.archive import DAMAGED, Keep
from lycosa.lab.indexing import Account, Recorded
from lycosa.store.log import PAGES
from lycosa.training.sources import IRRELEVANT, RELEVANT, page_of


def crawl(path: Path, account: Account, keep: Keep, *, labelled: bool = False) -> Iterator[Recorded]:
    """The pages of a crawl's directory, in the order in which they were fetched.

    Pages labelled with `lycosa label` are of the class relevant or irrelevant; of several labels the last counts.
    That there are none is told, unless the pages are `labelled` by a table.
    """
    with Collection(path) as collection:
        log = collection.log
        labels = {event.node: event.relevant for event in log.events("kind = 'label'") if isinstance(event, Label)}
        account.expected += sum(1 for _ in log.rows("node", PAGES))
        empty = True
        for event in log.events(f"({PAGES}) OR outcome = 'redirect'"):
            if not isinstance(event, Visit) or not keep(event.node):
                continue
            if event.outcome == "redirect":
                if event.kind == "redirect" and event.links.urls:
                    yield Recorded(event.node, target=event.links.urls[0])
                continue
            account.read += 1
            empty = False
            try:
                exchange = collection.exchange(event)
            except StoreError:
                account.left_out[DAMAGED] += 1
                continue
            if exchange is None:
                account.left_out["pages that are not in the crawl's archive"] += 1
                continue
            page = page_of(collection.document(event, exchange), exchange.header("content-language"))
            given = labels.get(event.node)
            classes = () if given is None else (RELEVANT,) if given else (IRRELEVANT,)
            yield Recorded(event.node, page, classes=classes)
        if empty:
            raise InputError(f"the crawl in {path} has no pages yet: go on with 'lycosa resume {path}'")
        if not labels and not labelled:
            account.notes.append(f"{path} has no labels: give some with 'lycosa label', or name a table with --labels")
