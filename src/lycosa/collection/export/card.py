"""A folder that `datasets.load_dataset` takes as it is: the table as Parquet (or JSON Lines, where pyarrow is not
installed), and README.md, its card.

The card says what is in it, where it is from, how it was made, and what is known of rights: licences that pages
declare, what they ask robots for, and that all else is up to whoever publishes it.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lycosa.collection.export import tables
from lycosa.collection.export.cleaning import iso, line, moment
from lycosa.collection.export.selection import ExportedPage, Selection, Written
from lycosa.core.options import Options
from lycosa.drawing.formats import many
from lycosa.version import __version__
from lycosa.web.urls import host, is_http

CARD = "README.md"
MOST = 30
"""Hosts, and licences, that the card names."""

ASKS = frozenset({"noindex", "noarchive", "nosnippet", "noai", "noimageai", "none"})
"""What pages ask of robots that whoever publishes them should know."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_TEXT = """\
# {name}

{pages} of {hosts}, collected by Lycosa {version}, a focused crawler.

## What is in it

`{data}` has a row for each page: `url`, `title`, `text` (the main part, without menus, footers and comments), `score`
and `relevant` (by the crawl's judge, from {threshold:g} on), `language`, `fetched` and more.

Languages: {languages}.

## How it was made

- Topic: {topic}
- Seeds: {seeds}
- Fetched: {first} to {last}
- Strategy: {strategy}; judge: {judge}
- Manners: {manners}

## Sources

| host | pages |
|---|---|
{sources}

## Rights and opt-outs

The pages belong to their authors, and this collection gives no licence to them. What they say of it themselves:

| declared licence | pages |
|---|---|
{licences}

What they ask of robots, as far as it was recorded: {asks}.

A declaration may be wrong or of a part of the page only; pages may hold personal data; scores are a machine's opinion.
Check before you publish it or train on it.
"""


def write_folder(pages: Selection, folder: Path) -> Written:
    """Write the table and its card."""
    parquet = find_spec("pyarrow") is not None
    data = folder / ("pages.parquet" if parquet else "pages.jsonl")
    facts = Facts(pages.collection.options, pages.collection.threshold)
    pages.witness = facts.see
    with open(data, "wb") as out:
        done = tables.write_parquet(pages, out) if parquet else tables.write_jsonl(pages, out)
    (folder / CARD).write_text(facts.card(data.name), encoding="utf-8", newline="\n")
    if not parquet:
        done.remarks.append("the table is JSON Lines: Parquet needs pip install 'lycosa[parquet]'")
    return done


class Facts:
    """What the card tells, counted while the table is written."""

    def __init__(self, options: Options, threshold: float) -> None:
        self.options, self.threshold = options, threshold
        self.hosts: Counter[str] = Counter()
        self.languages: Counter[str] = Counter()
        self.licences: Counter[str] = Counter()
        self.asks: Counter[str] = Counter()
        self.pages = 0
        self.days: set[str] = set()

    def see(self, page: ExportedPage) -> None:
        """Count a page."""
        visit, document = page.visit, page.document[0]
        self.pages += 1
        self.hosts[host(visit.node) if is_http(visit.node) else "(not of the web)"] += 1
        self.languages[line(visit.language).replace(",", " ").partition(" ")[0].partition("-")[0].lower() or "?"] += 1
        self.licences[line(document.about.get("licence", ""))[:200] or "none"] += 1
        self.asks.update(sorted({*visit.flags, *document.directives} & ASKS))
        self.days.add((iso(moment(visit.started)) or "")[:10])

    def card(self, data: str) -> str:
        """Facts for programs between dashes, then the same and more for people."""
        return f"{self._header(data)}\n{self._text(data)}"

    @property
    def name(self) -> str:
        """What the collection is about."""
        return line(self.options.subject) or "Web pages"

    def _header(self, data: str) -> str:
        """In YAML. JSON is YAML, too, and quotes whatever a topic may be called."""
        languages = [code for code, _ in self.languages.most_common() if len(code) in (2, 3) and code.isalpha()]
        told: dict[str, Any] = {
            "pretty_name": self.name,
            "license": "other",
            "language": languages,
            "size_categories": [next((size for most, size in _SIZES if self.pages < most), "1M<n<10M")],
            "task_categories": ["text-retrieval"],
            "tags": ["web", "focused-crawl"],
            "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": data}]}],
        }
        lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in told.items() if value)
        return "\n".join(["---", *lines, "---", ""])

    def _text(self, data: str) -> str:
        """In Markdown."""
        options, days = self.options, sorted(self.days - {""}) or ["an unknown day"]
        seeds = [line(seed) for seed in options.seeds[:10]] or ["of files or searches"]
        web = options.space.partition(",")[0] == "web"
        return _TEXT.format(
            name=self.name,
            pages=many(self.pages, "page"),
            hosts=many(len(self.hosts), "host"),
            version=__version__,
            data=data,
            threshold=self.threshold,
            languages=_listed(self.languages) or "none",
            topic=self.name,
            seeds=", ".join(seeds) + (f" and {len(options.seeds) - 10} more" if len(options.seeds) > 10 else ""),
            first=days[0],
            last=days[-1],
            strategy=line(options.strategy),
            judge=line(options.judge) or "of one's own",
            manners="robots.txt obeyed, one request at a time to a host" if web else f"space {line(options.space)}",
            sources=_table(self.hosts, "other host"),
            licences=_table(self.licences, "other licence"),
            asks=_listed(self.asks) or "nothing",
        )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.most_common(MOST))


def _table(counts: Counter[str], others: str) -> str:
    """The largest, and the rest in one row."""
    rows = [f"| {name.replace('|', ' ')} | {count:,} |" for name, count in counts.most_common(MOST)]
    if len(counts) > MOST:
        rest = counts.total() - sum(count for _, count in counts.most_common(MOST))
        rows.append(f"| {many(len(counts) - MOST, others)} | {rest:,} |")
    return "\n".join(rows) or "| none | 0 |"
