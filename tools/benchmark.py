"""Write the results of `lycosa lab benchmark` into docs/benchmark.md.

    python tools/benchmark.py OUT

OUT is the directory of the run. Only the regions between `<!-- measured: NAME -->` and `<!-- end -->` are replaced.
NAME is `summary`, `claims`, `remarks`, `regions_by_name` (date and command), or the key of a table: `benchmark-cells`,
`benchmark-100`, `benchmark-webkb`. Regions without a table in the report are left alone.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from lycosa.drawing.figure import Curve, Figure
from lycosa.drawing.svg import svg
from lycosa_lab.report import BADGE

DOCS = Path(__file__).resolve().parent.parent / "docs"
REGION = re.compile(r"(<!-- measured: ([^\n]+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def regions(report: Path) -> dict[str, str]:
    """Return the content of each region by name."""
    found = json.loads((report / "report.json").read_text(encoding="utf-8"))
    regions_by_name = {
        "summary": found["summary"],
        "made": when(found),
        "claims": claims(found),
        "remarks": "\n".join(f"- {' '.join(line.split())}" for line in found["remarks"]) or "Nothing was left out.",
    }
    for part in found["parts"]:
        if part.get("columns"):
            rows = table(part["columns"], part["rows"])
            regions_by_name[part["key"]] = "\n".join([f"**{part['title']}**", "", *rows, "", part["note"]])
    return regions_by_name


def when(found: dict[str, Any]) -> str:
    """Return date and command of a report, without local paths."""
    named = " ".join(Path(word).name if "/" in word else word for word in found["command"].split())
    return f"*{found['made']}: `{named}`*"


def claims(found: dict[str, Any]) -> str:
    """Return the claims as a list with verdicts and evidence."""
    return "\n".join(
        f"- **{claim['verdict']}**: {claim['text'].rstrip('.')}. {' '.join(claim['evidence'].split())}"
        for claim in found["claims"]
    )


def picture(part: dict[str, Any]) -> str:
    """Return a figure of a report as SVG."""
    figure_fields = {item.name: part[item.name] for item in fields(Figure) if item.init and item.name in part}
    figure = Figure(**{**figure_fields, "curves": [Curve(**curve) for curve in part["curves"]]})
    figure.title += f", {BADGE}" if part["mode"] == "as-published" else ""
    return svg(figure, standalone=True)


def table(columns: list[str], rows: list[list[Any]]) -> list[str]:
    """Return a table in Markdown."""
    return [
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(_cell(value) for value in row)} |" for row in rows),
    ]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")


def filled(text: str, known: dict[str, str]) -> str:
    """Return the page with the content of its regions replaced."""
    return REGION.sub(lambda at: f"{at[1]}\n{known[at[2]]}\n\n{at[4]}" if at[2] in known else at[0], text)


def main() -> None:
    path = DOCS / "benchmark.md"
    path.write_text(filled(path.read_text(encoding="utf-8"), regions(Path(sys.argv[1]) / "report")), encoding="utf-8")


if __name__ == "__main__":
    main()
