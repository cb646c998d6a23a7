"""What has happened to each page until a time, and what becomes of it: all that is drawn, nothing that is sent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .chance import roll, stir
from .change_process import MONTH, Edit, Process, draw_process, edits, picture_process
from .change_state import Birth, Block, State, Subject, apply
from .graph import Graph
from .prose import NOWHERE

NEVER = float("inf")
_TABLES, _PICTURES = 0.3, 0.08


@dataclass(frozen=True, slots=True)
class Life:
    """A page's fate, in days since the web began."""

    what: str = "stays"
    at: float = NEVER
    back: float = NEVER
    moves: tuple[tuple[float, int], ...] = ()  # when, and to which host

    def absent(self, at: float) -> bool:
        """Tell whether the page is nowhere to be found."""
        return self.what in ("gone", "soft-404", "returns") and self.at <= at < self.back


class History:
    """The past of all pages, computed when asked for; `t` is a time by the clock, `at` one in days.

    `begin` gives the paragraphs and the title that a page has at first; `soft` says which hosts never say 404.
    """

    def __init__(
        self,
        graph: Graph,
        key: int,
        chances: Mapping[str, float],
        fates: tuple[float, float],
        times: tuple[float, float],
        soft: list[bool],
        begin: Callable[[Subject], tuple[int, str]],
    ) -> None:
        self.graph, self.key, self.chances, self.soft, self.begin = graph, key, dict(chances), soft, begin
        self.fates, self.days = fates
        self.start, self.day = times
        self.process = lru_cache(maxsize=16_384)(self._draw_process)
        self.life = lru_cache(maxsize=16_384)(self._draw_life)
        self._month = lru_cache(maxsize=8_192)(self._draw_month)
        self._fold = lru_cache(maxsize=4_096)(self._fold_month)
        self._links = lru_cache(maxsize=1_024)(lambda page: frozenset(graph.links(page)))

    # -- what happened --------------------------------------------------------------------------------

    def edits(self, subject: Subject, t: float) -> list[Edit]:
        """List all that happened until a time, in order."""
        months = int((t - self.start) / self.day // MONTH) + 1
        made = [edit for month in range(months) for edit in self._month(subject, month)]
        return made[: bisect_right(made, t, key=lambda edit: self.when(edit.at))]

    def state(self, subject: Subject, t: float) -> State:
        """Give what the changes until a time have made of a page."""
        month = max(0, int((t - self.start) / self.day // MONTH))
        for earlier in range(0, month, 200):  # so that no recursion gets deep
            self._fold(subject, earlier, len(self._month(subject, earlier)))
        return self._fold(subject, month, bisect_right(self._month(subject, month), t, key=lambda e: self.when(e.at)))

    def births(self, subject: Subject, t: float) -> tuple[Birth, ...]:
        """List the pages that were born of a page until a time."""
        linked = subject.part == 0 and any(edit.how == "link" for edit in self.edits(subject, t))
        return self.state(subject, t).births if linked else ()

    def when(self, at: float) -> float:
        """Give the time by the clock of a time in days."""
        return self.start + at * self.day

    def minute(self, t: float) -> int:
        """Count the minutes since the beginning, of which a day has 1440 however long it is."""
        return int((t - self.start) / self.day * 1440 // 1)

    def origin(self, subject: Subject) -> float:
        """Say when a page was made, in days: at its birth, or some time before the web began."""
        return subject.born if subject.part > 0 else -1 - 300 * roll(self.key, "origin", *subject.key)

    def has_picture(self, page: int) -> bool:
        """Tell whether a clean page shows a picture."""
        return self.graph.topic(page) != NOWHERE and roll(self.key, "picture", page) < _PICTURES

    # -- drawing --------------------------------------------------------------------------------------

    def _draw_month(self, subject: Subject, month: int) -> tuple[Edit, ...]:
        made = edits(self.process(*subject.key), (self.key, *subject.key), month)
        life = self.life(subject.page) if subject.part == 0 else Life()
        return tuple(edit for edit in made if edit.at > subject.born and not life.absent(edit.at))

    def _fold_month(self, subject: Subject, month: int, count: int) -> State:
        """Give the state after so many edits of a month."""
        if month > 0:
            state = self._fold(subject, month - 1, len(self._month(subject, month - 1)))
        else:
            state = self._first_state(subject)
        for edit in self._month(subject, month)[:count]:
            state = apply(state, edit, subject, self.graph, self._links)
        return state

    def _first_state(self, subject: Subject) -> State:
        if subject.part < 0:
            return State(subject.topic, (), 0)
        count, title = self.begin(subject)
        blocks = tuple(Block(0, i, subject.topic) for i in range(count))
        table = (0,) * 4 if self._has_table(*subject.key) else ()
        return State(subject.topic, blocks, count, table, used=frozenset({title}))

    def _draw_process(self, page: int, part: int) -> Process:
        if part < 0:
            return picture_process((self.key, page))
        topical = part > 0 or self.graph.topic(page) != NOWHERE
        return draw_process((self.key, page, part), self.chances, topical, self._has_table(page, part))

    def _has_table(self, page: int, part: int) -> bool:
        return roll(self.key, "table", page, part) < _TABLES

    def _draw_life(self, page: int) -> Life:
        host = self.graph.section(page).host
        luck, kind = roll(self.key, "fate", page), roll(self.key, "which fate", page)
        if luck >= self.fates or page == self.graph.front(host):
            return Life()
        first = min(0.5, self.days / 2)
        at = first + (self.days - first) * roll(self.key, "when", page)
        later = at + 1 + 5 * roll(self.key, "later", page)
        if kind < 0.35:
            code = stir(self.key, "moves", page)
            other = code // 100 % self.graph.host_count if code % 4 == 0 else host
            again = ((later, host),) if code // 4 % 10 < 3 else ()
            return Life("moved", at, moves=((at, other), *again))
        if kind < 0.75:
            return Life("soft-404" if self.soft[host] else "gone", at)
        return Life("returns", at, later)
