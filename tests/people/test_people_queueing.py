"""Who comes next: limits are kept, and nobody waits for ever."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.people.crawls import Waiting, choose, places

PEOPLE = "ABCDE"
LINES = st.lists(st.tuples(st.sampled_from(PEOPLE), st.integers(0, 20)), max_size=20).map(
    lambda told: [Waiting(f"c{number}", person, float(since)) for number, (person, since) in enumerate(told)]
)
RUNNING = st.dictionaries(st.sampled_from(PEOPLE), st.integers(0, 4), max_size=5)
LIMITS = st.tuples(st.integers(0, 12), st.integers(0, 4))


@settings(max_examples=50)
@given(LINES, RUNNING, LIMITS)
def test_limits_are_kept(line: list[Waiting], running: dict[str, int], limits: tuple[int, int]) -> None:
    """Nothing is started beyond the total or a person's share, and each crawl once."""
    total, per_person = limits
    chosen = choose(line, running, total, per_person)
    owner = {each.crawl: each.person for each in line}
    counts = Counter(running) + Counter(owner[crawl] for crawl in chosen)
    assert len(set(chosen)) == len(chosen)
    assert not chosen or counts.total() <= total
    assert all(counts[owner[crawl]] <= per_person for crawl in chosen)


@settings(max_examples=50)
@given(LINES, RUNNING, LIMITS)
def test_no_room_is_wasted(line: list[Waiting], running: dict[str, int], limits: tuple[int, int]) -> None:
    """Whoever still waits does so because all places are taken, or all of theirs."""
    total, per_person = limits
    chosen = set(choose(line, running, total, per_person))
    counts = Counter(running) + Counter(each.person for each in line if each.crawl in chosen)
    left = [each for each in line if each.crawl not in chosen]
    assert all(counts.total() >= total or counts[each.person] >= per_person for each in left)


@settings(max_examples=50)
@given(LINES, RUNNING, LIMITS)
def test_who_has_nothing_comes_first(line: list[Waiting], running: dict[str, int], limits: tuple[int, int]) -> None:
    """While someone waits who has less running, nobody with more is served; among equals, who waited longest is."""
    total, per_person = limits
    counts, left = Counter(running), list(line)
    by_name = {each.crawl: each for each in line}
    for crawl in choose(line, running, total, per_person):
        taken = by_name[crawl]
        allowed = [each for each in left if counts[each.person] < per_person]
        assert min((counts[each.person], each.since) for each in allowed) == (counts[taken.person], taken.since)
        left.remove(taken)
        counts[taken.person] += 1


@given(st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 3))
def test_everybody_is_served_in_the_end(arrivals: list[str], total: int, per_person: int) -> None:
    """With crawls that end one after the other, every crawl is started, once."""
    waiting = [Waiting(f"c{number}", person, float(number)) for number, person in enumerate(arrivals)]
    under_way: list[Waiting] = []
    served: list[str] = []
    for _ in range(len(arrivals) + 1):
        counts = Counter(each.person for each in under_way)
        started = choose(waiting, counts, total, per_person)
        served += started
        under_way += [each for each in waiting if each.crawl in started]
        waiting = [each for each in waiting if each.crawl not in started]
        del under_way[:1]  # the longest one ends
    assert [] == waiting
    assert len(arrivals) == len(set(served)) == len(served)


def test_places_are_the_order_of_the_queue() -> None:
    """The place in the queue counts people with less running first."""
    line = [Waiting("a1", "Ann", 1.0), Waiting("a2", "Ann", 2.0), Waiting("b1", "Bob", 3.0)]
    assert {"b1": 1, "a1": 2, "a2": 3} == places(line, {"Ann": 1})
