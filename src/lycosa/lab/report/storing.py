"""Reports as JSON: what a rerun gives again to the byte is in report.json, all that differs is in times.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from lycosa.lab.findings import Findings

FORMAT = 1
REPORT, TIMES = "report.json", "times.json"


def plain(value: Any) -> Any:
    """A value as JSON knows it: no arrays, no sets, no numbers that are none.

    >>> import numpy as np; from pathlib import Path
    >>> plain({"a": np.float32(0.5), 1: (np.int64(2), float("nan"), {"y", "x"}), "p": Path("x")})
    {'a': 0.5, '1': [2, None, ['x', 'y']], 'p': 'x'}
    """
    if value is None or type(value) in (str, bool, int):
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(held) for held in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(held) for held in value]
    return str(value)


def stored(findings: Sequence[Findings]) -> tuple[str, list[dict[str, Any]]]:
    """The text of report.json, and what has times in it: parts, which it names only, and claims, which it has not."""
    reports, timed = [], []
    for one in findings:
        values = plain(one.as_dict())
        kept = []
        for part in values["parts"]:
            if part["timed"]:
                timed.append({"of": one.key, **part})
                part = {name: part[name] for name in ("is", "key", "title", "mode", "timed")}
            kept.append(part)
        claims = [claim for claim in values["claims"] if not claim["timed"]]
        timed += [{"of": one.key, "is": "claim", **claim} for claim in values["claims"] if claim["timed"]]
        reports.append({**values, "parts": kept, "claims": claims})
    return dumped({"format": FORMAT, "findings": reports}), timed


def dumped(value: Any) -> str:
    """JSON that people can read, too."""
    return json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
