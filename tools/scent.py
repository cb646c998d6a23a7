"""Write what was measured into docs/scent.md: tables, verdicts and pictures, from reports of the lab.

    python tools/scent.py Wikispeedia=REPORT WebKB=REPORT

REPORT is what `lycosa lab paper scent --out REPORT` wrote. Only what stands between `<!-- measured: NAME -->` and
`<!-- end -->` is replaced, all other text is left as it is. NAME is `cells` (all corpora in one table), or a corpus and

    summary, claims, remarks, made       the report's own words, and the command that makes it again
    scent-ablation, scent-worst ...      a table of the report by its key
    scent-figure-share-query-on ...      a figure by its key; its picture is copied to docs/scent/

A region of a corpus that is not named on the command line stays. Without docs/scent.md one is begun.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
REGION = re.compile(r"(<!-- measured: ([^\n]+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
CELLS = {
    "told, seeds": "told, seeds", "pages": "pages", "floor": "floor", "scent": "scent", "best published": "published",
    "its share": "its share", "scent less best": "difference", "oracle of reachable": "oracle / reachable",
    "scent of reachable": "scent / reachable",
}  # fmt: skip
"""Columns of the table of all corpora, and what they are called there."""

GEOMETRIC = {"scent": "scent, geometric", "its share": "its share, geometric"}
CORPORA = ("Wikispeedia", "WebKB")
OUTLINE = {
    "What it reaches": ["cells"],
    "On Wikispeedia": ["Wikispeedia summary", "Wikispeedia claims"],
    "On WebKB": ["WebKB summary", "WebKB claims"],
    "What each term is worth": [
        f"{corpus} scent-{key}" for key in ("ablation", "figure-ablation") for corpus in CORPORA
    ],
    "How it learns": [
        f"{corpus} scent-figure-{key}-query-{seeds}"
        for corpus in CORPORA
        for key in ("share", "harvest")
        for seeds in ("on", "off")
    ],
    "Where it fails": [f"{corpus} scent-worst" for corpus in CORPORA],
    "All strategies": [f"{corpus} scent-all" for corpus in CORPORA],
    "Topic by topic": [f"{corpus} scent-topics" for corpus in CORPORA],
    "When": [f"{corpus} made" for corpus in CORPORA],
}  # fmt: skip
"""Headings of a page that is begun, and what is measured under each."""


class Report:
    """A report of the lab, read."""

    def __init__(self, corpus: str, place: Path) -> None:
        self.corpus = corpus
        self.place = place / "scent" if (place / "scent" / "report.json").is_file() else place
        (self.found,) = json.loads((self.place / "report.json").read_text(encoding="utf-8"))["findings"]
        self.told = json.loads((self.place / "times.json").read_text(encoding="utf-8"))
        self.parts: dict[str, dict[str, Any]] = {part["key"]: part for part in self.found["parts"]}

    def region(self, key: str, docs: Path) -> str:
        """What stands in a region of this corpus."""
        if key == "summary":
            return self.found["summary"]
        if key == "made":
            named = " ".join(Path(word).name if "/" in word else word for word in self.told["command"].split())
            return f"*{self.told['made']}: `{named}`*"  # not where it was on this machine
        if key == "claims":
            return "\n".join(
                f"- **{claim['verdict']}**: {claim['text'].rstrip('.')}. {' '.join(claim['evidence'].split())}"
                for claim in self.found["claims"]
            )
        if key == "remarks":
            return "\n".join(f"- {' '.join(line.split())}" for line in self.found["remarks"])
        if key not in self.parts:
            raise SystemExit(f"{self.corpus}: the report has no {key}; it has {', '.join(self.parts)}")
        part = self.parts[key]
        if part["is"] == "table":
            return "\n".join(
                [f"**{part['title']}: {self.corpus}**", "", *table(part["columns"], part["rows"]), "", part["note"]]
            )
        name = f"{self.corpus.lower()}-{key}.svg"
        (docs / "scent").mkdir(exist_ok=True)
        shutil.copy(self.place / "figures" / f"{key}.svg", docs / "scent" / name)
        return f"![{part['title']}: {self.corpus}](scent/{name})"


def main() -> None:
    """Write the page."""
    places = dict(argument.split("=", 1) for argument in sys.argv[1:])
    reports = {corpus: Report(corpus, Path(place)) for corpus, place in places.items()}
    path = DOCS / "scent.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else begun()
    path.write_text(filled(text, reports, DOCS), encoding="utf-8")


def filled(text: str, reports: dict[str, Report], docs: Path) -> str:
    """The page with what was measured in its regions."""

    def region(found: re.Match[str]) -> str:
        head, name, before, end = found.groups()
        corpus, _, key = name.partition(" ")
        if name == "cells":
            body = cells(reports) if all(other in reports for other in CORPORA) else ""
        else:
            body = reports[corpus].region(key, docs) if corpus in reports else ""
        return f"{head}\n{body}\n\n{end}" if body else f"{head}{before}{end}"

    return REGION.sub(region, text)


def begun() -> str:
    """A page of headings and empty regions."""
    lines = ["# Scent", ""]
    for heading, names in OUTLINE.items():
        lines += [f"## {heading}", ""]
        for name in names:
            lines += [f"<!-- measured: {name} -->", "<!-- end -->", ""]
    return "\n".join(lines)


def cells(reports: dict[str, Report]) -> str:
    """The table of cells of all corpora: at each budget the floor, scent, the best published one, the bound."""
    rows = []
    for corpus, report in reports.items():
        part = report.parts["scent-cells"]
        for row in part["rows"]:
            known = dict(zip(part["columns"], row, strict=True))
            for name, other in GEOMETRIC.items():
                if isinstance(known[other], float):
                    known[name] = f"{known[name]}; geometric {known[other]:.3f}"
            rows.append([corpus, *(known[name] for name in CELLS)])
    note = next(iter(reports.values())).parts["scent-cells"]["note"]
    return "\n".join([*table(["corpus", *CELLS.values()], rows), "", note])


def table(columns: list[str], rows: list[list[Any]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(_cell(value) for value in row)} |" for row in rows),
    ]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")


if __name__ == "__main__":
    main()
