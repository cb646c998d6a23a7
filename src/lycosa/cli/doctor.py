"""`lycosa doctor`: what is installed, what is missing, what that costs, and whether a crawl works here."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator

from rich.text import Text

from lycosa.cli.examining import Finding, State, examine
from lycosa.cli.parameters import Json
from lycosa.cli.printing import NARROW, output, print_json
from lycosa.cli.trial import try_crawl
from lycosa.drawing.formats import many

_MARKS: dict[State, tuple[str, str]] = {"ok": ("  ", ""), "costs": ("- ", "yellow"), "broken": ("x ", "red")}


def doctor(json: Json = False) -> None:
    """Say what is installed, what is missing, and what that costs."""
    findings = [*examine(), *try_crawl()]
    broken = [finding for finding in findings if finding.state == "broken"]
    if json:
        print_json({"works": not broken, "findings": findings})
    else:
        _show(findings)
    if broken:
        sys.exit(1)


def _show(findings: list[Finding]) -> None:
    """A line for each thing; what it costs and what to do below it."""
    console = output()
    stacked = console.width < NARROW  # too narrow for two columns
    margin = 4 if stacked else 4 + max(len(finding.what) for finding in findings)
    width = min(console.width, 100) - margin
    for finding in findings:
        mark, colour = _MARKS[finding.state]
        head = Text.assemble((mark, colour), (finding.what, f"bold {colour}".rstrip()))
        if stacked:
            console.print(head)
            head = Text()
        for line, style in _lines(finding, width):
            console.print(head.append(" " * (margin - len(head))).append(line, style), soft_wrap=True)
            head = Text()
    console.print(_verdict(findings))


def _lines(finding: Finding, width: int) -> Iterator[tuple[str, str]]:
    """What is said of a finding, in lines, each with its style."""
    colour = _MARKS[finding.state][1]
    for text, style in (
        (finding.told, ""),
        (finding.cost and f"costs: {finding.cost}", colour),
        (finding.remedy and f"to do: {finding.remedy}", "bold"),
    ):
        for line in textwrap.wrap(text, max(20, width), break_long_words=False, break_on_hyphens=False):
            yield line, style


def _verdict(findings: list[Finding]) -> str:
    costly = sum(finding.state == "costs" for finding in findings)
    broken = sum(finding.state == "broken" for finding in findings)
    if broken:
        return f"Lycosa does not work here: {broken} {'thing is' if broken == 1 else 'things are'} broken."
    better = f" {many(costly, 'thing')} could be better." if costly else ""
    return f"Lycosa works here.{better}"
