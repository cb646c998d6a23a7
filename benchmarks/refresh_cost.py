"""Cost of change detection: each detector on two versions of a page, and our diff of long texts compared with difflib.

    python benchmarks/refresh_cost.py

Printed is CPU time. Pages are from the embedded changing web; long texts consist of its words.
"""

from __future__ import annotations

import argparse
import difflib
import random
import time
from collections.abc import Callable

from lycosa.revisit.detectors import DEFAULT, DETECTORS, detector, judge_change
from lycosa.revisit.diff.aligned_rows import diff
from lycosa.revisit.snapshot import Snapshot
from lycosa.testweb.changing import START, ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa.web.inflate import inflate

DAY = 86_400.0


def timed(work: Callable[..., object], *given: object) -> float:
    """Return the milliseconds of a call."""
    before = time.process_time()
    work(*given)
    return 1000 * (time.process_time() - before)


def pairs(most: int = 60) -> list[tuple[Snapshot, Snapshot]]:
    """Return two versions of some pages, a week apart."""
    web = ChangingWeb(Web(pages=600, hosts=15, traps=()), lambda: START, seed=1)
    found = []
    for url in web.urls():
        bodies = []
        for at in (START, START + 7 * DAY):
            response = web.response_at(url, at)
            fields = {name.lower(): value for name, value in response.headers}
            bodies.append(inflate(response.body, fields.get("content-encoding", ""), 10**7)[0])
        if bodies[0] != bodies[1]:
            sides = [Snapshot.of(url, body, "text/html; charset=utf-8") for body in bodies]
            found.append((sides[0], sides[1]))
        if len(found) == most:
            break
    return found


def fresh(side: Snapshot) -> Snapshot:
    """Return a copy without cached results."""
    return Snapshot(side.url, side.body, side.content_type, side.title, side.text, side.links)


def edited(words: list[str], share: float) -> list[str]:
    """Return the words with a share of them replaced."""
    chance = random.Random(7)
    return [f"x{chance.random():.4f}" if chance.random() < share else word for word in words]


def text(words: list[str], a_line: int = 80) -> str:
    """Return words as lines."""
    return "\n".join(" ".join(words[at : at + a_line]) for at in range(0, len(words), a_line))


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    versions = pairs()
    size = sum(len(side.body) for pair in versions for side in pair) / (2 * len(versions))
    print(f"{len(versions)} pairs of pages, {size:,.0f} bytes each")
    for name in (*DETECTORS, "default"):
        compare, how = (judge_change, (DEFAULT,)) if name == "default" else (detector(name), ())
        spent = sum(timed(compare, fresh(old), fresh(new), *how) for old, new in versions)
        print(f"  {name:<10} {spent / len(versions):7.2f} ms")
    vocabulary = [f"word{number}" for number in range(20_000)]
    chance = random.Random(1)
    for count, share in ((2_000, 0.05), (20_000, 0.05), (160_000, 0.01), (160_000, 0.3), (160_000, 1.0)):
        old = [vocabulary[int(chance.paretovariate(0.7)) % len(vocabulary)] for _ in range(count)]
        new = edited(old, share)
        ours = timed(diff, text(old), text(new))
        line = f"{count:>7,} words, {share:.0%} replaced: {ours:8.1f} ms"
        if count <= 20_000:
            theirs = timed(difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes)
            line += f"; difflib {theirs:,.0f} ms, {theirs / ours:.0f} times as long"
        print(line)


if __name__ == "__main__":
    main()
