"""The space of a crawl that Scrapy drives: waiting requests and busy slots.

It does not import Scrapy, so that `lycosa show`, `why` and `judge` can read such a crawl without it.
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

NAME = "lycosa_scrapy.space:ScrapySpace"  # value of the option `space`
REQUESTS = "requests"  # key of a visit's data for the requests produced by the page
RELEVANCE = "relevance"  # relevance set by the spider


class Form(NamedTuple):
    """A request without its URL, as nearly all requests of a page are equal otherwise."""

    priority: int
    slot: str  # downloader slot, if set by the request
    packed: bytes  # empty if it could not be stored


class Waiting(NamedTuple):
    """A waiting request: its form and URL."""

    form: Form
    url: str  # as spelled by the spider; empty if equal to the node


class ScrapySpace(Space):
    """Space of Scrapy requests by node; Scrapy performs the visits, and its scheduler reports busy slots."""

    driven = "Scrapy"
    has_traps = True

    def __init__(self) -> None:
        self.waiting: dict[str, Waiting] = {}
        self.busy: Callable[[str], bool] = lambda host_key: False  # returns whether a slot is full
        self._forms: dict[Form, Form] = {}

    def host_key(self, node: str) -> str:
        """Return the downloader slot: the one set in the request, or the host."""
        known = self.waiting.get(node)
        return known.form.slot if known is not None and known.form.slot else slot_of(node)

    def ready(self, host_key: str) -> tuple[float, str]:
        """Return that the slot is ready, or full; the scheduler checks again when that changes."""
        return (NEVER, "its slot is full") if self.busy(host_key) else (0.0, "")

    def start(self, seed: Seed) -> None:
        if REQUESTS in seed.data:
            self._wait_for(seed.data[REQUESTS])

    def learn(self, visit: Visit) -> None:
        """Fold a visit into the state: its request is done, and the requests it produced are waiting."""
        if not visit.retry_at:
            self.waiting.pop(visit.node, None)
        if REQUESTS in visit.data:
            self._wait_for(visit.data[REQUESTS])

    def _wait_for(self, request_data: Any) -> None:
        try:
            forms = [
                self._kept(Form(int(priority), str(slot), bytes(form)))
                for priority, slot, form in request_data["forms"]
            ]
            for node, url, number in zip(request_data["nodes"], request_data["urls"], request_data["of"], strict=True):
                self.waiting[str(node)] = Waiting(forms[number], str(url))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise DamagedError(f"the Scrapy requests stored in the log can't be read: {error}") from error

    def _kept(self, form: Form) -> Form:
        if len(self._forms) >= 10_000:
            self._forms.clear()
        return self._forms.setdefault(form, form)

    def trap_filter(self, trap_filter: TrapFilter) -> TrapFilter:
        """Wrap the trap filter, so that requests of the spider are fetched eventually and by their priorities."""
        return Priorities(trap_filter, self)

    def state(self) -> State:
        return request_data([(node, *waiting) for node, waiting in self.waiting.items()])

    def restore(self, state: State) -> None:
        self.waiting.clear()
        self._wait_for(state)


def request_data(requests: list[tuple[str, Form, str]]) -> dict[str, Any]:
    """Return requests as event data: node, form and URL of each; distinct forms once, columns for the rest.

    >>> request_data([("http://a/", Form(0, "", b""), ""), ("http://b/", Form(0, "", b""), "http://B")])["of"]
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
    """Return the downloader slot of a URL as Scrapy computes it: the host name.

    >>> slot_of("http://a.example:8080/x"), slot_of("data:,x")
    ('a.example', '')
    """
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Priorities(TrapFilter):
    """Trap filter that respects the spider's priorities.

    Rows that the inner filter would shut are only held back, because the spider requested them. Requests with a
    priority below 0 are held back, those above 0 are in `high`. Relevances set by the spider are final.
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
        """Return the rows whose level changes by the visit or by its requests' priorities."""
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
        """Sort the visit's requests by priority; return the rows of those below 0."""
        request_data = visit.data.get(REQUESTS)
        if request_data is None or not any(form[0] for form in request_data["forms"]):
            return []
        low = []
        for node, number in zip(request_data["nodes"], request_data["of"], strict=True):
            priority, row = request_data["forms"][number][0], table.row_of.get(node, -1)
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
