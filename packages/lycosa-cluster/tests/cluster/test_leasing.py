"""Leases of request times at shared addresses."""

from __future__ import annotations

from lycosa.testweb.simulation import ADDRESS
from lycosa_cluster.leasing import Leases, Ledger
from lycosa_cluster.owning import Owners


def test_leases_of_address_are_consecutive() -> None:
    now = [100.0]
    owners, leases = Owners(4), list[Leases]()
    leases += [Leases(number, owners, lambda: now[0], Ledger(0.25)) for number in range(4)]
    owner = owners.of(ADDRESS)
    boss, (one, two, three) = leases[owner], [leases[number] for number in range(4) if number != owner]

    def ask(who: Leases, *, answered: bool = True) -> float:
        at, latest, _ = who.turn(ADDRESS, now[0], "request")
        if latest < 0 and who is not boss:
            wants = who.take_requests(owner)
            who.handle_response(owner, wants, boss.lease(who.number, wants) if answered else [], now[0])
            at, latest, _ = who.turn(ADDRESS, now[0], "request")
        return round(at - now[0], 3) if latest > 0 else -1.0

    assert ask(one) == -1.0, "the owner has no lease itself"
    boss.until = 110.0
    assert ask(boss) == 0.0
    assert ask(one) == 0.3
    assert ask(two) == 0.6
    assert one.ready(ADDRESS, 0.0) == 100.3
    now[0] = 105.0
    assert ask(one) == 0.0, "a new span"
    assert [ask(two), ask(three)] == [0.3, 0.6]
    now[0] = 109.97
    assert ask(boss) == -1.0, "nothing is leased beyond"
    boss.over = True
    assert ask(boss) == 0.0, "but what is in flight at the end of a crawl is sent"
    boss.over = False
    now[0], boss.until = 200.0, 210.0
    assert ask(one) == 0.0
    now[0] = 202.0
    assert ask(one) == 0.0, "alone: as long as the owner's lease"
    now[0] = 209.7
    assert ask(one) == 0.0
    assert ask(two) == -1.0
    now[0] = 300.0
    for seconds in (0.0, 5.0, 10.2):
        now[0] = 300.0 + seconds
        assert ask(three, answered=False) == -1.0, "the owner is dead: what it leased may be in use"
    assert three.turn(ADDRESS, now[0], "request")[1] < 0
    now[0] = 310.25
    assert ask(three, answered=False) == 0.0
    assert three.turn(ADDRESS, now[0], "request")[2] == 4 * 0.25
    for request in ("a", "b"):
        one.turn(ADDRESS, now[0], request)
    assert one.ready(ADDRESS, now[0]) > now[0], "two requests wait already"
    now[0] = 320.0
    assert one.ready(ADDRESS, now[0]) == now[0], "whoever has gone does not count"


def test_ledger_is_shared_by_crawls_of_one_process() -> None:
    now, owners = [100.0], Owners(4)
    ledgers = [Ledger(created=100.0) for _ in range(4)]
    crawls = [[Leases(number, owners, lambda: now[0], ledgers[number]) for number in range(4)] for _ in range(2)]
    owner = owners.of(ADDRESS)
    one, two = [number for number in range(4) if number != owner][:2]
    for leases, free_from in zip(crawls, (0.0, 500.0), strict=True):
        leases[owner].until = 120.0
        for each in leases:
            each.ledger.open(0.25, free_from)

    def ask(leases: list[Leases], number: int) -> tuple[float, float]:
        wants = [(ADDRESS, 1, 0.05)]
        ((wait, seconds),) = leases[owner].lease(number, wants)
        return round(now[0] + wait, 3), round(now[0] + wait + seconds, 3)

    first, other = crawls
    assert ask(first, one) == (110.25, 110.55), "leases from before the process began have run out then"
    now[0] = 111.0
    assert ask(first, one) == (111.0, 120.25), "alone"
    assert ask(other, one) == (111.0, 120.25), "the same process: its crawls take turns there"
    assert ask(other, two)[1] == 111.0, "another one waits"
    now[0], other[owner].until = 120.3, 130.0
    assert ask(other, two) == (120.3, 120.6)
