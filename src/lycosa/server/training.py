"""Training of people's models: a process of its own reads what their interests have crawled, and what they said of it.

The crawl process takes them from the queue (`run_queued`), one at a time. The child is `python -m` with this module.
Nothing is fetched for it: pages are read from the archives of the person's own crawls. What counts as relevant is what
they said yes to, or opened more than once and said nothing of; a no is a no.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, LycosaError
from lycosa.people import feedback, interests, models, suggestions
from lycosa.people.database import Database, Row
from lycosa.server import child
from lycosa.server.logs import log
from lycosa.server.models import UNUSED, digest_of, inspect, pages_of, room, sweep
from lycosa.server.settings import Settings, without_place
from lycosa.store.log import NAME

PLACE = "training"
"""In the server's directory, where the child writes. It may be killed: who started it sees that nothing stays there."""

EVERY = 1.0
"""Seconds between two looks at the queue."""

LONGEST = 1_800.0
"""Seconds that training may take."""

MOST_PAGES = 5_000
"""That one model learns from."""

REFUSED = "irrelevant"
"""The class of what got a no: beside `relevant`, or beside the classes that interests are."""


# -- in the crawl process --------------------------------------------------------------------------------------


async def run_queued(settings: Settings, database: Database) -> None:
    """Do what is queued, until cancelled. While the database is away, wait."""
    started, swept = False, 0.0
    while True:
        try:
            if time.monotonic() > swept + UNUSED or not swept:
                await asyncio.to_thread(sweep, settings, database, time.time())
                swept = time.monotonic()
            if not started:
                await asyncio.to_thread(shutil.rmtree, settings.data / PLACE, ignore_errors=True)
                await asyncio.to_thread(models.requeue, database)
                started = True
            row = await asyncio.to_thread(models.take, database)
            if row is not None:
                await _do(settings, database, row)
                continue
        except LycosaError as error:
            log("training waits", "warning", why=str(error))
            started = False  # how the last one ended may not have been written
        await asyncio.sleep(EVERY)


async def _do(settings: Settings, database: Database, row: Row) -> None:
    log("training started", model=row["id"])
    beside = settings.data / PLACE
    out = beside / "out"

    def ended(**fields: Any) -> bool:
        return models.end(database, time.time(), row["id"], **fields)

    try:
        told = await asyncio.to_thread(gathered, settings, database, row)
        result, reason = await child.ask(
            "lycosa.server.training", told, partial(_deleted, database, row["id"]), LONGEST
        )
        if result is None:
            raise InputError(_for_people(reason, told))
        about = {**await asyncio.to_thread(inspect, out, row["kind"]), **result}
        fields = {"about": about, "size": out.stat().st_size, "digest": await asyncio.to_thread(digest_of, out)}
        place = room(settings) / row["id"]
        out.replace(place)
        if not await asyncio.to_thread(partial(ended, state="ready", **fields)):
            place.unlink(missing_ok=True)  # deleted meanwhile
        reason = ""
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError) as error:  # sources out of a backup
        reason = without_place(settings, str(error))
        await asyncio.to_thread(partial(ended, state="failed", reason=reason))
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    log("training ended", model=row["id"], reason=reason)


def _for_people(reason: str, told: dict[str, Any]) -> str:
    """A reason without places, and without what only the command line has."""
    for crawl in told["crawls"]:
        reason = reason.replace(crawl["directory"], f"the crawl of {crawl['name']}")
    return re.sub(r" \(--[^)]*\)", "", reason)


async def _deleted(database: Database, model: str) -> bool:
    try:
        return await asyncio.to_thread(database.get, "model", model) is None
    except LycosaError:
        return False


def gathered(settings: Settings, database: Database, row: Row) -> dict[str, Any]:
    """What the child is told: the crawls of the person's own interests, and what was said of their pages."""
    owner, sources = row["owner"], json.loads(row["sources"])
    crawls = []
    for interest in sources["interests"]:
        about = database.row("SELECT * FROM interest WHERE id = ? AND owner = ?", interest, owner)
        newest = interests.newest_crawl(database, interest) if about else None
        if about is None or newest is None or not (settings.crawl_directory(newest["id"]) / NAME).exists():
            continue  # deleted since, or nothing was crawled
        labels = feedback.labels_of(database, interest)
        opened = suggestions.opened_by(database, interest, owner)
        liked = {url: True for url, times in opened.items() if times > 1 and url not in labels}
        directory = settings.crawl_directory(newest["id"])
        crawls.append({"directory": str(directory), "name": about["name"], "labels": {**liked, **labels}})
    if not crawls:
        raise InputError("none of the interests has a crawl any more: choose others")
    told: dict[str, Any] = {"kind": row["kind"], "crawls": crawls, "place": str(settings.data / PLACE)}
    told["classifier"] = str(sources.get("classifier", "nb"))
    if sources.get("model"):
        told["model"] = str(settings.model_file(models.ready(database, owner, sources["model"], models.JUDGING)["id"]))
    if sources.get("directory"):
        listed = models.ready(database, owner, sources["directory"], ("directory",))
        told["topics"] = dict(pages_of(settings.model_file(listed["id"]), sources["topics"]))
    return told


# -- in the child ----------------------------------------------------------------------------------------------


def work(told: dict[str, Any]) -> dict[str, Any]:
    """Train what was told; what there is to say of it beyond what the file itself tells."""
    place = Path(told["place"])
    place.mkdir(0o700, exist_ok=True)
    return {"classifier": _classifier, "rules": _rules, "browsing": _browsing}[told["kind"]](told, place)


def _classifier(told: dict[str, Any], place: Path) -> dict[str, Any]:
    from lycosa.training.pages import train

    table = place / "pages.tsv"
    _write(table, classes(told))
    done = train([str(table)], place / "out", _look([Path(crawl["directory"]) for crawl in told["crawls"]]),
                 kind=told["classifier"])  # fmt: skip
    return {"notes": _notes(done.notes)}


def _rules(told: dict[str, Any], place: Path) -> dict[str, Any]:
    from lycosa.topics.model import Model
    from lycosa.training.rules import train_rules

    learned = train_rules(told["crawls"][0]["directory"], Model.load(Path(told["model"])), _look([]))
    learned.book.save(place / "out")
    return {"notes": _notes(learned.notes), "pages": learned.parents}


def _browsing(told: dict[str, Any], place: Path) -> dict[str, Any]:
    from lycosa.training.browse import train_browse

    crawl = told["crawls"][0]
    table = None
    if crawl["labels"]:
        table = place / "labels.tsv"
        _write(table, {url: "yes" if said else "no" for url, said in crawl["labels"].items()})
    done = train_browse(Path(crawl["directory"]), place / "out", _look([]), labels=table)
    return {"notes": _notes(done.notes)}


def _notes(notes: Sequence[str]) -> list[str]:
    """Those that say something to people who see no command line."""
    return [note[:500] for note in notes if "--" not in note][:20]


def classes(told: dict[str, Any]) -> dict[str, str]:
    """The class of each page that has one: by a directory of topics, or by what was said of it.

    >>> one = {"name": "Reefs", "labels": {"a": True, "b": False}}; two = {"name": "Trains", "labels": {"b": True}}
    >>> classes({"crawls": [one]}), classes({"crawls": [one, two]})
    ({'a': 'relevant', 'b': 'irrelevant'}, {'a': 'Reefs', 'b': 'Trains'})
    """
    crawls = told["crawls"]
    if "topics" in told:
        return dict(told["topics"])
    found: dict[str, str] = {}
    for crawl in crawls:
        name = crawl["name"] if len(crawls) > 1 else "relevant"
        found.update((url, name) for url, said in crawl["labels"].items() if said)
    for crawl in crawls:
        for url, said in crawl["labels"].items():
            if not said:
                found.setdefault(url, REFUSED)
    return found


def _write(table: Path, rows: dict[str, str]) -> None:
    if not rows:
        raise InputError("nothing is labelled there: say yes or no to some pages first")
    lines = [f"{url}\t{name}" for url, name in rows.items() if "\t" not in url + name and "\n" not in url + name]
    table.write_text("\n".join(lines) + "\n", "utf-8")


def _look(directories: Sequence[Path]) -> Any:
    """Pages out of the archives of several crawls, the first that has it."""
    from lycosa.core.telling import Tell
    from lycosa.core.types import Page
    from lycosa.training.corpus import Account
    from lycosa.training.looking import recorded

    def look(urls: Sequence[str], account: Account, tell: Tell) -> Iterator[tuple[str, Page]]:
        had: set[str] = set()
        for directory in directories:
            missing = [url for url in urls if url not in had]
            for url, page in recorded(directory)(missing, Account(), tell):
                if len(had) < MOST_PAGES:
                    had.add(url)
                    yield url, page
        if len(had) < len(urls):
            account.left_out["that no crawl has"] += len(urls) - len(had)

    return look


if __name__ == "__main__":
    child.serve(work)
