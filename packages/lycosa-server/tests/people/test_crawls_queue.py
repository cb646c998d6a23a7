"""The choice of queued crawls to start: limits and fairness."""

from collections import Counter
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa_server.people import crawls
from lycosa_server.people.crawls import crawls_to_start
from lycosa_server.people.database import Database, Row
from people_maker import interest, person

PEOPLE = "ABCDE"
Running: TypeAlias = dict[str, int]
Limits: TypeAlias = tuple[int, int]


def queued(crawl: str, person: str, since: float) -> Row:
    return {"id": crawl, "owner": person, "queued": since, "state": "queued"}


def running_of(running: dict[str, int]) -> list[Row]:
    return [{"id": "", "owner": person, "state": "running"} for person, many in running.items() for _ in range(many)]


QUEUES = st.lists(st.tuples(st.sampled_from(PEOPLE), st.integers(0, 20)), max_size=20).map(
    lambda pairs: [queued(f"c{number}", person, since) for number, (person, since) in enumerate(pairs)]
)
RUNNING = st.dictionaries(st.sampled_from(PEOPLE), st.integers(0, 4), max_size=5)
LIMITS = st.tuples(st.integers(0, 12), st.integers(0, 4))


@settings(max_examples=50)
@given(QUEUES, RUNNING, LIMITS)
def test_crawls_to_start_respects_limits(rows: list[Row], running: Running, limits: Limits) -> None:
    total, per_person = limits
    chosen = crawls_to_start([*rows, *running_of(running)], total, per_person)
    owner = {each["id"]: each["owner"] for each in rows}
    counts = Counter(running) + Counter(owner[crawl] for crawl in chosen)
    assert len(set(chosen)) == len(chosen)
    assert not chosen or counts.total() <= total
    assert all(counts[owner[crawl]] <= per_person for crawl in chosen)


@settings(max_examples=50)
@given(QUEUES, RUNNING, LIMITS)
def test_crawls_to_start_uses_all_free_places(rows: list[Row], running: Running, limits: Limits) -> None:
    total, per_person = limits
    chosen = set(crawls_to_start([*rows, *running_of(running)], total, per_person))
    counts = Counter(running) + Counter(each["owner"] for each in rows if each["id"] in chosen)
    left = [each for each in rows if each["id"] not in chosen]
    assert all(counts.total() >= total or counts[each["owner"]] >= per_person for each in left)


@settings(max_examples=50)
@given(QUEUES, RUNNING, LIMITS)
def test_crawls_to_start_prefers_people_with_fewer_running(rows: list[Row], running: Running, limits: Limits) -> None:
    total, per_person = limits
    counts, left = Counter(running), list(rows)
    by_name = {each["id"]: each for each in rows}
    for crawl in crawls_to_start([*rows, *running_of(running)], total, per_person):
        taken = by_name[crawl]
        allowed = [each for each in left if counts[each["owner"]] < per_person]
        assert min((counts[each["owner"]], each["queued"]) for each in allowed) == (
            counts[taken["owner"]],
            taken["queued"],
        )
        left.remove(taken)
        counts[taken["owner"]] += 1


@given(st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 3))
def test_crawls_to_start_starves_no_one(arrivals: list[str], total: int, per_person: int) -> None:
    waiting = [queued(f"c{number}", person, number) for number, person in enumerate(arrivals)]
    under_way: list[Row] = []
    served: list[str] = []
    for _ in range(len(arrivals) + 1):
        counts = Counter(each["owner"] for each in under_way)
        started = crawls_to_start([*waiting, *running_of(counts)], total, per_person)
        served += started
        under_way += [each for each in waiting if each["id"] in started]
        waiting = [each for each in waiting if each["id"] not in started]
        del under_way[:1]  # the longest-running one ends
    assert [] == waiting
    assert len(arrivals) == len(set(served)) == len(served)


def test_queue_positions_follow_order_of_starts(database: Database) -> None:
    made = {}
    for at, (who, name) in enumerate([("Ann", "runs"), ("Ann", "a1"), ("Ann", "a2"), ("Bob", "b1")]):
        owner = database.row("SELECT id FROM person WHERE name = :who", who=who)
        made[name] = crawls.create(
            database, at, interest(database, owner["id"] if owner else person(database, who)), 9
        )["id"]
    crawls.take(database, 5.0, made["runs"])
    assert {made["b1"]: 1, made["a1"]: 2, made["a2"]: 3} == crawls.queue_positions(database)
