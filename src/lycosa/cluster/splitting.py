"""The common log shared out among shards anew: a cluster of another size, or one that goes on with a plain crawl.

Each visit goes to the shard that owns its node now, with words numbered as that shard meets them, and the links that
others own go to them at once, as if they had been sent and confirmed. Where the bytes of a page lie is what the common
log knows: shards begin archives of their own. All of it is made beside the present shards and then takes their place,
so that a crawl that dies meanwhile is as it was.

Among no shards at all: what is left is a plain crawl, which can be refreshed and watched, and is shared out again when
it goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from lycosa.cluster.merging import ONCE, SPLIT, Merger, shards_in
from lycosa.cluster.outbox import CURSORS, Scope, is_linking, messages
from lycosa.cluster.owning import Owners
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Event, Place, Seed, Setting, Terms, Visit
from lycosa.store.directory import SHARDS, Directory
from lycosa.store.log import SqliteLog
from lycosa.store.moving import manifest

NEW, OLD = f"{SHARDS}.new", f"{SHARDS}.old"

BEFORE = "before"
"""What says in `SPLIT` how many shards there were before they were joined."""

Make = Callable[[Path], SqliteLog]
"""A shard's directory, and its log."""


def split(directory: Path, log: SqliteLog, shards: int, scope: Scope, make: Make) -> None:
    """Make so many shards of the common log, in place of those that there are. All of these are brought over. With 0
    it is noted how many there were."""
    try:
        settle(directory)
        shutil.rmtree(directory / NEW, ignore_errors=True)
        for archive in (directory / SHARDS).glob("*/archive"):
            if manifest(archive):
                raise InputError(
                    f"{directory} has moved files of its archive elsewhere: continue with as many shards as it has"
                )
        (directory / NEW).mkdir()
        with ExitStack() as files:
            parts = [_Part(number, make(directory / NEW / f"{number:03d}")) for number in range(shards)]
            for part in parts:
                files.callback(part.log.close)
                files.enter_context(part.log.together())
            sharing = _Sharing(parts, scope)
            for event in log if parts else ():
                sharing.hand_out(event)
            sharing.finish()
        ends = {str(part.number): part.end for part in parts}
        about = {"split": uuid.uuid4().hex, **ends} if parts else {BEFORE: shards_in(directory)}
        (directory / NEW / SPLIT).write_text(json.dumps(about), "utf-8")
        _gather(directory)
        if (directory / SHARDS).exists():
            (directory / SHARDS).rename(directory / OLD)
        (directory / NEW).rename(directory / SHARDS)
        settle(directory)
    except OSError as error:
        raise StoreError(f"cannot share {directory} out among {shards} shards: {error.strerror}") from error


def settle(directory: Path) -> None:
    """Bring to an end what was broken off between two shards' places."""
    if (directory / OLD).exists() and not (directory / SHARDS).exists():
        place = NEW if (directory / NEW / SPLIT).exists() else OLD
        (directory / place).rename(directory / SHARDS)
    shutil.rmtree(directory / OLD, ignore_errors=True)


def join(directory: Path) -> None:
    """Make a plain crawl of one that has shards: all that they have recorded is in the common log then."""
    settle(directory)
    if not (there := shards_in(directory)):
        return
    held = Directory.open(directory)
    try:
        with closing(held.log()) as log:
            Merger(directory, log, there, held.options.traps).bring_over()
            split(directory, log, 0, lambda node, depth: True, SqliteLog)
    finally:
        held.close()


def bring_together(directory: Path) -> None:
    """Bring the common log of a crawl that does not run up to where its shards are: whoever ran it may have been
    killed."""
    settle(directory)
    if there := shards_in(directory):
        with closing(Directory.open(directory)) as held, closing(held.log()) as log:
            Merger(directory, log, there, held.options.traps).bring_over()


def shards_before(directory: Path) -> int:
    """How many shards a crawl has, or had when they were joined; 0 if it never had any."""
    file = directory / SHARDS / SPLIT
    if there := shards_in(directory):
        return there
    return int(json.loads(file.read_text("utf-8")).get(BEFORE, 0)) if file.exists() else 0


class _Part:
    """A shard to be."""

    def __init__(self, number: int, log: SqliteLog) -> None:
        self.number, self.log = number, log
        self.end = self.picks = self.last = 0
        self._words: dict[int, int] = {}  # by their numbers in the common log

    def append(self, visit: Visit, names: list[str]) -> int:
        """One of its own visits."""
        new: list[str] = []
        for word in visit.terms.ids.tolist():
            if word not in self._words:
                self._words[word] = len(self._words)
                new.append(names[word])
        ids = np.array([self._words[word] for word in visit.terms.ids.tolist()], np.uint32)
        order = ids.argsort(kind="stable")
        marks = visit.terms.marks[order] if len(visit.terms.marks) else visit.terms.marks
        terms = Terms(ids[order], visit.terms.counts[order], new, marks)
        self.picks += 1
        self.last = self.log.append(replace(visit, terms=terms, pick=self.picks, place=Place()))
        if visit.rated is not None:
            self.log.settle([(self.last, visit.rated)])
        return self.last


class _Sharing:
    """Hands out the events of the common log, in its order."""

    def __init__(self, parts: list[_Part], scope: Scope) -> None:
        self.parts, self.scope, self.owners = parts, scope, Owners(len(parts))
        self._names: list[str] = []
        self._depths: dict[str, int] = {}
        self._seeds: set[str] = set()

    def hand_out(self, event: Event) -> None:
        """One event, to whom it is for."""
        if isinstance(event, Seed):
            self._depths[event.node] = 0
            self._seeds.add(event.node)
            self.parts[self.owners.of(event.node)].log.append(event)
        elif isinstance(event, Setting) and event.key in ONCE:
            for part in self.parts:
                part.log.append(event)
        elif isinstance(event, Visit):
            self._names += event.terms.new
            owner = self.owners.of(event.node)
            number = self.parts[owner].append(event, self._names)
            if is_linking(event):
                self._send(event, owner, number)

    def _send(self, visit: Visit, owner: int, number: int) -> None:
        """The links of a visit, to those who own them."""
        depth, is_seed = self._depths.get(visit.node, 0), visit.node in self._seeds
        further = depth + (visit.outcome != "redirect")
        for url in visit.links.urls:
            self._depths[url] = min(self._depths.get(url, further), further)
        if is_seed and visit.outcome == "redirect":
            self._seeds.update(visit.links.urls[:1])
        outcome = 0.0 if visit.same_as else visit.beta
        sent = messages(
            visit, owner, number, self.owners, self.scope, depth=depth, outcome=outcome, seed=is_seed, sums=[]
        )  # fmt: skip
        for receiver, inbound in sent.items():
            self.parts[receiver].log.append(inbound)

    def finish(self) -> None:
        """All that was sent is confirmed."""
        for part in self.parts:
            if part.last:
                cursors = {str(other.number): part.last for other in self.parts if other is not part}
                part.log.append(Setting(CURSORS, cursors))
            part.end = part.log.end()


def _gather(directory: Path) -> None:
    """The shards' files of the archive become the crawl's own: a second name for each, in place of a link."""
    for file in (directory / SHARDS).glob("*/archive/*"):
        if not file.is_file():
            continue
        place = directory / "archive" / file.name
        if place.exists() and not place.is_symlink():
            continue
        second = place.with_name(f"{place.name}.new")
        second.unlink(missing_ok=True)
        try:
            os.link(file, second)
        except OSError:  # this file system has none
            shutil.copy2(file, second)
        second.replace(place)
