"""A month in an hour: a server with ten people and a revisit crawl in simulated time, with kills and full disks.

    python benchmarks/soak.py [--days 30] [--seed 1] [--out DIR] [--figure docs/reliability/soak.svg]

Everything is drawn from the seed: people's actions, the web and its changes, dead hosts, DNS failures, kills and their
moments, full disks, clock changes. At the end all invariants are checked. See docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from soaking.checking import Checks
from soaking.journal import Journal
from soaking.people import CHEAP, PEOPLE, sign_up
from soaking.picture import draw
from soaking.spoiling import spoil
from soaking.stretch import Full, InlineLoop, Place, Plan, prepare, run_stretch
from soaking.world import DAY, HOUR, Wire, World

import lycosa
from lycosa.testweb.simulation import clock
from lycosa_server.app import create_app
from lycosa_server.people.database import Database

STRETCH = 14 * HOUR
"""Average lifetime of a process; less in a short run."""


def main() -> int:
    """Run the soak test; return 1 if a check fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=500, help="pages of the web (500)")
    parser.add_argument("--hosts", type=int, default=24)
    parser.add_argument("--load", type=float, default=1.0, help="scale of the crawls' budgets (1)")
    parser.add_argument("--out", type=Path, help="directory to keep; default: a temporary one")
    parser.add_argument("--prove", action="store_true", help="then damage everything, so that every check must fail")
    parser.add_argument("--figure", type=Path, help="file of the chart")
    given = parser.parse_args()
    begun = time.process_time()
    os.environ["LYCOSA_LOG"] = "quiet"
    root = given.out or Path(tempfile.mkdtemp(prefix="lycosa-soak-"))
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    try:
        failures = soak(root, given)
    finally:
        if given.out is None:
            shutil.rmtree(root, ignore_errors=True)
    children = os.times()
    spent = time.process_time() - begun + children.children_user + children.children_system
    print(f"{spent:.0f} s of CPU")
    return int(bool(failures))


def soak(root: Path, given: argparse.Namespace) -> int:
    """Run all stretches, then all checks; return the number of failures."""
    world = World(given.seed, given.pages, given.hosts)
    topic = max(world.topics, key=lambda name: sum(1 for _ in world.relevant(name)))
    place, journal = Place(root, seed=given.seed, topic=topic, load=given.load), Journal()
    prepare(place, world)
    with asyncio.Runner(loop_factory=InlineLoop) as runner:
        place.tokens = runner.run(people(place))
        runner.run(warm_up(place, world))
    place.interests = journal.interests
    chance = Random(given.seed)
    now = {"server": 0.0, "watch": 0.0}
    end = given.days * DAY
    while min(now.values()) < end:
        party = min(now, key=lambda name: now[name])
        plan = draw_plan(len(journal.plans), party, now[party], end, chance)
        run_plan(plan, place, world, journal)
        now[party] = plan.ended + chance.choice((0.2, 2.0, 30.0, HOUR * chance.random()))
    world.has_failures = False
    for party in now:  # without failures, so that all queued work is completed
        run_plan(Plan(len(journal.plans), party, now[party], now[party] + DAY / 4, idle=True), place, world, journal)
    checks = Checks(place, world, journal)
    failures = checks.run(replayed=len(checks.visits) if given.days >= 7 else 6)
    print_report(journal, checks, failures, end)
    if given.figure:
        given.figure.parent.mkdir(parents=True, exist_ok=True)
        given.figure.write_text(draw(journal, end), encoding="utf-8")
    if given.prove:
        spoil(checks)
        checks = Checks(place, world, journal)
        blind = [name for name, found in checks.run().items() if not found]
        print(f"damage not detected by: {', '.join(blind)}" if blind else "damage detected by every check")
        failures["damage is detected"] = blind
    return sum(map(len, failures.values()))


async def people(place: Place) -> list[str]:
    """Create ten accounts; return their tokens."""
    settings = place.settings
    settings.data.mkdir(parents=True)
    with closing(Database(settings.database_address)) as database:
        app = create_app(settings, database, clock=clock, passwords=CHEAP)
        return [await sign_up(app, settings.base, number) for number in range(PEOPLE)]


async def warm_up(place: Place, world: World) -> None:
    """Run a small crawl and delete it, so that everything loaded on first use is loaded in all processes."""
    Wire.report = staticmethod(lambda message: None)
    crawl = lycosa.crawl(
        world.query(place.topic), world.seeds(place.topic, 2), budget=5, clock=clock, allow_network=["127.0.0.0/8"]
    )
    async for _ in crawl:
        pass


def draw_plan(number: int, party: str, start: float, end: float, chance: Random) -> Plan:
    """Draw the events of the next stretch."""
    average = min(STRETCH, end / 9)
    length = min(max(HOUR / 2, chance.expovariate(1 / average)), 4 * DAY, max(HOUR / 2, end - start))
    plan = Plan(number, party, start, start + length)
    dice = chance.random()
    plan.death = "calls" if dice < 0.25 else "page" if dice < 0.6 else "write" if dice < 0.7 else ""
    plan.calls = int(10 ** chance.uniform(0, 5.3 if plan.death == "calls" else 4.3))
    if chance.random() < 0.25:
        plan.offset = chance.choice((-6, -1, -0.01, 0.01, 1, 6)) * HOUR
    if chance.random() < 0.25:
        plan.jump_at, plan.jump = start + length * chance.random(), chance.choice((-6, -0.1, 0.1, 6)) * HOUR
    if chance.random() < 0.3:
        when = start + length * chance.random()
        max_bytes = int(chance.choice((0, 10 ** chance.uniform(3, 6.5))))
        plan.full = Full(when, when + chance.uniform(60.0, 3 * HOUR), max_bytes, chance.random() < 0.5)
    return plan


def run_plan(plan: Plan, place: Place, world: World, journal: Journal) -> None:
    """Run one stretch in a process of its own, and record its messages in the journal."""
    journal.plans.append(plan)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            run_stretch(plan, place, world, write)
            code = 0
        except BaseException as error:
            trace = "".join(traceback.format_exception(error))[-3_000:]
            os.write(write, json.dumps(["broken", trace]).encode() + b"\n")
        finally:
            os._exit(code)
    os.close(write)
    plan.ended = plan.start
    with open(read, encoding="utf-8") as lines:
        for line in lines:
            journal.record(plan, json.loads(line))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) != bool(plan.death) and not journal.broken:
        journal.broken.append(f"stretch {plan.number} ended with {status}")
    if os.environ.get("SOAK_VERBOSE"):
        days = f"{plan.start / DAY:6.2f} to {plan.ended / DAY:6.2f}"
        how = f"{plan.death or 'stopped':8}{'full' if plan.full else '':5}"
        print(f"{plan.number:3} {plan.party:6} {days} {how}{len(journal.requests):7} requests", flush=True)


def print_report(journal: Journal, checks: Checks, failures: dict[str, list[str]], end: float) -> None:
    """Print the events and the results of the checks."""
    deaths = Counter(plan.death or "stopped" for plan in journal.plans)
    full = sum(plan.full is not None for plan in journal.plans)
    jumps = sum(bool(plan.offset) + bool(plan.jump) for plan in journal.plans)
    failed = sum(request.status == 0 for request in journal.requests)
    print(f"{end / DAY:.0f} days, {len(journal.plans)} processes: {dict(deaths)}")
    print(f"{full} full disks, {jumps} clock changes")
    print(f"{len(journal.requests):,} requests, {failed:,} without a response; API responses {dict(journal.responses)}")
    for party in ("server", "watch"):
        of = [sample for sample in journal.samples if sample.party == party]
        print(
            f"{party}: memory {max(s.memory for s in of) / 1e6:.0f} MB, handles {max(s.handles for s in of)}, threads "
            f"{max(s.threads for s in of)} at most; at the end logs {of[-1].log / 1e6:.1f} MB, "
            f"archives {of[-1].archive / 1e6:.1f} MB"
        )
    print(", ".join(f"{count:,} {what}" for what, count in checks.counts.items()))
    for name, found in failures.items():
        print(f"{'holds' if not found else f'BROKEN {len(found)} times'}: {name}")
        for one in found[:10]:
            print(f"    {one[:2_000]}")


if __name__ == "__main__":
    sys.exit(main())
