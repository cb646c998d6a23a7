"""Write docs/papers.md from reports of the lab: verdicts, main tables, curves.

    python tools/papers.py Wikispeedia=REPORTS WebKB=REPORTS quick:MDN=REPORTS

REPORTS is the output of `lycosa lab paper all --out`, a directory per paper. Sections of papers without a report are
kept, with their date. Of reports after `quick:`, created with --quick, only the verdicts are counted. Figures are
written to docs/papers/.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmark import picture, when

from lycosa_lab.papers import PAPERS

ROOT = Path(__file__).resolve().parent.parent
FIGURES = {
    "otie": ["otie-figure-1-labels", "otie-figure-2"],
    "batsakis": ["batsakis-figure-12-labels", "batsakis-figure-14-labels", "batsakis-figure-16-labels"],
    "gouriten": [f"gouriten-figure-{name}" for name in ("1-like-jazz", "2", "3", "3-independent", "3-generated")],
    "rules": ["rules-figure-6", "rules-figure-6-labels"],
}  # fmt: skip
TABLES = {
    "otie": ["otie-ends"],
    "batsakis": ["batsakis-ends"],
    "personalized": ["personalized-ranking", "personalized-ends", "personalized-changes"],
    "gouriten": [f"gouriten-table-{name}" for name in ("2", "5", "7", "7-independent", "7-large")],
    "rules": ["rules-family"],
}
ORDER = ("holds", "does not hold", "cannot be tested here")

INTRODUCTION = """# What the papers say, and what we find

`lycosa lab paper all` repeats the experiments of five papers on any corpus, and weighs what each of them claims. This
page is what came out on recorded pages; `tools/papers.py` writes it from the reports. All figures are ours, measured by
labels that no crawler sees, unless a title says *as published*: there the crawler's own judge counts, as in the paper.

What each paper has, formula by formula and figure by figure, and how to reach it: [item by item](papers-items.md).

The corpora are not part of the project: `lycosa lab index public:wikispeedia` and `public:webkb` get them. A corpus
of 5,000 pages is a small world: after a thousand pages anyone has found much of a topic. What a paper says of the web
is not refuted by it. A verdict says what holds *here*, by a criterion that stands in the code. Wikispeedia's articles
are read without the line under the title that names their own subjects: with it, a page tells its label.
"""


QUICK = "Quick runs"
QUICK_INTRODUCTION = """`lycosa lab paper all --quick` makes every table and figure with budgets, topics and
repetitions that fit into minutes. It is a look at what the reports have, on any corpus; it is too small for verdicts
that count, and says so on every page.
"""


def main() -> None:
    places = dict(argument.split("=", 1) for argument in sys.argv[1:])
    (ROOT / "docs" / "papers.md").write_text("\n".join(_papers(places)), encoding="utf-8")


def _papers(places: dict[str, str]) -> list[str]:
    """Return the page's lines; draw its figures and remove unused ones."""
    lines = [INTRODUCTION]
    pictures = ROOT / "docs" / "papers"
    pictures.mkdir(exist_ok=True)
    before = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").split("\n## ")[1:]
    kept = {section.partition("\n")[0]: section.partition("\n")[2] for section in before}
    quick = {name.removeprefix("quick:"): Path(place) for name, place in places.items() if name.startswith("quick:")}
    for corpus, place in places.items():
        if corpus.startswith("quick:"):
            continue
        for paper, title in PAPERS.items():
            report, heading = Path(place) / paper, f"{title}, on {corpus}"
            if not (report / "report.json").is_file():
                lines += [f"## {heading}", kept[heading]] if heading in kept else []
                continue
            found = _read(report)
            lines += [f"## {heading}", "", found["summary"], ""]
            lines += _claims(found["claims"])
            parts = {part["key"]: part for part in found["parts"]}
            for key in TABLES.get(paper, []):
                if key in parts and parts[key].get("rows"):
                    lines += _table(parts[key])
            for key in FIGURES.get(paper, []):
                if key in parts:
                    (pictures / f"{corpus.lower()}-{key}.svg").write_text(picture(parts[key]), encoding="utf-8")
                    lines += [f"![{parts[key]['title']}](papers/{corpus.lower()}-{key}.svg)", ""]
            lines += [when(found), ""]
    if quick or QUICK in kept:
        lines += [f"## {QUICK}", *(["", QUICK_INTRODUCTION, *_verdicts(quick)] if quick else [kept[QUICK]])]
    for file in pictures.iterdir():
        if not any(f"(papers/{file.name})" in line for line in lines):
            file.unlink()
    return lines


def _verdicts(places: dict[str, Path]) -> list[str]:
    """Return a row per paper and corpus: how many of its claims hold, and how many do not."""
    lines = [f"| corpus | paper | {' | '.join(ORDER)} | made |", "|---|---|---|---|---|---|"]
    for corpus, place in places.items():
        for paper, title in PAPERS.items():
            if not (place / paper / "report.json").is_file():
                continue
            found = _read(place / paper)
            counts = [str(sum(claim["verdict"] == verdict for claim in found["claims"])) for verdict in ORDER]
            lines.append(f"| {corpus} | {title.partition(':')[0]} | {' | '.join(counts)} | {found['made']} |")
    return [*lines, ""]


def _read(report: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((report / "report.json").read_text(encoding="utf-8"))
    return found


def _claims(claims: list[dict[str, Any]]) -> list[str]:
    """Return the claims, those that hold first; undecidable ones are only counted."""
    lines = [
        f"- **{verdict}**: {claim['text'].rstrip('.')} ({claim['source']}). " + " ".join(claim["evidence"].split())
        for verdict in ORDER[:2]
        for claim in claims
        if claim["verdict"] == verdict
    ]
    open_ = sum(claim["verdict"] == ORDER[2] for claim in claims)
    more = "more claims" if lines else "claims"
    return [*lines, *([f"- {open_} {more} cannot be tested here."] if open_ else []), ""]


def _table(part: dict[str, Any]) -> list[str]:
    def cell(value: Any) -> str:
        if value is None:
            return ""
        return f"{value:.{part['digits']}f}" if isinstance(value, float) else str(value).replace("|", "\\|")

    mode = " (as published)" if part["mode"] == "as-published" else ""
    return [
        f"**{part['title']}{mode}**",
        "",
        f"| {' | '.join(part['columns'])} |",
        f"|{'---|' * len(part['columns'])}",
        *(f"| {' | '.join(cell(value) for value in row)} |" for row in part["rows"]),
        "",
    ]


if __name__ == "__main__":
    main()
