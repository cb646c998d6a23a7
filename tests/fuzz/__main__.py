"""`python -m fuzz`: run all or some targets; `python -m fuzz TARGET FILE...`: repeat failing inputs.

make fuzz                                 all targets, a minute of CPU time each
make fuzz FUZZ_SECONDS=600 FUZZ="html robots"
make fuzz FUZZ="html tests/fuzz/cases/html/1f0c..."
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from fuzz.harness import CASES, Found, fuzz, keep, tried
from fuzz.targets import TARGETS

MEMORY = 3 << 30
"""Limit of address space in bytes, so that a target that needs more fails and the machine does not."""


def main() -> int:
    """Run the requested targets; return 1 if any failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="targets, or one target and files to run again")
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds for each target (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (0: the day's)")
    parser.add_argument("--out", type=Path, default=CASES, help="where inputs that broke something are written")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    names = [name for name in asked.names if name in TARGETS]
    files = [Path(name) for name in asked.names if name not in TARGETS]
    if missing := [str(file) for file in files if not file.is_file()]:
        parser.error(f"no target and no file: {missing[0]}; targets are {', '.join(TARGETS)}")
    if files and len(names) != 1:
        parser.error("files are run by one target: name it first")
    broken = 0
    for file in files:
        failure, counting = tried(TARGETS[names[0]], file.read_bytes())
        print(f"{file}: {failure.told if failure else f'well, in {counting.count:,} lines'}")
        broken += failure is not None
    if files:
        return int(bool(broken))
    seed = asked.seed or int(time.time() // 86_400)
    for name in names or TARGETS:
        broken += run(name, seed, asked.seconds, asked.out)
    return int(bool(broken))


def run(name: str, seed: int, seconds: float, out: Path) -> int:
    """Run one target for some seconds of CPU time; return the number of failures."""
    target, until = TARGETS[name], time.process_time() + seconds

    def go_on(found: Found) -> bool:
        return time.process_time() < until

    found = fuzz(target, seed, go_on)
    print(
        f"{name:<12}{found.rounds:>9,} inputs {len(found.lines):>6,} lines reached; for a byte at most "
        f"{found.dearest:.1f} lines and {found.largest:,.0f} bytes of memory; {len(found.failures)} broken",
        flush=True,
    )
    for kind, (data, told) in found.failures.items():
        print(f"  {kind}: {len(data)} bytes, kept as {keep(target, data, out)}\n{told}", flush=True)
    return len(found.failures)


if __name__ == "__main__":
    sys.exit(main())
