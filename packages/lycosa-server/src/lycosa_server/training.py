"""Train people's models in a child process, from their crawls and labels.

Nothing is fetched: pages come from the archives of the person's own crawls. Pages labelled yes, and unlabelled pages
opened more than once, count as relevant; pages labelled no as irrelevant.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, LycosaError
from lycosa.core.progress import ProgressCallback
from lycosa.core.types import Page
from lycosa.store.log import NAME
from lycosa_server import child
from lycosa_server.logs import log
from lycosa_server.model_files import digest_of, inspect, models_directory, pages_of, remove_orphans
from lycosa_server.people import feedback, interests, models, suggestions
from lycosa_server.people.database import Database, Row
from lycosa_server.settings import Settings, hide_data_directory

SWEEP_SECONDS = 3_600.0  # seconds between removals of files that belong to no model


class TrainingQueue:
    """Trains queued models one at a time. Part of the crawl process; the training itself runs in a child process."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings, self.database = settings, database
        self.place = settings.data / "training"
        self.queued = asyncio.Event()  # set to check the queue now
        self._tidied = -SWEEP_SECONDS
        self._over = False

    async def run_queued(self) -> None:
        started = False
        try:
            while True:
                try:
                    self.queued.clear()
                    if await asyncio.to_thread(self.train_next, started):
                        continue
                    started = True
                except LycosaError as error:
                    log("training waits", "warning", why=str(error))
                    started = False  # the last result may not have been written
                # Not wait_for: before Python 3.12 it can lose a simultaneous cancellation.
                with suppress(TimeoutError):
                    async with asyncio.timeout(5.0 if started else 1.0):
                        await self.queued.wait()
        finally:
            self._over = True

    def train_next(self, started: bool = True) -> bool:
        if time.monotonic() > self._tidied + SWEEP_SECONDS:
            remove_orphans(self.settings, self.database, time.time())
            self._tidied = time.monotonic()
        if not started:
            shutil.rmtree(self.place, ignore_errors=True)
            self.database.run("UPDATE model SET state = 'queued' WHERE state = 'training'")
        row = models.take_queued(self.database)
        if row is not None:
            self.train(row)
        return row is not None

    def train(self, row: Row) -> None:
        log("training started", job=row["id"])
        reason, task = "", dict[str, Any]()
        try:
            task = self.training_task(row)
            self.store_result(row, child.run(__name__, task, 1_800.0, lambda: self._unwanted(row["id"])))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError) as error:
            reason = str(error)
            for crawl in task.get("crawls", ()):
                reason = reason.replace(crawl["directory"], f"the crawl of {crawl['name']}")
            reason = hide_data_directory(self.settings, reason)
            reason = re.sub(r" \(--[^)]*\)", "", reason)  # options of the command line
            if not self._over:  # else the next process trains it
                models.end_training(self.database, time.time(), row["id"], "failed", {}, reason=reason[:500])
        finally:
            shutil.rmtree(self.place, ignore_errors=True)
        log("training ended", job=row["id"], reason=reason)

    def _unwanted(self, model: str) -> bool:
        try:
            return self._over or self.database.get("model", model) is None
        except LycosaError:
            return False

    def training_task(self, row: Row) -> dict[str, Any]:
        settings, database, owner, sources = self.settings, self.database, row["owner"], json.loads(row["sources"])
        crawls = []
        for interest in sources["interests"]:
            facts = database.find("interest", id=interest, owner=owner)
            newest = interests.newest_crawl(database, interest) if facts else None
            if facts is None or newest is None or not (settings.crawl_directory(newest["id"]) / NAME).exists():
                continue  # deleted since, or nothing was crawled
            labels = feedback.labels_of(database, interest)
            opened = suggestions.opened_by(database, interest, owner)
            liked = {url: True for url, times in opened.items() if times > 1 and url not in labels}
            directory = settings.crawl_directory(newest["id"])
            crawls.append({"directory": str(directory), "name": facts["name"], "labels": {**liked, **labels}})
        if not crawls:
            raise InputError("nothing-to-do", "none of the interests has a crawl: choose others")
        task: dict[str, Any] = {"kind": row["kind"], "crawls": crawls, "place": str(self.place)}
        task["classifier"] = str(sources.get("classifier", "nb"))
        if sources.get("model"):
            judge = models.ready(database, owner, sources["model"], models.JUDGING)
            task["model"] = str(settings.model_file(judge["id"]))
        if sources.get("directory"):
            listed = models.ready(database, owner, sources["directory"], ("directory",))
            task["topics"] = dict(pages_of(settings.model_file(listed["id"]), sources["topics"]))
        return task

    def store_result(self, row: Row, result: dict[str, Any]) -> None:
        out, place = self.place / "out", models_directory(self.settings) / row["id"]
        facts = {**inspect(out, row["kind"]), **result}
        file = {"size": out.stat().st_size, "digest": digest_of(out)}
        out.replace(place)
        if not models.end_training(self.database, time.time(), row["id"], "ready", facts, **file):
            place.unlink(missing_ok=True)  # deleted meanwhile


def work(task: dict[str, Any]) -> dict[str, Any]:
    place = Path(task["place"])
    place.mkdir(0o700, exist_ok=True)
    return {"classifier": _classifier, "rules": _rules, "browsing": _browsing}[task["kind"]](task, place)


def _classifier(task: dict[str, Any], place: Path) -> dict[str, Any]:
    from lycosa.training.train_model import train

    table = place / "pages.tsv"
    _write_table(table, classes(task))
    done = train([str(table)], place / "out", _page_source([Path(crawl["directory"]) for crawl in task["crawls"]]),
                 kind=task["classifier"])  # fmt: skip
    return {"notes": _notes(done.notes)}


def _rules(task: dict[str, Any], place: Path) -> dict[str, Any]:
    from lycosa.judges.model import TrainedModel
    from lycosa.training.rules import train_rules

    learned = train_rules(task["crawls"][0]["directory"], TrainedModel.load(Path(task["model"])), _page_source([]))
    learned.book.save(place / "out")
    return {"notes": _notes(learned.notes), "pages": learned.parents}


def _browsing(task: dict[str, Any], place: Path) -> dict[str, Any]:
    from lycosa.training.browse import train_browse

    crawl = task["crawls"][0]
    done = train_browse(Path(crawl["directory"]), place / "out", _page_source([]), labels=crawl["labels"])
    return {"notes": _notes(done.notes)}


def _notes(notes: Sequence[str]) -> list[str]:
    return [note[:500] for note in notes if "--" not in note][:20]


def classes(task: dict[str, Any]) -> dict[str, str]:
    """Return the class of each page: its topic in a web directory, or from the labels.

    >>> one = {"name": "Reefs", "labels": {"a": True, "b": False}}; two = {"name": "Trains", "labels": {"b": True}}
    >>> classes({"crawls": [one]}), classes({"crawls": [one, two]})
    ({'a': 'relevant', 'b': 'irrelevant'}, {'a': 'Reefs', 'b': 'Trains'})
    """
    crawls = task["crawls"]
    if "topics" in task:
        return dict(task["topics"])
    found: dict[str, str] = {}
    for crawl in crawls:
        name = crawl["name"] if len(crawls) > 1 else "relevant"
        found.update((url, name) for url, relevant in crawl["labels"].items() if relevant)
    for crawl in crawls:
        for url, relevant in crawl["labels"].items():
            if not relevant:
                found.setdefault(url, "irrelevant")
    return found


def _write_table(table: Path, rows: dict[str, str]) -> None:
    if not rows:
        raise InputError("nothing-to-do", "the interests have no labelled pages: label some pages first")
    lines = [f"{url}\t{name}" for url, name in rows.items() if "\t" not in url + name and "\n" not in url + name]
    table.write_text("\n".join(lines) + "\n", "utf-8")


def _page_source(directories: Sequence[Path]) -> Any:
    from lycosa.training.corpus import Account
    from lycosa.training.page_loading import recorded_pages

    def read_pages(urls: Sequence[str], account: Account, progress: ProgressCallback) -> Iterator[tuple[str, Page]]:
        seen: set[str] = set()
        for directory in directories:
            missing = [url for url in urls if url not in seen]
            for url, page in recorded_pages(directory)(missing, Account(), progress):
                if len(seen) < 5_000:
                    seen.add(url)
                    yield url, page
        if len(seen) < len(urls):
            account.left_out["in no crawl"] += len(urls) - len(seen)

    return read_pages


if __name__ == "__main__":
    child.serve(work)
