"""What happened, as seen from outside: every request and its answer, what people were told, how large things were."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from soaking.stretch import Plan


@dataclass(slots=True)
class Request:
    """One request, in simulated seconds."""

    crawl: str
    plan: Plan
    url: str
    sent: float
    done: float = -1.0
    """-1: its process died before."""
    status: int = -1
    """-1: broken off, 0: no answer."""
    digest: str = ""


@dataclass(slots=True)
class Sample:
    """How large everything was."""

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
    """All of it."""

    requests: list[Request] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    stopped: list[tuple[float, str]] = field(default_factory=list)
    """Crawls that a full disk has ended, and what they said."""
    stderr: list[str] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    """Of the API, by status."""
    interests: dict[str, int] = field(default_factory=dict)
    said: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """For each page of an interest what may be its label: the last acknowledged, and what was tried since."""
    dropped: set[str] = field(default_factory=set)
    _open: dict[tuple[int, int], Request] = field(default_factory=dict)

    def hear(self, plan: Plan, what: list[Any]) -> None:
        """One line of a process."""
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
