"""The front page of several reports: what each is about, how its claims fare, and where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from lycosa.drawing.pages import digest, environment, source
from lycosa.lab.findings import Findings
from lycosa.lab.report.page import About
from lycosa.lab.report.writing import PAGE, versions, write_files


@dataclass
class Paper:
    """A report that the front page leads to, or why there is none."""

    key: str
    about: str
    findings: Findings | None = None
    failure: str = ""

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims hold, do not, cannot be tested."""
        count = Counter(claim.verdict for claim in self.findings.claims) if self.findings else Counter()
        return {name: count[name] for name in ("holds", "does not hold", "cannot be tested here")}

    @property
    def href(self) -> str:
        """Where its page is, seen from the front page."""
        return f"{quote(self.key)}/{PAGE}"


def write_front(papers: Sequence[Paper], out: Path, command: str, title: str = "Five papers, measured here") -> Path:
    """Write the front page; where it is."""
    templates = environment("lycosa.lab.report")
    script = source(templates, "page.js")
    page = templates.get_template("front.html").render(
        papers=papers,
        corpus=next((str(one.findings.corpus.get("source", "")) for one in papers if one.findings), ""),
        title=title,
        about=About(datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"), command, versions()),
        style=source(templates, "style.css"),
        script=script,
        digests=[digest(script)],
    )
    write_files(out, {Path(PAGE): page.encode()})
    return out / PAGE
