"""`lycosa page`: one page, why it was fetched, its text, its links, and every visit of it."""

from __future__ import annotations

import json as jsonlib
import math
import re
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from lycosa.collection.reading import Collection
from lycosa.collection.tracing import Link, Origin, content_of, known, links_of, origin_of
from lycosa.collection.words import clean
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Exchange, Visit
from lycosa.store.summary import at_least
from lycosa.web.html import Document
from lycosa.web.inflate import BadEncoding, inflate

LARGEST = 100_000_000
"""Bytes of a body that --raw writes: beyond that it is a bomb."""

_UNKEPT = "the crawl was told to keep no archive"

COLUMN = 100
"""Characters in a line of text at most: longer ones are hard to read."""


def show_page(directory: Path, url: str, *, links: bool, raw: bool, json: bool) -> None:
    """Show what the crawl knows of a page."""
    with Collection(directory) as collection:
        visits = known(collection, url)
        visit = content_of(visits) or visits[-1]
        if raw:
            sys.stdout.buffer.write(_body(collection, visit))
            sys.stdout.buffer.flush()
            return
        exchange, document, trouble = _archived(collection, visit)
        origin = origin_of(collection, visit.node)
        found = links_of(collection, visit) if links else []
        if json:
            told = _facts(visit, exchange, document)
            told |= {"why": {**asdict(origin), "strategy": visits[0].arm or collection.options.strategy}}
            told["why"] |= {"pick": visits[0].pick, "score": _finite(visits[0].score)}
            told |= {"text": _text(document), "trouble": trouble, "links": [asdict(link) for link in found]}
            print(jsonlib.dumps({**told, "visits": _history(visits)}))
            return
        console = Console(highlight=False)
        _show_head(console, _facts(visit, exchange, document), collection.threshold)
        _show_why(console, visits[0], origin, collection.options.strategy)
        _show_text(console, _text(document), trouble)
        _show_links(console, found)
        _show_history(console, _history(visits))


# -- what there is ---------------------------------------------------------------------------------------------


def _body(collection: Collection, visit: Visit) -> bytes:
    """The body of an answer, its content encoding undone."""
    exchange = collection.exchange(visit)
    if exchange is None:
        why = f"the visit brought none ({visit.outcome})" if collection.options.archive else _UNKEPT
        raise InputError(f"there is no body of {visit.node}: {why}")
    if not exchange.body and visit.size:
        raise StoreError(_lost(visit))
    encoding = exchange.header("content-encoding")
    try:
        body, whole = inflate(exchange.body, encoding, LARGEST)
    except BadEncoding as error:
        raise StoreError(f"the body of {visit.node} can't be read: {error}") from error
    if not whole:
        print(f"note: the body goes on, or breaks off, after {len(body):,} bytes", file=sys.stderr)
    return body


def _lost(visit: Visit) -> str:
    return f"the body of {visit.node} lies in another record, which is missing: restore the archive from a backup"


def _archived(collection: Collection, visit: Visit) -> tuple[Exchange | None, Document, str]:
    """What the archive holds of a visit; and if that is nothing, why."""
    try:
        exchange = collection.exchange(visit)
        if exchange is None:
            why = "" if collection.options.archive else _UNKEPT
            return None, Document(title=visit.title), why
        if not exchange.body and visit.size:
            return exchange, Document(title=visit.title), _lost(visit)
        return exchange, collection.document(visit, exchange), ""
    except StoreError as error:
        return None, Document(title=visit.title), str(error)


def _text(document: Document) -> str:
    """The text, with no more than one empty line between paragraphs."""
    return re.sub(r"\n\s*\n", "\n\n", clean(document.marked))


def _facts(visit: Visit, exchange: Exchange | None, document: Document) -> dict[str, Any]:
    return {
        "url": visit.node,
        "title": clean(document.title or visit.title),
        "outcome": visit.outcome,
        "note": clean(visit.note),
        "status": visit.status,
        "type": clean(exchange.header("content-type")) if exchange is not None else "",
        "size": visit.size,
        "language": clean(visit.language),
        "fetched": _when(visit.started),
        "address": visit.address,
        "score": round(visit.beta, 4),
        "same_as": visit.same_as,
        "canonical": clean(str(visit.data.get("canonical", ""))),
        "flags": visit.flags,
    }


def _history(visits: list[Visit]) -> list[dict[str, Any]]:
    """Each visit, and whether it brought what the one before had brought."""
    rows, before = [], b""
    for visit in visits:
        content = ""
        if visit.digest:
            content = "first" if not before else "same" if visit.digest == before else "changed"
            before = visit.digest
        rows.append(
            {
                "at": _when(visit.started),
                "kind": visit.kind,
                "outcome": visit.outcome,
                "status": visit.status,
                "size": visit.size,
                "content": content,
                "note": clean(visit.note),
            }
        )
    return rows


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _finite(score: float) -> float | None:
    """A seed is taken before everything else: its score is infinite, which JSON has no word for."""
    return round(score, 4) if math.isfinite(score) else None


# -- how it is shown -------------------------------------------------------------------------------------------


def _show_head(console: Console, facts: dict[str, Any], threshold: float) -> None:
    console.print(Text(_line(facts["title"]) or clean(facts["url"]), "bold"))
    console.print(Text(clean(facts["url"]), "cyan"), soft_wrap=True)
    found = facts["outcome"] == "ok"
    rows = {
        "outcome": "" if found else f"{facts['outcome']} {facts['note']}".strip(),
        "status": ", ".join(filter(None, [str(facts["status"] or ""), facts["type"], f"{facts['size']:,} bytes"])),
        "language": facts["language"],
        "fetched": f"{facts['fetched']} UTC" + (f" from {facts['address']}" if facts["address"] else ""),
        "score": f"{facts['score']:.2f} (relevant: {at_least(threshold)})" if found else "",
        "copy of": facts["same_as"],
        "canonical": facts["canonical"],
        "remarks": ", ".join(facts["flags"]),
    }
    _show_pairs(console, rows)


def _show_pairs(console: Console, rows: dict[str, str]) -> None:
    """Names and values; those that are empty are left out."""
    width = max(map(len, rows)) + 2
    for name, value in rows.items():
        if "://" in value:
            console.print(Text(f"{name:<{width}}", "dim").append(clean(value), "default"), soft_wrap=True)
        elif value:
            wrapped(console, Text(_line(clean(value))), Text(f"{name:<{width}}", "dim"))


def wrapped(console: Console, text: Text, first: Text, column: int = COLUMN) -> None:
    """Print a text in lines that fit, without blanks at their ends, beside something at the left of the first."""
    indent = Text(" " * len(first))
    for line in text.wrap(console, max(20, min(console.width - 1, column) - len(first))):
        line.rstrip()
        console.print(first + line, soft_wrap=True)
        first = indent


def _show_why(console: Console, first: Visit, origin: Origin, strategy: str) -> None:
    """What led here, and how promising it looked when it was picked."""
    _heading(console, "why it was fetched")
    if origin.kind == "seed":
        console.print("it is a seed")
        return
    if not origin.kind:
        console.print("the log does not tell what led here")
        return
    picked = f"as number {first.pick:,}, with a score of {first.score:.3g}, by {first.arm or strategy}"
    if math.isinf(first.score):
        picked = f"as number {first.pick:,}, before all others, because it stands for a seed"
    rows = {
        "redirected from" if origin.kind == "redirect" else "linked from": origin.parent,
        "whose title is": origin.title,
        "with the words": origin.anchor,
        "picked": picked,
    }
    _show_pairs(console, rows)


def _show_text(console: Console, text: str, trouble: str) -> None:
    _heading(console, "text")
    if text:
        wrapped(console, Text(text), Text())
    else:
        console.print(Text(trouble or "none"), style="dim")


def _show_links(console: Console, links: list[Link]) -> None:
    if not links:
        return
    fetched = sum(link.state == "fetched" for link in links)
    _heading(console, f"{len(links)} links, {fetched} of them fetched")
    for link in links:
        line = Text(f"{link.state:<13}", "green" if link.state == "fetched" else "dim")
        line.append(clean(link.url), "default").append(f"  {_line(link.anchor)}".rstrip(), "dim")
        console.print(line, soft_wrap=True)


def _show_history(console: Console, history: list[dict[str, Any]]) -> None:
    _heading(console, f"{len(history)} visits" if len(history) > 1 else "1 visit")
    for row in history:
        what = row["kind"] if row["kind"] == row["outcome"] else f"{row['kind']} {row['outcome']}"
        content = {"same": "same content", "changed": "content changed"}.get(row["content"], "")
        size = f"{row['size']:,} bytes" if row["size"] else ""
        told = [row["at"], what, str(row["status"] or ""), size, content, _line(row["note"])]
        wrapped(console, Text("  ".join(filter(None, told))), Text())


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, "bold"))


def _line(text: str) -> str:
    return " ".join(text.split())
