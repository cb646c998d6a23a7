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
    """-1: its process was killed before the response."""
    status: int = -1
    """-1: aborted; 0: no response."""
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
    answers: Counter[int] = field(default_factory=Counter)
    """Responses of the API by status."""
    interests: dict[str, int] = field(default_factory=dict)
    said: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Possible labels of each page of an interest: the last acknowledged one, and those attempted since."""
    dropped: set[str] = field(default_factory=set)
    _open: dict[tuple[int, int], Request] = field(default_factory=dict)

    def hear(self, plan: Plan, what: list[Any]) -> None:
        """Record one message of a process."""
        match what:
            case ["sent", number, crawl, url, at]:
                made = self._open[plan.number, number] = Request(crawl, plan, url, at)
                self.requests.append(made)
            case ["done", number, at, status, digest]:
                made = self._open.pop((plan.number, number))
                made.done, made.status, made.digest = at, status, digest
            case ["sample", *told]:
                self.samples.append(Sample(*told))
            case ["broken", why]:
                self.broken.append(f"stretch {plan.number}: {why}")
            case ["stopped", at, why]:
                self.stopped.append((at, why))
            case ["stderr", line]:
                self.stderr.append(line)
            case ["api", status]:
                self.answers[status] += 1
            case ["interest", key, person]:
                self.interests[key] = person
            case ["says", interest, url, label]:
                self.said.setdefault((interest, url), [""]).append(label)
            case ["said", interest, url, label]:
                self.said[interest, url] = [label]
            case ["drops", interest]:
                self.dropped.add(interest)
                self.interests.pop(interest, None)
            case ["died" | "ended", at]:
                plan.ended = at
            case _:
                raise ValueError(what)
