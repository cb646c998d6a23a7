"""What the web process counts of its requests, and the text in which Prometheus reads it.

lycosa_requests_total{method="GET",route="/api/v1/interests",status="200"} 12
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0)
"""Seconds: the edges of the histogram."""

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Requests by route and status, how long they took, and how many are under way. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[tuple[str, str], list[int]] = {}
        self._seconds: Counter[tuple[str, str]] = Counter()
        self.in_flight = 0

    def begin(self) -> None:
        """A request came."""
        with self._lock:
            self.in_flight += 1

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """It was answered."""
        with self._lock:
            self.in_flight -= 1
            self._requests[method, route, status] += 1
            buckets = self._buckets.setdefault((method, route), [0] * (len(BOUNDS) + 1))
            buckets[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[method, route] += seconds  # type: ignore[assignment]  # a counter of seconds

    def text(self) -> str:
        """All of it."""
        with self._lock:
            requests, seconds = dict(self._requests), dict(self._seconds)
            buckets = {key: list(counts) for key, counts in self._buckets.items()}
            flying = self.in_flight
        counted = [
            ((("method", method), ("route", route), ("status", str(status))), count)
            for (method, route, status), count in requests.items()
        ]
        return (
            family("lycosa_requests_total", "counter", "Requests that were answered.", counted)
            + family("lycosa_requests_in_flight", "gauge", "Requests under way.", [((), flying)])
            + _histogram("lycosa_request_seconds", "How long requests took.", buckets, seconds)
        )


def family(name: str, kind: str, meaning: str, samples: Iterable[tuple[Labels, float]]) -> str:
    """One metric with its samples.

    >>> print(family("a_total", "counter", "As.", [((("of", "x"),), 2)]), end="")
    # HELP a_total As.
    # TYPE a_total counter
    a_total{of="x"} 2
    """
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    lines += [_sample(name, labels, value) for labels, value in samples]
    return "\n".join(lines) + "\n"


def _histogram(
    name: str, meaning: str, buckets: Mapping[tuple[str, str], list[int]], seconds: Mapping[tuple[str, str], float]
) -> str:
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} histogram"]
    for (method, route), counts in buckets.items():
        labels, total = (("method", method), ("route", route)), 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            total += count
            lines.append(_sample(f"{name}_bucket", (*labels, ("le", bound)), total))
        lines.append(_sample(f"{name}_sum", labels, seconds[method, route]))
        lines.append(_sample(f"{name}_count", labels, total))
    return "\n".join(lines) + "\n"


def _sample(name: str, labels: Labels, value: float) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    number = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{{{inner}}} {number}" if inner else f"{name} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
