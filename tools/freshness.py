"""Write tables, verdicts and figures of a lab report into docs/freshness.md.

    python tools/freshness.py REPORT

REPORT is the output of `lycosa lab paper freshness --out REPORT`. Only the regions between `<!-- measured: NAME -->`
and `<!-- end -->` are replaced. NAME is

    summary, claims, made                the report's own words, and the command that makes it again
    freshness-schedules ...              a table by its key
    freshness-figure-allocation ...      a figure by its key, written to docs/freshness/

If docs/freshness.md is missing, it is created with all regions.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmark import REGION, claims, picture, table, when

DOCS = Path(__file__).resolve().parent.parent / "docs"
PICTURES = "freshness"


class Report:
    """A parsed report of the lab."""

    def __init__(self, place: Path) -> None:
        self.place = place / "freshness" if (place / "freshness" / "report.json").is_file() else place
        self.found = json.loads((self.place / "report.json").read_text(encoding="utf-8"))
        self.parts: dict[str, dict[str, Any]] = {part["key"]: part for part in self.found["parts"]}

    def region(self, key: str, docs: Path) -> str:
        """Return the content of a region."""
        if key == "summary":
            return str(self.found["summary"])
        if key in ("made", "claims"):
            return when(self.found) if key == "made" else claims(self.found)
        if key not in self.parts:
            raise SystemExit(f"the report has no {key}; it has {', '.join(self.parts)}")
        part = self.parts[key]
        if "rows" in part:
            return "\n".join([f"**{part['title']}**", "", *table(part["columns"], part["rows"]), "", part["note"]])
        name = f"{key.removeprefix('freshness-figure-')}.svg"
        (docs / PICTURES).mkdir(exist_ok=True)
        (docs / PICTURES / name).write_text(picture(part), encoding="utf-8")
        return f"![{part['title']}]({PICTURES}/{name})"


def main() -> None:
    report = Report(Path(sys.argv[1]))
    path = DOCS / "freshness.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else begun(report)
    path.write_text(filled(text, report, DOCS), encoding="utf-8")


def filled(text: str, report: Report, docs: Path) -> str:
    """Return the page with the content of its regions replaced."""

    def region(found: re.Match[str]) -> str:
        head, name, _, end = found.groups()
        return f"{head}\n{report.region(name, docs)}\n\n{end}"

    return REGION.sub(region, text)


def begun(report: Report) -> str:
    """Return a page with an empty region for each part of the report."""
    lines = ["# Freshness", ""]
    for name in ("summary", "claims", *report.parts, "made"):
        lines += [f"<!-- measured: {name} -->", "<!-- end -->", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
