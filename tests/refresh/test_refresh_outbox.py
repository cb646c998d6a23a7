"""To each target each change, in order: nothing lost, nothing twice. Hours pass in virtual time."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

import pytest
from aiohttp import web

from lycosa.core.errors import DamagedError, LockedError, StoreError
from lycosa.refresh.change import Change
from lycosa.refresh.ledger import Wanted, end
from lycosa.refresh.telling import outbox as module
from lycosa.refresh.telling.outbox import NAME, Answer, Delivery, Outbox, Standing, Target, pause
from lycosa.refresh.telling.webhook import Webhook, verify
from lycosa.store.log import SqliteLog
from lycosa.testing.simulation import EPOCH, clock, run_virtual
from made_changes import COSMETIC, HOUR, START, VANISHED, look, make_log, page, text

TAKEN = Answer(True)
DOWN = Answer(False, "500 down")


class Killed(BaseException):
    """The process is gone."""


class Fake:
    """A target that remembers what it was sent, and answers what it is told to: in turn, then always the last."""

    def __init__(
        self, *answers: Answer | BaseException, key: str = "fake", most: int = 100, every: float = 0.0
    ) -> None:
        self.name, self.key, self.most, self.every = f"{key} target", key, most, every
        self.answers = list(answers) or [TAKEN]
        self.got: list[tuple[str, list[int]]] = []
        """Every attempt: id and numbers."""
        self.at: list[float] = []
        self.deliveries: list[Delivery] = []

    async def send(self, delivery: Delivery) -> Answer:
        self.got.append((delivery.id, [told.seq for told in delivery.changes]))
        self.at.append(clock() - EPOCH)
        self.deliveries.append(delivery)
        await asyncio.sleep(1)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def accepted(self) -> list[int]:
        """The numbers that it has taken, each delivery once: as a receiver that drops what it knows would."""
        return [seq for seqs in dict(self.got).values() for seq in seqs]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    made = make_log(tmp_path, page())
    yield made
    made.close()


def opened(log: SqliteLog, *targets: Target, wanted: Wanted | None = None) -> Outbox:
    return Outbox(log.path.with_name(NAME), log, targets, clock, title="reefs", wanted=wanted or Wanted())


def add(log: SqliteLog, *changes: Change | None) -> None:
    for change in changes:
        log.append(look(change))


def kept(log: SqliteLog, key: str = "fake") -> Standing:
    """What the file says of a target."""
    db = sqlite3.connect(log.path.with_name(NAME))
    try:
        return Standing(*db.execute(f"SELECT {module._COLUMNS} FROM target WHERE key = ?", (key,)).fetchone())
    finally:
        db.close()


async def until_quiet(box: Outbox) -> list[str]:
    """Do as the watch does when no round ends: deliver whenever it is time."""
    notes = await box.deliver()
    while (due := box.next_attempt()) < math.inf:
        await asyncio.sleep(max(0.0, due - clock()))
        notes += await box.deliver()
    return notes


def test_a_new_target_hears_of_what_comes_from_now_on(log: SqliteLog) -> None:
    """Not of what is in the log already; then of each change once, in order, in batches."""
    add(log, text(), text())
    target = Fake(most=2)
    box = opened(log, target)
    assert [] == run_virtual(box.deliver())
    add(log, text(), None, COSMETIC, VANISHED, text())  # 5 to 9
    assert ["fake target: told of 1 changed, 1 vanished", "fake target: told of 1 changed"] == run_virtual(
        box.deliver()
    )
    assert [[5, 8], [9]] == [seqs for _, seqs in target.got]
    assert [] == run_virtual(box.deliver())
    assert 2 == len({found for found, _ in target.got})
    assert ("reefs", {"changed": 1, "vanished": 1}) == (target.deliveries[0].title, dict(target.deliveries[0].tally))
    box.close()


def test_it_goes_on_after_a_restart(log: SqliteLog) -> None:
    """Who was told is not told again; what came meanwhile is."""
    target = Fake()
    box = opened(log, target)
    add(log, text())
    run_virtual(box.deliver())
    box.close()
    add(log, text(), text())
    box = opened(log, target)
    run_virtual(box.deliver())
    assert [[3], [4, 5]] == [seqs for _, seqs in target.got]
    box.close()


def test_looks_that_found_nothing_are_read_once(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor passes them, though nothing was sent."""
    box = opened(log, Fake())
    add(log, None, None, COSMETIC)
    run_virtual(box.deliver())
    assert end(log) == kept(log).cursor == 5
    box.close()


def test_a_target_that_is_down_for_hours(log: SqliteLog) -> None:
    """It is asked again and again, ever more rarely, keeps its place, and misses nothing."""
    target = Fake(*[DOWN] * 12, TAKEN, most=3)
    box = opened(log, target)
    add(log, *[text()] * 5)  # 3 to 7

    async def watch() -> list[str]:
        notes = await box.deliver()
        add(log, *[text()] * 2)  # 8 and 9, while it is down
        return notes + await until_quiet(box)

    notes = run_virtual(watch())
    assert [[3, 4, 5]] * 13 + [[6, 7, 8], [9]] == [seqs for _, seqs in target.got]
    assert [3, 4, 5, 6, 7, 8, 9] == target.accepted
    waits = [later - sooner - 1 for sooner, later in pairwise(target.at[:13])]  # an attempt takes a second
    assert waits == pytest.approx([pause(target.got[0][0], failures) for failures in range(1, 13)])
    assert all(low <= wait <= 2 * low for wait, low in zip(waits, [10 * 2**n for n in range(11)], strict=False))
    assert 10_800 <= waits[11] <= 21_600  # not 20 480 to 40 960
    assert sum(waits) > 5 * HOUR
    assert notes[0].startswith("fake target: 500 down; kept, next attempt in 1")
    assert "fake target: told of 3 changed, at attempt 13" in notes
    box.close()


def test_a_restart_while_it_is_down(log: SqliteLog) -> None:
    """Attempts, the time of the next one and the delivery's id outlive the process."""
    target = Fake(DOWN)
    box = opened(log, target)
    add(log, text())
    run_virtual(box.deliver())
    box.close()
    add(log, text())
    assert (1, 3, "500 down") == (kept(log).attempts, kept(log).pending, kept(log).error)
    box = opened(log, target)
    assert [] == run_virtual(box.deliver(), start=5.0)  # not yet
    due = box.next_attempt()
    assert EPOCH + 11 <= due <= EPOCH + 21
    target.answers = [TAKEN]
    run_virtual(box.deliver(), start=due - EPOCH)
    assert [[3], [3], [4]] == [seqs for _, seqs in target.got]
    assert target.got[0] == target.got[1]
    assert (0, 0, 4, "") == (kept(log).attempts, kept(log).pending, kept(log).cursor, kept(log).error)
    box.close()


@pytest.mark.parametrize("when", ["before it arrives", "after it was taken"])
def test_kill_between_sending_and_keeping(when: str, log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same delivery is sent again, under the same id, although more has come; everything else once."""
    target = Fake(most=10)
    box = opened(log, target)
    add(log, text(), text())  # 3 and 4
    if when == "before it arrives":
        target.answers = [Killed()]
    else:
        keep = Outbox._keep

        def dying(self: Outbox, standing: Standing) -> None:
            if not standing.pending:
                raise Killed
            keep(self, standing)

        monkeypatch.setattr(Outbox, "_keep", dying)
    with pytest.raises(Killed):
        run_virtual(box.deliver())
    box.close()
    monkeypatch.undo()
    target.answers = [TAKEN]
    add(log, text())  # 5
    box = opened(log, target)
    run_virtual(box.deliver())
    assert [[3, 4], [3, 4], [5]] == [seqs for _, seqs in target.got]
    assert target.got[0] == target.got[1]
    assert [3, 4, 5] == target.accepted
    box.close()


def test_a_cancelled_delivery_is_made_again(log: SqliteLog) -> None:
    """The watch may stop at any moment."""
    target = Fake()
    box = opened(log, target)
    add(log, text())

    async def stop() -> None:
        at_work = asyncio.create_task(box.deliver())
        await asyncio.sleep(0.5)
        assert [] == await box.deliver()  # one at a time
        at_work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await at_work
        await box.deliver()

    run_virtual(stop())
    assert [target.got[0]] * 2 == target.got
    box.close()


def test_targets_do_not_wait_for_each_other(log: SqliteLog) -> None:
    """One that is down, one that never answers and one with a bug keep nobody waiting."""

    class Silent(Fake):
        async def send(self, delivery: Delivery) -> Answer:
            await asyncio.sleep(1e6)
            return TAKEN

    good, down, silent = Fake(key="good"), Fake(DOWN, key="down"), Silent(key="silent")
    buggy = Fake(ZeroDivisionError("address with a secret"), key="buggy")
    box = opened(log, silent, down, buggy, good)
    add(log, text())

    async def run() -> tuple[float, list[str]]:
        notes = await box.deliver()
        return clock() - EPOCH, notes

    took, notes = run_virtual(run())
    assert module.PATIENCE == took
    assert [0.0] == good.at
    assert {"good": 0, "down": 1, "silent": 1, "buggy": 1} == {found.key: found.attempts for found in box.standings()}
    assert 4 == len(notes)
    assert any(note.startswith("buggy target: crashed: ZeroDivisionError; kept") for note in notes)
    box.close()


def test_a_target_says_when(log: SqliteLog) -> None:
    """Retry-After counts more than the usual pause."""
    target = Fake(Answer(False, "429 slowly", wait=4_000.0), TAKEN)
    box = opened(log, target)
    add(log, text())
    run_virtual(until_quiet(box))
    assert [0.0, 4_001.0] == target.at
    box.close()


def test_a_target_that_wants_no_more(log: SqliteLog) -> None:
    """It is left alone, which is said; after a restart it is asked once more, and misses nothing."""
    target = Fake(Answer(False, "410 gone", stop=True))
    box = opened(log, target)
    add(log, text(), text())
    assert ["fake target: wants no more (410 gone); not told any longer"] == run_virtual(until_quiet(box))
    add(log, text())
    assert [] == run_virtual(until_quiet(box))
    assert (1, math.inf) == (len(target.got), box.next_attempt())
    box.close()
    target.answers = [TAKEN]
    box = opened(log, target)
    run_virtual(box.deliver())
    assert [3, 4, 5] == target.accepted
    box.close()


def test_a_digest_comes_once_a_day(log: SqliteLog) -> None:
    """All that is new since the last in one, no more often than asked for, and never an empty one."""
    day = 24 * HOUR
    target = Fake(every=day, most=2)
    box = opened(log, target)

    async def week() -> None:
        for hour in range(7 * 24):
            if hour < 48:
                add(log, text(), None)
            await box.deliver()
            await asyncio.sleep(HOUR)
            if box.next_attempt() < clock() + HOUR:
                assert box.next_attempt() >= clock()

    run_virtual(week())
    # Hours 0 to 23 in the first, at 95 % of the day or later; then 23 to 46; then the rest.
    assert [23, 46, 69] == [round(at / HOUR) for at in target.at]
    assert [24, 23, 1] == [delivery.tally["changed"] for delivery in target.deliveries]
    assert [2, 2, 1] == [len(delivery.changes) for delivery in target.deliveries]
    box.close()


def test_a_digest_that_fails_stays_the_same(log: SqliteLog) -> None:
    """What comes while it is tried again waits for the next one; `next_attempt` tells of both."""
    target = Fake(DOWN, TAKEN, every=HOUR)
    box = opened(log, target)

    async def run() -> None:
        add(log, text())
        assert [] == await box.deliver()
        assert EPOCH + 0.95 * HOUR == box.next_attempt()
        await asyncio.sleep(0.95 * HOUR)
        await box.deliver()
        add(log, text())
        await until_quiet(box)

    run_virtual(run())
    assert [[3], [3], [4]] == [seqs for _, seqs in target.got]
    assert target.got[0] == target.got[1]
    assert 0.95 * HOUR + 1 == pytest.approx(target.at[2] - target.at[1])  # from when the first was taken
    box.close()


def test_only_what_is_wanted(log: SqliteLog) -> None:
    """Small changes are passed over, and not told later either."""
    target = Fake()
    box = opened(log, target, wanted=Wanted(at_least=0.5))
    add(log, text(0.1), text(0.9), text(0.1))
    run_virtual(box.deliver())
    assert ([[4]], 5) == ([seqs for _, seqs in target.got], kept(log).cursor)
    box.close()


def test_wishes_that_change_while_it_is_down(log: SqliteLog) -> None:
    """A delivery of which nothing is wanted any more is given up, and what comes after it goes out."""
    target = Fake(DOWN, TAKEN)
    box = opened(log, target)
    add(log, text(0.1))
    run_virtual(box.deliver())
    box.close()
    add(log, text(0.9))
    box = opened(log, target, wanted=Wanted(at_least=0.5))
    run_virtual(until_quiet(box), start=HOUR)
    assert [[3], [4]] == [seqs for _, seqs in target.got]
    box.close()


def test_long_logs_are_read_in_pieces(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others get their turn in between, and no change falls between two pieces."""
    monkeypatch.setattr(module, "WINDOW", 3)
    target = Fake(most=4)
    box = opened(log, target)
    for number in range(20):  # 3 to 22
        add(log, text() if number % 3 else None)
    run_virtual(box.deliver())
    expected = [number + 3 for number in range(20) if number % 3]
    assert expected == target.accepted
    assert [4, 4, 4, 1] == [len(seqs) for _, seqs in target.got]  # 13 changes
    box.close()


def test_a_log_that_lost_its_end(log: SqliteLog) -> None:
    """Restored from a backup, its numbers are given out again: the cursor does not run ahead of them."""
    target = Fake()
    box = opened(log, target)
    add(log, text(), text())
    run_virtual(box.deliver())
    box.close()
    log._db.execute("DELETE FROM event WHERE seq > 2")
    box = opened(log, target)
    log.append(look(VANISHED, at=START + 2 * HOUR))
    run_virtual(box.deliver())
    assert [[3, 4], [3]] == [seqs for _, seqs in target.got]
    assert 3 == len({told.id for delivery in target.deliveries for told in delivery.changes})
    box.close()


def test_a_clock_that_was_wrong(log: SqliteLog) -> None:
    """A next attempt in sixty days, kept while the clock was off, is brought back to a day."""
    target = Fake(DOWN)
    box = opened(log, target)
    add(log, text())
    run_virtual(box.deliver(), start=60 * 24 * HOUR)
    box.close()
    box = opened(log, target)
    assert EPOCH + 24 * HOUR == box.next_attempt()
    box.close()


def test_a_full_disk(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent that could not be kept; the error says what to do; with room again all goes on."""
    target = Fake()
    box = opened(log, target)
    add(log, text())
    real = box._db

    class Full:
        def execute(self, *words: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(box, "_db", Full())
    with pytest.raises(StoreError, match=r"told.sqlite: database or disk is full. Nothing is lost.* free some space"):
        run_virtual(box.deliver())
    assert [] == target.got
    monkeypatch.setattr(box, "_db", real)
    run_virtual(box.deliver())
    assert [3] == target.accepted
    assert 1 == len(target.got)
    box.close()


def test_a_disk_that_fills_while_sending(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was taken is not sent again by this process; by the next one under the same id."""
    target = Fake()
    box = opened(log, target)
    add(log, text())
    keep, broken = Outbox._keep, True

    def failing(self: Outbox, standing: Standing) -> None:
        with self._explaining():
            if broken and not standing.pending:
                raise sqlite3.OperationalError("database or disk is full")
        keep(self, standing)

    monkeypatch.setattr(Outbox, "_keep", failing)
    with pytest.raises(StoreError):
        run_virtual(box.deliver())
    assert 3 == kept(log).pending
    broken = False
    assert [] == run_virtual(box.deliver())
    assert 1 == len(target.got)
    box.close()
    box = opened(log, target)
    run_virtual(box.deliver())
    assert 1 == len(set(map(str, target.got)))
    box.close()


def test_really_full(log: SqliteLog, tmp_path: Path) -> None:
    """SQLite's own word for it is told with advice, too."""
    box = opened(log)
    pages = box._db.execute("PRAGMA page_count").fetchone()[0]
    box._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="free some space"):
        box._keep(Standing("key", "a name that fills several pages" * 1_000, 0))
    box.close()


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda path: path.write_bytes(b"not a database, but long enough to be taken for one" * 100), DamagedError),
        (lambda path: path.mkdir(), StoreError),
    ],
)
def test_a_file_that_is_none(spoil: Callable[[Path], object], error: type[Exception], log: SqliteLog) -> None:
    """Whatever stands in its place is told in a line."""
    spoil(log.path.with_name(NAME))
    with pytest.raises(error, match=r"told\.sqlite"):
        opened(log)


def test_a_file_of_another_version(log: SqliteLog) -> None:
    """It is not touched."""
    opened(log).close()
    db = sqlite3.connect(log.path.with_name(NAME))
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(DamagedError, match="format 99"):
        opened(log)


def test_a_file_that_someone_holds(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's lock is told as such."""
    box = opened(log, Fake())
    box._db.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(log.path.with_name(NAME), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    add(log, text())
    with pytest.raises(LockedError, match="held by another program"):
        run_virtual(box.deliver())
    other.close()
    box.close()


def test_over_http(log: SqliteLog) -> None:
    """A real target that fails twice: three requests, one id, the same bytes, each signed; then all is told."""
    seen: list[tuple[str, bytes, bool]] = []
    statuses = [500, 503, 200]
    moments = iter(range(0, 10_000_000, 100_000))

    async def receive(request: web.Request) -> web.Response:
        body = await request.read()
        signed = verify("pearl", request.headers["Lycosa-Signature"], body, float(now[0]))
        seen.append((request.headers["Lycosa-Delivery"], body, signed))
        return web.Response(status=statuses.pop(0))

    now = [START]

    def passing() -> float:
        return now[0]

    async def run() -> Sequence[str]:
        app = web.Application()
        app.router.add_post("/hook", receive)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        hook = Webhook(f"http://127.0.0.1:{runner.addresses[0][1]}/hook", "pearl")
        box = Outbox(log.path.with_name(NAME), log, [hook], passing)
        add(log, text(), VANISHED)
        notes = []
        while statuses:
            now[0] = START + next(moments)
            notes += await box.deliver()
        box.close()
        await runner.cleanup()
        return notes

    notes = asyncio.run(run())
    assert 3 == len(seen)
    assert 1 == len({(found, body) for found, body, _ in seen})
    assert all(signed for *_, signed in seen)
    assert [3, 4] == [change["seq"] for change in json.loads(seen[0][1])["changes"]]
    assert 3 == len(notes)
    assert notes[-1].endswith("/...: told of 1 changed, 1 vanished, at attempt 3")


TELLER = """
import asyncio, sys, time
from pathlib import Path
from lycosa.refresh.telling.outbox import NAME, Outbox
from lycosa.refresh.telling.webhook import Webhook
from lycosa.store.log import SqliteLog
log = SqliteLog(Path(sys.argv[1]), readonly=True)
hook = Webhook(sys.argv[2], "pearl")
hook.most = 3
box = Outbox(log.path.with_name(NAME), log, [hook], time.time)
asyncio.run(box.deliver())
"""


def test_kill_minus_nine(log: SqliteLog) -> None:
    """Killed as a request arrives, and killed as its answer leaves: each change is in one delivery, all in order."""
    got: list[tuple[str, list[int]]] = []
    process: list[subprocess.Popen[bytes]] = []
    kill_at = {2: "before", 4: "after"}  # by the number of the request
    killed = Event()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            got.append((body["id"], [change["seq"] for change in body["changes"]]))
            when = kill_at.get(len(got))
            if len(got) > max(kill_at):
                killed.wait(60)  # it may be quick enough to send one more
            if when == "before":
                process[-1].kill()
                return
            self.send_response(200)
            self.end_headers()
            if when == "after":
                process[-1].kill()
                killed.set()

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/hook"
        opened(log, Webhook(address, "pearl")).close()  # it starts here
        add(log, *[text()] * 10)  # 3 to 12
        ended: list[int] = []
        while not ended or (ended[-1] != 0 and len(ended) < 10):
            process.append(subprocess.Popen([sys.executable, "-c", TELLER, str(log.path), address]))
            ended.append(process[-1].wait(60))
        server.shutdown()
        thread.join()
    assert [-9, -9, 0] == ended
    assert [[3, 4, 5], [6, 7, 8], [9, 10, 11], [12]] == list(dict(got).values())
    assert (4, got[1]) == (len(set(map(str, got))), got[2])
