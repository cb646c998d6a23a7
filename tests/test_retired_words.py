"""One word for one thing: what people read in pages, help, errors and docs has none of the words that were given up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "lycosa"

RETIRED = {
    r"\banew\b": "again, from scratch",
    r"\bto be had\b": "available",
    r"\bwhoever\b": "anyone who; the operator, the administrator",
    r"\b(?:pages on|pages off) the topic\b|\bo(?:n|ff)-topic pages?\b|\bof them on the topic\b": "relevant, irrelevant",
    r"\b(?:the|all|its|no|best|early|\d+) finds\b|\ba find\b|\bas finds\b": "relevant pages",
    r"\bcounts? as found\b": "relevant",
    r"\bstarting points?\b|\bstart pages?\b": "seed",
    r"\blooks? again\b|\blooking again\b": "revisit",
    r"\b(?:one|One|one URL|one link) a line\b": "one per line",
    r"\b(?:files|logs|crawls|archives) of before\b": "earlier",
    r"\bshuts? out\b": "suspend",
    r"\btakes? it along\b|\bdownload everything\b": "export",
    r"\bof weight\b": "audit log",
    r"\bas it is now\b": "current",
    r"\bnot we\b": "say who does it",
    r"\brepeat it for more\b": "repeatable",
    r"\bit has to be\b": "it must be",
    r"\bgo on with\b": "continue with",
    r"\bmake room\b": "free some space",
}
"""Words that read as translated, or mean what another word means already; and what is said instead."""

QUOTING = {"CHANGELOG.md", "papers.md", "papers-items.md"}
"""Pages that quote: the list of old words beside the new ones, and what papers say."""

PATTERN = re.compile("|".join(f"(?:{one})" for one in RETIRED), re.IGNORECASE)


def test_words_that_were_given_up() -> None:
    """They are in no template, script, string of the program, command's help, or page of the docs."""
    assert [] == [
        f"{place.relative_to(ROOT)}:{line}: {found[0]!r} in {text.strip()[:100]!r}"
        for place, line, text in (*_markup(), *_strings(), *_docs())
        if (found := PATTERN.search(text))
    ]


def test_it_would_be_noticed() -> None:
    """Each pattern matches something, and the examples that began the list are among what they match."""
    for said in ("Draw anew", "Take it along", "Shut out", "What of weight was done", "As it is now", "3 finds"):
        assert PATTERN.search(said), said
    for said in ("finds more pages", "what it finds", "the relevant pages", "a seed", "revisit"):
        assert not PATTERN.search(said), said


def _markup() -> Iterator[tuple[Path, int, str]]:
    """Lines of templates and scripts, without comments."""
    for place in sorted((*SOURCE.rglob("*.html"), *SOURCE.rglob("*.js"))):
        text = re.sub(
            r"\{#.*?#\}", lambda found: "\n" * found[0].count("\n"), place.read_text("utf-8"), flags=re.DOTALL
        )
        for number, line in enumerate(text.splitlines(), 1):
            shown = re.sub(r"(?:^|\s)//\s.*$", "", line)
            if '"begun anew"' not in shown:  # what the server's stream says to its page, not to people
                yield place, number, shown


def _strings() -> Iterator[tuple[Path, int, str]]:
    """Strings of the program: help of options, errors, notes. The help of commands is in docs/reference.md."""
    for place in sorted(SOURCE.rglob("*.py")):
        text = place.read_text("utf-8")
        if not PATTERN.search(re.sub(r"[\"']\s*\n\s*[fr]?[\"']", "", text)):  # nor in a string of several pieces
            continue
        tree = ast.parse(text)
        own = set(_docstrings(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in own:
                yield place, node.lineno, node.value if _said(place, node.value) else ""


def _said(place: Path, text: str) -> bool:
    """Whether people read it: not what papers call things, nor what the log and the API's streams say."""
    return not place.is_relative_to(SOURCE / "lab" / "papers") and text not in ("begun anew", "looks again")


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def _docs() -> Iterator[tuple[Path, int, str]]:
    """Lines of the docs."""
    for place in sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))):
        if place.name not in QUOTING:
            for number, line in enumerate(place.read_text("utf-8").splitlines(), 1):
                yield place, number, line
