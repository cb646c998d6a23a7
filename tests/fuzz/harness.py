"""Run targets on mutated inputs, guided by line coverage; measure work; minimise failures.

A *target* is a function of bytes that fails only if a property is violated: errors that a parser declares are caught
inside it. Work is measured in executed lines of our code and in allocated bytes instead of seconds; work of libraries
in C shows in their memory, and in CPU time far above that of any normal input.
"""

from __future__ import annotations

import hashlib
import sys
import time
import traceback
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import lycosa
from fuzz.mutating import mutated

OURS = str(Path(lycosa.__file__).parent)
CASES = Path(__file__).with_name("cases")
"""Inputs of earlier failures by target, which every test run repeats."""

SECONDS = 5.0
"""CPU time limit per input, including tracing: much more than any input needs, even on a slow machine."""

SOME = 200
"""Minimum bytes of an input whose cost per byte is compared."""

KEPT = 400
"""Number of inputs kept for further mutation: those that reached new lines."""


@dataclass(frozen=True)
class Target:
    """A parser with its seeds and limits."""

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]
    tokens: Sequence[bytes] = ()
    lines: int = 3_000
    """Maximum of executed lines of our code per input, plus `lines_a_byte` per byte."""
    lines_a_byte: float = 60.0
    """Additional executed lines per byte of input."""
    memory: int = 3_000_000
    """Maximum of bytes allocated at once, plus `memory_a_byte` per byte."""
    memory_a_byte: float = 400.0
    """Additional allocated bytes per byte of input."""
    rounds: int = 50
    """Number of mutated inputs in CI."""


@dataclass(frozen=True)
class Failure:
    """A failed input; two with the same `kind` have the same cause."""

    kind: str
    told: str


@dataclass
class Found:
    """Result of a run."""

    rounds: int = 0
    lines: set[tuple[str, int]] = field(default_factory=set)
    dearest: float = 0.0
    """Largest number of lines per byte, over inputs of some size."""
    largest: float = 0.0
    """Largest number of bytes of memory per byte."""
    failures: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    """The smallest input of each kind of failure, and its message."""


class Counting:
    """Context manager that records the executed lines of our code."""

    def __init__(self) -> None:
        self.count = 0
        self.memory = 0
        self.seen: set[tuple[str, int]] = set()

    def __enter__(self) -> Counting:
        self._before = sys.gettrace()
        tracemalloc.start()
        sys.settrace(self._call)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.settrace(self._before)
        self.memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(OURS):
            return None
        seen = self.seen

        def line(frame: FrameType, event: str, argument: object) -> Any:
            if event == "line":
                self.count += 1
                seen.add((name, frame.f_lineno))
            return line

        return line


def tried(target: Target, data: bytes) -> tuple[Failure | None, Counting]:
    """Run one input and measure its cost."""
    counting, failure = Counting(), None
    begun = time.thread_time()
    try:
        with counting:
            target.check(data)
    except Exception as error:
        failure = _failure(error)
    spent = time.thread_time() - begun
    allowed = target.lines + target.lines_a_byte * len(data)
    if failure is None and counting.count > allowed:
        failure = Failure("work", f"{counting.count:,} lines for {len(data):,} bytes: {allowed:,.0f} are allowed")
    room = target.memory + target.memory_a_byte * len(data)
    if failure is None and counting.memory > room:
        failure = Failure("memory", f"{counting.memory:,} bytes for {len(data):,}: {room:,.0f} are allowed")
    if failure is None and spent > SECONDS:
        failure = Failure("time", f"{spent:.1f} s of CPU for {len(data):,} bytes")
    return failure, counting


def _failure(error: BaseException) -> Failure:
    """Describe an error by its type and its last frame in our code or in the target."""
    frames = traceback.extract_tb(error.__traceback__)
    here = str(Path(__file__).parent)
    ours = [frame for frame in frames if frame.filename.startswith((OURS, here)) and frame.filename != __file__]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "?"
    told = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-12))
    return Failure(f"{type(error).__name__} in {place}", told)


def fuzz(target: Target, seed: int, go_on: Callable[[Found], bool]) -> Found:
    """Run mutated inputs until `go_on` returns false, then minimise failures."""
    chance, found = Random(f"{target.name} {seed}"), Found()
    seeds = list(target.seeds())
    tried(target, seeds[0])  # imports and caches of the first run are not counted
    corpus: list[bytes] = []
    steepest = [b"", b""]
    fresh = iter(seeds)
    while go_on(found):
        data = next(fresh, None)
        if data is None:
            start = chance.choice(steepest) if chance.random() < 0.15 else b""
            start = start or chance.choice(corpus or seeds)
            data = mutated(start, seeds, target.tokens, chance)
        failure, counting = tried(target, data)
        found.rounds += 1
        if failure is not None:
            kept = found.failures.get(failure.kind)
            if kept is None or len(data) < len(kept[0]):
                found.failures[failure.kind] = data, failure.told
            continue
        if len(data) >= SOME and counting.count > found.dearest * len(data):
            found.dearest, steepest[0] = counting.count / len(data), data
        if len(data) >= SOME and counting.memory > found.largest * len(data):
            found.largest, steepest[1] = counting.memory / len(data), data
        if counting.seen - found.lines or found.rounds <= len(seeds):
            found.lines |= counting.seen
            corpus.append(data)
            if len(corpus) > KEPT:
                corpus.pop(chance.randrange(len(corpus)))
    for kind, (data, _) in list(found.failures.items()):
        small = minimised(target, data, kind)
        failure, _ = tried(target, small)
        found.failures[kind] = small, failure.told if failure is not None else "(not again)"
    return found


def minimised(target: Target, data: bytes, kind: str, tries: int = 400) -> bytes:
    """Return a smaller input that fails in the same way, by removing pieces, large ones first."""
    size = len(data) // 2
    while size and tries > 0:
        for start in range(0, len(data), size):
            candidate = data[:start] + data[start + size :]
            tries -= 1
            failure, _ = tried(target, candidate)
            if failure is not None and failure.kind == kind:
                data = candidate
                break
            if tries <= 0:
                break
        else:
            size //= 2
    return data


def keep(target: Target, data: bytes, directory: Path) -> Path:
    """Write an input to a file that can be run again."""
    file = directory / target.name / hashlib.sha256(data).hexdigest()[:12]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def cases(target: Target) -> Iterator[Path]:
    """Return the inputs of earlier failures."""
    return iter(sorted((CASES / target.name).glob("*")))
