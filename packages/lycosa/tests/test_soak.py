"""One simulated day of `benchmarks/soak.py`: a server with ten people, and a watch with failures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from places import ROOT


def test_soak_day_succeeds(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/soak.py", "--days", "1", "--load", "0.1", "--seed", "19", "--prove"]
    command += ["--out", str(tmp_path / "soak"), "--figure", str(tmp_path / "soak.svg")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert 0 == ended.returncode, ended.stdout[-6_000:] + ended.stderr[-3_000:]
    assert "damage detected by every check" in ended.stdout
    assert 12 == ended.stdout.count("\nholds: ")
    for what, minimum in (("pages", 50), ("requests recorded", 300), ("delays", 250), ("records", 200), ("labels", 3)):
        found = re.search(rf"([\d,]+) {what}\b", ended.stdout)
        assert found is not None, what
        assert int(found[1].replace(",", "")) >= minimum, f"too few {what} to prove anything: {found[1]}"
    for event in ("'calls'", "'page'", "'write'", "full disks", "clock changes"):
        assert event in ended.stdout
    assert (tmp_path / "soak.svg").read_text().startswith("<svg")
