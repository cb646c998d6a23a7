"""What the engine is told of a crawl that Scrapy drives: which requests wait, and which slots are busy.

Nothing of Scrapy is imported here: `lycosa show`, `why` and `judge` read such a crawl without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import DamagedError
from lycosa.core.frontier import HELD
from lycosa.core.protocols import NEVER, Space, TrapFilter
from lycosa.core.state import State, restore, state_of
from lycosa.core.table import Table
from lycosa.core.types import Held, Rows, Seed, Step, Visit

NAME = "lycosa_scrapy.space:ScrapySpace"  # as options spell it
REQUESTS = "requests"  # key of a visit's data: what a page brought
RELEVANCE = "relevance"  # what the spider said it was worth


class Form(NamedTuple):
    """What a request is beside its address: nearly all requests of a page have the same."""

    priority: int
    slot: str  # downloader slot, if the request names one
    packed: bytes  # empty: could not be kept


class Waiting(NamedTuple):
    """A request that waits."""

    form: Form
    url: str  # as the spider spelled it; empty: the node


class ScrapySpace(Space):
    """Requests by their nodes. Visits come from Scrapy: whoever drives it says which slots are busy."""

    driven = "Scrapy"
    has_traps = True

    def __init__(self) -> None:
        self.waiting: dict[str, Waiting] = {}
        self.busy: Callable[[str], bool] = lambda host_key: False  # a slot has as many requests as it takes
        self._forms: dict[Form, Form] = {}

    def host_key(self, node: str) -> str:
        """Its downloader slot: what the request names, or the host."""
        known = self.waiting.get(node)
        return known.form.slot if known is not None and known.form.slot else slot_of(node)

    def ready(self, host_key: str) -> tuple[float, str]:
        """Whether the slot takes one more; who drives it wakes the lane when it does again."""
        return (NEVER, "its slot is full") if self.busy(host_key) else (0.0, "")

    def start(self, seed: Seed) -> None:
        if REQUESTS in seed.data:
            self._wait_for(seed.data[REQUESTS])

    def learn(self, visit: Visit) -> None:
        """A request is done once its answer has been processed; what it brought waits from here on."""
        if not visit.retry_at:
            self.waiting.pop(visit.node, None)
        if REQUESTS in visit.data:
            self._wait_for(visit.data[REQUESTS])

    def _wait_for(self, told: Any) -> None:
        try:
            forms = [self._kept(Form(int(priority), str(slot), bytes(form))) for priority, slot, form in told["forms"]]
            for node, url, number in zip(told["nodes"], told["urls"], told["of"], strict=True):
                self.waiting[str(node)] = Waiting(forms[number], str(url))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise DamagedError(f"requests that the log keeps for Scrapy can't be read: {error}") from error

    def _kept(self, form: Form) -> Form:
        if len(self._forms) >= 10_000:
            self._forms.clear()
        return self._forms.setdefault(form, form)

    def trap_filter(self, trap_filter: TrapFilter) -> TrapFilter:
        """What the spider asks for is fetched at last, and in the order of its priorities."""
        return Priorities(trap_filter, self)

    def state(self) -> State:
        return told([(node, *waiting) for node, waiting in self.waiting.items()])

    def restore(self, state: State) -> None:
        self.waiting.clear()
        self._wait_for(state)


def told(requests: list[tuple[str, Form, str]]) -> dict[str, Any]:
    """Requests as an event keeps them, each with its node, its form and its address: forms once, columns for the rest.

    >>> told([("http://a/", Form(0, "", b""), ""), ("http://b/", Form(0, "", b""), "http://B")])["of"]
    [0, 0]
    """
    number: dict[Form, int] = {}
    of = [number.setdefault(form, len(number)) for _, form, _ in requests]
    return {
        "forms": [list(form) for form in number],
        "nodes": [node for node, _, _ in requests],
        "urls": [url for _, _, url in requests],
        "of": of,
    }


def slot_of(url: str) -> str:
    """The downloader slot of an address as Scrapy has it: the host's name.

    >>> slot_of("http://a.example:8080/x"), slot_of("data:,x")
    ('a.example', '')
    """
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Priorities(TrapFilter):
    """A warden's word, in a crawl where the spider has one, too.

    What the warden would shut is only held back: the spider has asked for it. A request with a priority below 0 is
    held back, one above 0 is in `high`, for whoever picks. The spider's word on a page's worth is final.
    """

    def __init__(self, trap_filter: TrapFilter, space: ScrapySpace) -> None:
        self.inner, self.space = trap_filter, space
        self.low: set[int] = set()
        self.high: dict[int, set[int]] = {}  # waiting rows by priority

    def recognise(self, visit: Visit, reading: Any) -> None:
        if visit.is_page and RELEVANCE in visit.data:
            visit.relevance = float(visit.data[RELEVANCE])
        self.inner.recognise(visit, reading)

    def learn(self, visit: Visit, step: Step | None, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """The levels that change by the visit, and by what its requests say."""
        rows, levels = self.inner.learn(visit, step, table)
        levels = np.minimum(levels, np.uint8(HELD))
        if step is not None and not visit.retry_at:
            self._forget(step.row)
        low = self._sorted(visit, table)
        if low or self.low:
            of_row = dict(zip(rows.tolist(), levels.tolist(), strict=True)) | dict.fromkeys(low, HELD)
            of_row |= {row: HELD for row in of_row if row in self.low}
            rows, levels = np.fromiter(of_row, np.intp), np.fromiter(of_row.values(), np.uint8)
        return rows, levels

    def _sorted(self, visit: Visit, table: Table) -> list[int]:
        """Sort the visit's requests by their priority; the rows of those below 0."""
        told = visit.data.get(REQUESTS)
        if told is None or not any(form[0] for form in told["forms"]):
            return []
        low = []
        for node, number in zip(told["nodes"], told["of"], strict=True):
            priority, row = told["forms"][number][0], table.row_of.get(node, -1)
            if row < 0 or not priority:
                continue
            if priority > 0:
                self.high.setdefault(priority, set()).add(row)
            else:
                self.low.add(row)
                low.append(row)
        return low

    def _forget(self, row: int) -> None:
        self.low.discard(row)
        for priority, rows in list(self.high.items()):
            rows.discard(row)
            if not rows:
                del self.high[priority]

    def state(self) -> State:
        high = [[priority, sorted(rows)] for priority, rows in sorted(self.high.items())]
        return {"inner": state_of(self.inner), "low": sorted(self.low), "high": high}

    def restore(self, state: State) -> None:
        restore(self.inner, state["inner"])
        self.low = set(state["low"])
        self.high = {priority: set(rows) for priority, rows in state["high"]}

    def held_back(self, table: Table) -> list[Held]:
        return self.inner.held_back(table)
