"""Resuming from a snapshot: what a crawl has learned, as of some event of its log; only the later ones are folded.

A snapshot is bound to the log up to that event, to the options that the fold goes by, and to the code that folds: one
that does not fit is not used, and the log is folded from its beginning. The log stays the truth.

While a crawl runs, a snapshot is written whenever that costs no more than two hundredths of the CPU time that was used
so far, all snapshots of the process together. In the end one is written, too, if whoever looks at the crawl, or resumes
it, would take longer to fold what the last one lacks.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import xxhash

from lycosa.core.cold import LARGE, give_back
from lycosa.core.cold import fits as cold_fits
from lycosa.core.engine import Engine
from lycosa.core.state import Untold
from lycosa.core.types import Visit
from lycosa.crawling.files import Files
from lycosa.crawling.request import Request
from lycosa.store.log import SqliteLog
from lycosa.store.snapshots import About, Snapshots, code
from lycosa.text.embeddings import digest
from lycosa.topics.making import learning_key

SHARE = 0.02
"""Of the CPU time, for snapshots."""

FEWEST = 250
"""Visits from one to the next, at least."""

FOLDING, CHEAP = 0.002, 0.2
"""CPU seconds that folding a visit takes, about; and a snapshot at least, for who compares the two."""

ASIDE = frozenset(
    """
    documents render render_resources render_time render_requests render_bytes render_at_once render_more
    render_trackers browser browser_profile browser_pages browser_memory headers cookies archive_to dedupe warc_prefix
    operator log_file log_format log_rotate
    readers seeds seed_files search search_results budget max_requests max_bytes max_time concurrency delay per_host
    address_delay patience attempts contact timeout min_rate max_body proxy proxy_ca rotate per_hour explore schedule
    detect frequently infrequently always frequent infrequent watch_all webhooks mail_to mail_from smtp digest_every
    max_disk index feeds feed_url tell_kinds tell_at_least choosy identity respect_opt_outs
    """.split()
)
"""Options that make no difference to what is learned from a log. All others do, or might."""


def bound_to(request: Request, engine: Engine) -> About:
    """What a snapshot has to be of, beside the log."""
    options = {name: value for name, value in vars(request.options).items() if name not in ASIDE}
    guide: Any = getattr(engine.strategy, "estimator", engine.strategy)
    judge: Any = getattr(engine.topic, "topic", engine.topic)
    parts = [engine.space, engine.topic, judge, engine.strategy, guide, engine.warden, engine.reader]
    own = [_source(part) for part in parts]
    named = [f"{type(part).__module__}.{type(part).__qualname__}" for part in parts]
    vectors = digest() if getattr(guide, "meaning_", None) is not None else ""
    about = (sorted(options.items()), engine.lessons.judge_name, engine.topic.threshold, named, own, vectors)
    strategy = repr(guide) if request.strategy is not None else ""
    crawl = xxhash.xxh3_128_hexdigest(f"{about!r} {strategy}".encode("utf-8", "replace"))
    return {"code": code(), "judge": learning_key(request.options, engine.lessons.judge_name), "crawl": crawl}


def _renders(engine: Engine) -> bool:
    """Whether there is a browser that has learned which pages need it. Whoever only looks has none."""
    return getattr(getattr(engine, "space", None), "renderer", None) is not None


def _source(part: object) -> str:
    """The code of somebody's own class; another one each time where that can't be read."""
    module = type(part).__module__
    if module.partition(".")[0] in (__name__.partition(".")[0], "builtins"):
        return ""
    try:
        return xxhash.xxh3_64_hexdigest(Path(str(sys.modules[module].__file__)).read_bytes())
    except (OSError, KeyError, AttributeError):
        return os.urandom(8).hex()


def take_up(request: Request, files: Files, engine: Engine) -> int:
    """Have a new engine go on from the snapshot, if there is one that fits: the number of the last event it knows."""
    log = files.log
    if files.snapshots is None or request.keeping is not None or not isinstance(log, SqliteLog):
        return 0
    bound = bound_to(request, engine)
    without: list[str] = []

    def fits(about: About) -> bool:
        same = all(about[name] == value for name, value in bound.items()) and about["seq"] <= files.until
        same = same and cold_fits(about.get("cold", []), files.cold_file)
        same = same and (bool(about.get("renders")) or not _renders(engine))
        without[:] = files.without if about["seq"] == log.end() else ()
        return same and log.chain(about["seq"]) == about["log"]

    def wanted(names: tuple[str, ...]) -> bool:  # whoever only looks has no archive
        return names[0] == "engine" and names[1] not in without and " ".join(names[1:3]) not in without

    with _no_garbage():
        snapshot = files.snapshots.read(fits, wanted if files.readonly else None, tell=request.tell)
        if snapshot is None:
            return 0
        about, state = snapshot
        with files.snapshots.believed():
            engine.restore(state.pop("engine"), without)
            files.restore(state["files"])
    return int(about["seq"])


def covered(directory: Path) -> int:
    """The last event that the snapshot in a directory knows of; 0 if there is none, or of other code."""
    about = Snapshots(directory).about()
    return int(about["seq"]) if about is not None and about.get("code") == code() else 0


class SnapshotWriter:
    """Writes snapshots of a crawl that runs."""

    spent = 0.0
    """CPU seconds that snapshots have taken, those of all crawls of the process."""

    def __init__(
        self,
        request: Request,
        files: Files,
        engine: Engine,
        cpu: Callable[[], float] = time.process_time,
        share: float = SHARE,
    ) -> None:
        self.files, self.engine = files, engine
        self._cpu, self._share = cpu, share
        self._bound = bound_to(request, engine)
        self._visits = 0
        self._cost = 0.0

    def visited(self, visit: Visit) -> None:
        """One more visit is recorded: time for a snapshot, perhaps."""
        self.files.judged_by = visit.judge or self.files.judged_by
        self._visits += 1
        if self._visits >= FEWEST and self._visits % 50 == 0:
            self.write()

    def finish(self) -> None:
        """The crawl is over."""
        self.write(sure=self._visits * FOLDING > max(self._cost, CHEAP))

    def write(self, sure: bool = False) -> bool:
        """Write one if it does not cost too much, or anyway."""
        snapshots, log = self.files.snapshots, self.files.log
        before = self._cpu()
        if snapshots is None or not isinstance(log, SqliteLog):
            return False
        if not sure and SnapshotWriter.spent + self._cost > self._share * before:
            return False
        try:
            seq = log.end()
            state = {"engine": self.engine.state(), "files": self.files.state()}
            cold = getattr(self.engine, "cold", None)
            about = [] if cold is None else cold.about()
            snapshots.write(
                {
                    **self._bound,
                    "seq": seq,
                    "log": log.chain(seq),
                    "cold": about,
                    "renders": _renders(self.engine),
                },
                state,
            )
        except (Untold, MemoryError, OverflowError):  # it is folded instead
            self.files.snapshots = None
            return False
        except OSError:
            self.files.snapshots = None
            with suppress(OSError):
                snapshots.remove()  # what is there of it must not take the crawl's room
            return False
        del state
        if cold is not None and cold.count > LARGE:
            give_back()
        self._cost = self._cpu() - before
        SnapshotWriter.spent += self._cost
        self._visits = 0
        return True


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Millions of objects are made, none of which is garbage: nobody has to look for it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
