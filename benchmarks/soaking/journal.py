"""Observations from outside: requests and responses, acknowledgements to people, and resource use."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from soaking.stretch import Plan


@dataclass(slots=True)
class Request:
    """A request; times are simulated seconds."""

    crawl: str
    plan: Plan
    url: str
    sent: float
    done: float = -1.0
    """-1 if its process was killed before the response."""
    status: int = -1
    """-1 if aborted, 0 without a response."""
    digest: str = ""


@dataclass(slots=True)
class Sample:
    """Resource use at one time."""

    party: str
    plan: int
    at: float
    memory: int
    handles: int
    threads: int
    tasks: int
    log: int
    archive: int
    people: int


@dataclass
class Journal:
    """All observations of a soak test."""

    requests: list[Request] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    stopped: list[tuple[float, str]] = field(default_factory=list)
    """Crawls ended by a full disk, with their messages."""
    stderr: list[str] = field(default_factory=list)
    responses: Counter[int] = field(default_factory=Counter)
    """Responses of the API by status."""
    interests: dict[str, int] = field(default_factory=dict)
    labels: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Possible labels of each page of an interest: the last acknowledged one, and those attempted since."""
    deleted: set[str] = field(default_factory=set)
    _open: dict[tuple[int, int], Request] = field(default_factory=dict)

    def record(self, plan: Plan, message: list[Any]) -> None:
        """Record one message of a process."""
        match message:
            case ["sent", number, crawl, url, at]:
                request = self._open[plan.number, number] = Request(crawl, plan, url, at)
                self.requests.append(request)
            case ["done", number, at, status, digest]:
                request = self._open.pop((plan.number, number))
                request.done, request.status, request.digest = at, status, digest
            case ["sample", *values]:
                self.samples.append(Sample(*values))
            case ["broken", why]:
                self.broken.append(f"stretch {plan.number}: {why}")
            case ["stopped", at, why]:
                self.stopped.append((at, why))
            case ["stderr", line]:
                self.stderr.append(line)
            case ["api", status]:
                self.responses[status] += 1
            case ["interest", key, person]:
                self.interests[key] = person
            case ["labelling", interest, url, label]:
                self.labels.setdefault((interest, url), [""]).append(label)
            case ["labelled", interest, url, label]:
                self.labels[interest, url] = [label]
            case ["deleting", interest]:
                self.deleted.add(interest)
                self.interests.pop(interest, None)
            case ["died" | "ended", at]:
                plan.ended = at
            case _:
                raise ValueError(message)
