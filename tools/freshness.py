"""Write what was measured into docs/freshness.md: tables, verdicts and pictures, from a report of the lab.

    python tools/freshness.py REPORT

REPORT is what `lycosa lab paper freshness --out REPORT` wrote. Only what stands between `<!-- measured: NAME -->` and
`<!-- end -->` is replaced, all other text is left as it is. NAME is

    summary, claims, made                the report's own words, and the command that makes it again
    freshness-schedules ...              a table by its key
    freshness-figure-allocation ...      a figure by its key; its picture is copied to docs/freshness/

Without docs/freshness.md one is begun, with all there is.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmark import REGION, table

DOCS = Path(__file__).resolve().parent.parent / "docs"
PICTURES = "freshness"


class Report:
    """A report of the lab, read."""

    def __init__(self, place: Path) -> None:
        self.place = place / "freshness" if (place / "freshness" / "report.json").is_file() else place
        (self.found,) = json.loads((self.place / "report.json").read_text(encoding="utf-8"))["findings"]
        self.told = json.loads((self.place / "times.json").read_text(encoding="utf-8"))
        timed = {part["key"]: part for part in _parts_in(self.told)}
        self.parts: dict[str, dict[str, Any]] = {
            part["key"]: timed.get(part["key"], part) for part in self.found["parts"]
        }

    def region(self, key: str, docs: Path) -> str:
        """What stands in a region."""
        if key == "summary":
            return str(self.found["summary"])
        if key == "made":
            named = " ".join(Path(word).name if "/" in word else word for word in self.told["command"].split())
            return f"*{self.told['made']}: `{named}`*"  # not where it was on this machine
        if key == "claims":
            return "\n".join(
                f"- **{claim['verdict']}**: {claim['text'].rstrip('.')}. {' '.join(claim['evidence'].split())}"
                for claim in self.found["claims"]
            )
        if key not in self.parts:
            raise SystemExit(f"the report has no {key}; it has {', '.join(self.parts)}")
        part = self.parts[key]
        if "rows" in part:
            return "\n".join([f"**{part['title']}**", "", *table(part["columns"], part["rows"]), "", part["note"]])
        name = f"{key.removeprefix('freshness-figure-')}.svg"
        (docs / PICTURES).mkdir(exist_ok=True)
        shutil.copy(self.place / "figures" / f"{key}.svg", docs / PICTURES / name)
        return f"![{part['title']}]({PICTURES}/{name})"


def main() -> None:
    """Write the page."""
    report = Report(Path(sys.argv[1]))
    path = DOCS / "freshness.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else begun(report)
    path.write_text(filled(text, report, DOCS), encoding="utf-8")


def filled(text: str, report: Report, docs: Path) -> str:
    """The page with what was measured in its regions."""

    def region(found: re.Match[str]) -> str:
        head, name, _, end = found.groups()
        return f"{head}\n{report.region(name, docs)}\n\n{end}"

    return REGION.sub(region, text)


def begun(report: Report) -> str:
    """A page of empty regions, all in the order of the report."""
    lines = ["# Freshness", ""]
    for name in ("summary", "claims", *report.parts, "made"):
        lines += [f"<!-- measured: {name} -->", "<!-- end -->", ""]
    return "\n".join(lines)


def _parts_in(told: Any) -> list[dict[str, Any]]:
    """The parts that were timed, wherever they stand."""
    if isinstance(told, dict):
        own = [told] if "key" in told and ("rows" in told or "curves" in told) else []
        return own + [part for value in told.values() for part in _parts_in(value)]
    return [part for value in told for part in _parts_in(value)] if isinstance(told, list) else []


if __name__ == "__main__":
    main()
