"""What is due, host by host, the largest claim first; and what will be, by time.

A plan says when all pages are due. Until the next plan single pages come and go at the cost of a heap, so that a look
does not cost what all pages together do. Entries are lazy: one whose page is not due any more is dropped when it
surfaces.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray


class Agenda:
    """Pages by number. `lane` names the host of one, `due` says when it is due as far as is known now.

    >>> times = np.array([5.0, 1.0, 9.0, 2.0])
    >>> agenda = Agenda(lane=lambda page: "ab"[page % 2], due=times.item)
    >>> agenda.plan(times, np.array([0.1, 0.2, 0.3, 0.4]), now=5.0, horizon=100.0)
    >>> agenda.take(5.0, lambda lane: 0.0), agenda.take(5.0, lambda lane: 0.0 if lane == "a" else 6.0)
    (3, 0)
    >>> agenda.next, agenda.lanes(5.0)
    (9.0, ['b'])
    """

    def __init__(self, lane: Callable[[int], str], due: Callable[[int], float]) -> None:
        self.lane, self.due = lane, due
        self._queues: dict[str, list[tuple[float, int]]] = {}
        self._later: list[tuple[float, int]] = []

    def plan(self, due: NDArray[np.float64], claims: NDArray[np.float64], now: float, horizon: float) -> None:
        """Anew from when all pages are due and what a look at each would bring; beyond `horizon` nobody looks."""
        self._queues, self._later = {}, []
        ready = np.flatnonzero(due <= now)
        # What is wanted before everything else has the largest claim there is. A sorted list is a heap.
        claims = np.where(due[ready] == -np.inf, np.inf, claims[ready])
        order = np.lexsort((ready, -claims))
        for claim, number in zip(claims[order].tolist(), ready[order].tolist(), strict=True):
            self._queues.setdefault(self.lane(number), []).append((-claim, number))
        later = np.flatnonzero((due > now) & (due <= horizon))
        later = later[np.argsort(due[later], kind="stable")]
        self._later = list(zip(due[later].tolist(), later.tolist(), strict=True))

    def wait(self, number: int, due: float) -> None:
        """The page is due later."""
        heappush(self._later, (due, number))

    def put(self, number: int, claim: float) -> None:
        """The page is due."""
        heappush(self._queues.setdefault(self.lane(number), []), (-claim, number))

    def ripe(self, now: float) -> list[int]:
        """The pages that have become due since they were planned; whoever asks puts them."""
        found = []
        while self._later and self._later[0][0] <= now:
            _, number = heappop(self._later)
            if self.due(number) <= now:
                found.append(number)
        return found

    def lanes(self, now: float) -> list[str]:
        """The hosts with pages that are due."""
        for lane, queue in list(self._queues.items()):
            while queue and self.due(queue[0][1]) > now:
                heappop(queue)
            if not queue:
                del self._queues[lane]
        return list(self._queues)

    def take(self, now: float, ready: Callable[[str], float]) -> int:
        """The page with the largest claim of the hosts that are ready, or -1."""
        best: tuple[float, int] | None = None
        for lane in self.lanes(now):
            top = self._queues[lane][0]
            if (best is None or top < best) and ready(lane) <= now:
                best = top
        if best is None:
            return -1
        heappop(self._queues[self.lane(best[1])])
        return best[1]

    @property
    def next(self) -> float:
        """When the next page becomes due that is not yet."""
        return self._later[0][0] if self._later else np.inf
