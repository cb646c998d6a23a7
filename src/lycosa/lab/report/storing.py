"""Reports as JSON: what a rerun gives again to the byte is in report.json, all that differs is in times.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.files import read_whole
from lycosa.lab.findings import Claim, Curve, Figure, Findings, Table

FORMAT = 1
REPORT, TIMES = "report.json", "times.json"
LARGEST = 1 << 30


def plain(value: Any) -> Any:
    """A value as JSON knows it: no arrays, no sets, no numbers that are none.

    >>> import numpy as np
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


def load(path: Path) -> list[Findings]:
    """The findings of a report's directory (or of its report.json); what has times in it is left out."""
    file = path / REPORT if path.is_dir() else path
    try:
        report = json.loads(read_whole(file, LARGEST))
        if report.get("format") != FORMAT:
            raise InputError(f"{file} was written by another version of Lycosa: make that report again")
        return [_findings(one) for one in report["findings"]]
    except FileNotFoundError as error:
        raise InputError(f"{path} is not a report: there is no {REPORT} in it; name the directory of one") from error
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{file} is damaged or no report ({error}): make that report again") from error


def _findings(told: dict[str, Any]) -> Findings:
    parts: list[Table | Figure] = []
    for part in told["parts"]:
        values = {name: value for name, value in part.items() if name != "is"}
        if not isinstance(part["key"], str):
            raise TypeError(f"the key of a part is {part['key']!r}")
        if part["timed"]:
            continue
        if part["is"] == "figure":
            parts.append(Figure(**{**values, "curves": [_curve(curve) for curve in values["curves"]]}))
        else:
            parts.append(Table(**values))
    claims = [Claim(**claim) for claim in told["claims"]]
    return Findings(**{**told, "parts": parts, "claims": claims})


def _curve(told: dict[str, Any]) -> Curve:
    """A curve; what could not be stored as a number is none."""
    lines = {name: [math.nan if y is None else y for y in told[name]] for name in ("x", "y", "low", "high")}
    return Curve(**{**told, **lines})
