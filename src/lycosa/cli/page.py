"""`lycosa page`: one page in any version, why it was fetched, its text and links, and every look at it."""

from __future__ import annotations

import math
import re
import sys
import time
from dataclasses import asdict, replace
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from lycosa.cli.parameters import Dir, Json, WholeText, by_the_end
from lycosa.cli.printing import heading, pairs, print_json, squeezed, timestamp, wrapped
from lycosa.collection.estimate import at_least
from lycosa.collection.reading import Collection
from lycosa.collection.rows import Fate
from lycosa.collection.tracing import content_of, known
from lycosa.collection.view import Link, Origin
from lycosa.collection.words import clean
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Exchange, Visit
from lycosa.drawing.formats import many
from lycosa.refresh.change import change_of
from lycosa.web.html import Document
from lycosa.web.inflate import BadEncoding, charset_of, decode, inflate

_UNKEPT = "the crawl was run without an archive"


def page(
    directory: Dir,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address.")],
    links: Annotated[bool, typer.Option(help="Include its links.")] = True,
    raw: Annotated[bool, typer.Option("--raw", help="Write only the decoded body to standard output.")] = False,
    version: Annotated[
        int | None,
        typer.Option(
            metavar="N", show_default=False, help="Version number: 1 is the first, -1 the last. Default: the last."
        ),
    ] = None,
    at: Annotated[
        str, typer.Option(metavar="WHEN", help="The version at this time: a date, a date and time, or '2d ago'.")
    ] = "",
    xml: Annotated[
        bool, typer.Option("--xml", help="Write only its document tree, as XML, to standard output.")
    ] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """Show a page: text, links, versions, why it was fetched."""
    with Collection(directory, whole_text=whole_text) as collection:
        visits = known(collection, url)
        visit = chosen(visits, version, at, time.time())
        if raw or xml:
            _write(_body(collection, visit) if raw else _tree(collection, visit))
            return
        exchange, document, trouble = _archived(collection, visit)
        view = collection.view()
        origin = view.origin(collection.log, visit.node)
        if origin.kind == "sitemap":  # a list of links is told as any page with links
            origin = replace(origin, kind="link")
        shown = view.links(visit) if links else []
        if json:
            facts = _facts(visit, exchange, document) | _standing(visits, visit)
            facts |= {"why": {**asdict(origin), "strategy": visits[0].arm or collection.options.strategy}}
            facts["why"] |= {"pick": visits[0].pick, "score": _finite(visits[0].score)}
            facts |= {"text": _text(document), "trouble": trouble, "links": shown}
            print_json({**facts, "visits": _history(visits)})
            return
        console = Console(highlight=False)
        _show_head(console, _facts(visit, exchange, document) | _standing(visits, visit), collection.threshold)
        _show_why(console, visits[0], origin, collection.options.strategy)
        _show_text(console, _text(document), trouble)
        _show_links(console, shown)
        _show_history(console, _history(visits))


# -- what there is ---------------------------------------------------------------------------------------------


def chosen(visits: list[Visit], version: int | None, at: str, now: float) -> Visit:
    """The visit that brought the version asked for; without one, or where there is no choice, the newest."""
    versions = [visit for visit in visits if visit.is_version]
    if version is not None and at:
        raise InputError("--version and --at exclude each other: give one of them")
    if version is None and not at:
        return content_of(visits) or visits[-1]
    if not versions:
        raise InputError(f"no version of {visits[-1].node} ever came: see what did without --version and --at")
    if version is not None:
        if not 1 <= abs(version) <= len(versions):
            told = f"1 to {len(versions)}, or -1 for the last" if len(versions) > 1 else "1"
            raise InputError(f"{versions[0].node} has no version {version}: choose --version {told}")
        return versions[version - 1 if version > 0 else version]
    until = by_the_end(at, now, "--at")
    stood = [visit for visit in versions if visit.started <= until]
    if not stood:
        raise InputError(
            f"{versions[0].node} was not known by then: its first version is of {timestamp(versions[0].started)}"
        )
    return stood[-1]


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _tree(collection: Collection, visit: Visit) -> bytes:
    from lycosa.web.tree import to_xml, tree_of

    body, exchange = _body(collection, visit), collection.exchange(visit)
    kind = exchange.header("content-type") if exchange is not None else ""
    return to_xml(tree_of(decode(body, charset_of(kind)))) + b"\n"


def _standing(visits: list[Visit], visit: Visit) -> dict[str, Any]:
    """Which version this is, and what has become of the page since."""
    fate = Fate.of(visits)
    if fate is None or not visit.is_version:
        return {"version": 0, "versions": 0, "until": None, "standing": None}
    versions = [other for other in visits if other.is_version]
    number = versions.index(visit) + 1
    return {
        "version": number,
        "versions": len(versions),
        "until": timestamp(versions[number].started) if number < len(versions) else None,
        "standing": {
            "state": fate.state,
            "since": timestamp(fate.since),
            "looks": fate.looks,
            "seen": timestamp(fate.seen),
            "changed": timestamp(fate.changed) if fate.changed else None,
            "target": fate.target,
        },
    }


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
        body, whole = inflate(exchange.body, encoding, 100_000_000)  # bytes that --raw writes
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
    return re.sub(r"\n\s*\n", "\n\n", clean(document.said))


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
        "fetched": timestamp(visit.started),
        "address": visit.address,
        "score": round(visit.worth, 4),
        "same_as": visit.same_as,
        "canonical": clean(str(visit.data.get("canonical", ""))),
        "flags": visit.flags,
        **{name: clean(document.about.get(name, "")) for name in ("author", "published", "modified", "pages")},
    }


def _history(visits: list[Visit]) -> list[dict[str, Any]]:
    """Each visit, and whether it brought what the one before had brought."""
    rows, before, version = [], b"", 0
    for visit in visits:
        version += visit.is_version
        change = change_of(visit)
        content = ""
        if visit.digest and (visit.kind != "revisit" or visit.outcome in ("ok", "unchanged")):
            content = "first" if not before else "same" if visit.digest == before else "changed"
            before = visit.digest
        rows.append(
            {
                "at": timestamp(visit.started),
                "kind": visit.kind,
                "outcome": visit.outcome,
                "status": visit.status,
                "size": visit.size,
                "content": content,
                "note": clean(visit.note),
                "version": version if visit.is_version else 0,
                "change": change.as_data() if change is not None else None,
            }
        )
    return rows


def _finite(score: float) -> float | None:
    """A seed is taken before everything else: its score is infinite, which JSON has no word for."""
    return round(score, 4) if math.isfinite(score) else None


# -- how it is shown -------------------------------------------------------------------------------------------


def _show_head(console: Console, facts: dict[str, Any], threshold: float) -> None:
    console.print(Text(squeezed(facts["title"]) or clean(facts["url"]), "bold"))
    console.print(Text(clean(facts["url"]), "cyan"), soft_wrap=True)
    found = facts["outcome"] == "ok"
    rows = {
        "outcome": "" if found else f"{facts['outcome']} {facts['note']}".strip(),
        "status": ", ".join(filter(None, [str(facts["status"] or ""), facts["type"], f"{facts['size']:,} bytes"])),
        "author": facts["author"],
        "dated": ", changed ".join(filter(None, [facts["published"], facts["modified"]])),
        "pages": facts["pages"],
        "language": facts["language"],
        "fetched": f"{facts['fetched']} UTC" + (f" from {facts['address']}" if facts["address"] else ""),
        "score": f"{facts['score']:.2f} (relevant: {at_least(threshold)})" if found else "",
        "copy of": facts["same_as"],
        "canonical": facts["canonical"],
        "remarks": ", ".join(facts["flags"]),
        "version": _told_version(facts) if facts["versions"] > 1 else "",
        "standing": _told_standing(facts["standing"]),
        "moved to": facts["standing"]["target"] if facts["standing"] else "",
    }
    pairs(console, rows)


def _told_version(facts: dict[str, Any]) -> str:
    told = f"{facts['version']} of {facts['versions']}"
    return f"{told}, until {facts['until']}" if facts["until"] else told


def _told_standing(standing: dict[str, Any] | None) -> str:
    """What has become of a page that was looked at again."""
    if standing is None or not standing["looks"]:
        return ""
    state = "unchanged" if standing["state"] == "stands" else standing["state"]
    times = "once" if standing["looks"] == 1 else f"{standing['looks']:,} times"
    return f"{state} since {standing['since']}; looked at again {times}, last {standing['seen']}"


def _show_why(console: Console, first: Visit, origin: Origin, strategy: str) -> None:
    """What led here, and how promising it looked when it was picked."""
    heading(console, "why it was fetched")
    if origin.kind == "seed":
        console.print("it is a seed")
        return
    if not origin.kind:
        console.print("the log does not record what led here")
        return
    picked = f"as number {first.pick:,}, with a score of {first.score:.3g}, by {first.arm or strategy}"
    if math.isinf(first.score):
        picked = f"as number {first.pick:,}, before all others, because a seed redirects to it"
    rows = {
        "redirected from" if origin.kind == "redirect" else "linked from": origin.parent,
        "whose title is": origin.title,
        "with the words": origin.anchor,
        "picked": picked,
    }
    pairs(console, rows)


def _show_text(console: Console, text: str, trouble: str) -> None:
    heading(console, "text")
    if text:
        wrapped(console, Text(text))
    else:
        console.print(Text(trouble or "none"), style="dim")


def _show_links(console: Console, links: list[Link]) -> None:
    if not links:
        return
    fetched = sum(link.state in ("fetched", "vanished", "moved") for link in links)
    heading(console, f"{len(links)} links, {fetched} of them fetched")
    for link in links:
        line = Text(f"{link.state:<13}", "green" if link.state == "fetched" else "dim")
        line.append(clean(link.url), "default").append(f"  {squeezed(link.anchor)}".rstrip(), "dim")
        console.print(line, soft_wrap=True)


def _show_history(console: Console, history: list[dict[str, Any]]) -> None:
    heading(console, many(len(history), "visit"))
    for quiet, group in groupby(history, key=lambda row: row["outcome"] == "unchanged"):
        rows = list(group)
        if quiet and len(rows) > 1:
            told = f"{rows[0]['at']}  to {rows[-1]['at']}  {len(rows):,} looks, unchanged"
            wrapped(console, Text(told))
            continue
        for row in rows:
            wrapped(console, Text("  ".join(filter(None, _told_visit(row)))))


def _told_visit(row: dict[str, Any]) -> list[str]:
    """A look at the page, and what came of it."""
    what = row["kind"] if row["kind"] == row["outcome"] else f"{row['kind']} {row['outcome']}"
    content = {"same": "same content", "changed": "content changed"}.get(row["content"], "")
    size = f"{row['size']:,} bytes" if row["size"] else ""
    told = [row["at"], what, str(row["status"] or ""), size]
    change = row["change"]
    if change is None or change["what"] == "new":
        return [*told, "" if row["outcome"] == "unchanged" else content, squeezed(row["note"])]
    if change["what"] == "changed":
        content = f"version {row['version']}, {change['kind']} changed by {change['magnitude']:.0%}"
    else:
        content = change["what"] + (f", version {row['version']}" if row["version"] else "")
    return [*told, content, squeezed(clean("; ".join(change["says"]))), squeezed(row["note"])]
