"""`lycosa page`: show one page: versions, text and links, origin, and every visit."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Annotated, Any

from rich.text import Text

from lycosa.cli.parameters import Dir, Json, WholeText, parse_end_time
from lycosa.cli.printing import Part, heading, print_result, squeezed, timestamp
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import describe_threshold
from lycosa.collection.pages import PageLink, origin_of, page_links
from lycosa.collection.search_text import clean
from lycosa.collection.tracing import latest_content, visits_of
from lycosa.core.errors import InputError, StoreError
from lycosa.core.types import Exchange, Visit
from lycosa.drawing.formats import many, when
from lycosa.revisit.change import change_of
from lycosa.store.page_state import PageState
from lycosa.web.html import ParsedPage
from lycosa.web.inflate import BadEncoding, charset_of, decode, inflate

VERSION = "A number (1 is the first, -1 the last), a date, a time, or '2d ago'."
_UNKEPT = "the crawl was run without an archive"


def page(
    directory: Dir,
    url: Annotated[str, "URL", "URL of the page."],
    *,
    version: Annotated[str, "VERSION", f"{VERSION} Default: the last."] = "",
    links: Annotated[bool, "Include its links."] = True,
    raw: Annotated[bool, "Write only the decoded body to standard output."] = False,
    xml: Annotated[bool, "Write only its document tree, as XML, to standard output."] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """Show a page: text, links, versions, why it was fetched."""
    with CrawlDirectory(directory, whole_text=whole_text) as collection:
        visits = visits_of(collection, url)
        visit = latest_content(visits) or visits[-1]
        if version:
            versions = versions_of(visits)
            visit = versions[version_at(versions, version, time.time(), "--version")]
        if raw or xml:
            body = _body(collection, visit)
            sys.stdout.buffer.write(body if raw else _tree(collection, visit, body))
            sys.stdout.buffer.flush()
            return
        exchange, document, trouble = _archived(collection, visit)
        origin, first = origin_of(collection.log, visit.node), visits[0]
        if origin.kind == "sitemap":  # sitemaps are shown like pages with links
            origin = replace(origin, kind="link")
        priority = round(first.priority, 4) if math.isfinite(first.priority) else None  # seeds: infinite
        strategy = first.arm or collection.options.strategy
        facts = {
            **_facts(visit, exchange, document),
            **_standing(visits, visit),
            "why": {**asdict(origin), "strategy": strategy, "pick": first.pick, "priority": priority},
            "text": re.sub(r"\n\s*\n", "\n\n", clean(document.content)),
            "trouble": trouble,
            "links": page_links(collection.log, visit) if links else [],
            "visits": _history(visits),
        }
        print_result(facts, _parts(facts, collection.threshold), json=json)


def versions_of(visits: Sequence[Visit]) -> list[Visit]:
    if versions := [visit for visit in visits if visit.is_version]:
        return versions
    raise InputError("no-version", f"{visits[0].node} has no stored version (outcome {visits[-1].outcome})")


def version_at(versions: Sequence[Visit], typed: str, now: float, option: str) -> int:
    """Return the index of a version by number (1 is the first, -1 the last), or of the one current at a time.

    >>> at = [Visit("http://a.test/", "page", "ok", 1, started=day * 86_400.0) for day in range(3)]
    >>> [version_at(at, typed, 1e6, "--from") for typed in ("1", "-1", "1970-01-02")]
    [0, 2, 1]
    """
    typed = typed.strip()
    if re.fullmatch(r"[+-]?\d{1,9}", typed):
        number = int(typed)
        if not 1 <= abs(number) <= len(versions):
            count = f"there are {len(versions)}" if len(versions) > 1 else "there is one"
            raise InputError("no-version", f"version {number} does not exist: {count}; 'lycosa page' lists them")
        return number - 1 if number > 0 else len(versions) + number
    then = parse_end_time(typed, now, option)
    before = [place for place, visit in enumerate(versions) if visit.started <= then]
    if not before:
        raise InputError("no-version", f"no version is as old as {typed}: the first is of {when(versions[0].started)}")
    return before[-1]


def _tree(collection: CrawlDirectory, visit: Visit, body: bytes) -> bytes:
    from lycosa.web.tree import parse_tree, to_xml

    exchange = collection.exchange(visit)
    kind = exchange.header("content-type") if exchange is not None else ""
    return to_xml(parse_tree(decode(body, charset_of(kind)))) + b"\n"


def _standing(visits: list[Visit], visit: Visit) -> dict[str, Any]:
    state = PageState.of(visits)
    if state is None or not visit.is_version:
        return {"version": 0, "versions": 0, "until": None, "standing": None}
    versions = versions_of(visits)
    number = versions.index(visit) + 1
    return {
        "version": number,
        "versions": len(versions),
        "until": timestamp(versions[number].started) if number < len(versions) else None,
        "standing": {
            "state": state.state,
            "revisits": state.revisits,
            "target": state.moved_to,
            "since": timestamp(state.since),
            "seen": timestamp(state.last_seen),
            "changed": timestamp(state.changed) if state.changed else None,
        },
    }


def _body(collection: CrawlDirectory, visit: Visit) -> bytes:
    exchange = collection.exchange(visit)
    if exchange is None:
        why = f"the visit brought none ({visit.outcome})" if collection.options.archive else _UNKEPT
        raise InputError("no-body", f"{visit.node} has no stored body: {why}")
    if not exchange.body and visit.size:
        raise StoreError(_lost(visit))
    try:
        body, whole = inflate(exchange.body, exchange.header("content-encoding"), 100_000_000)
    except BadEncoding as error:
        raise StoreError(f"the body of {visit.node} can't be read: {error}") from error
    if not whole:
        print(f"note: only the first {len(body):,} bytes of the body are stored", file=sys.stderr)
    return body


def _lost(visit: Visit) -> str:
    return f"the body of {visit.node} is in another record, which is missing: restore the archive from a backup"


def _archived(collection: CrawlDirectory, visit: Visit) -> tuple[Exchange | None, ParsedPage, str]:
    """Return a visit's archived exchange and document, or the reason why there are none."""
    try:
        exchange = collection.exchange(visit)
        if exchange is None:
            return None, ParsedPage(title=visit.title), "" if collection.options.archive else _UNKEPT
        if not exchange.body and visit.size:
            return exchange, ParsedPage(title=visit.title), _lost(visit)
        return exchange, collection.document(visit, exchange), ""
    except StoreError as error:
        return None, ParsedPage(title=visit.title), str(error)


def _facts(visit: Visit, exchange: Exchange | None, document: ParsedPage) -> dict[str, Any]:
    return {
        "url": visit.node,
        "title": clean(document.title or visit.title),
        **{name: getattr(visit, name) for name in ("outcome", "status", "size", "address", "same_as", "flags")},
        "note": clean(visit.note),
        "type": clean(exchange.header("content-type")) if exchange is not None else "",
        "language": clean(visit.language),
        "fetched": timestamp(visit.started),
        "relevance": round(visit.relevance_now, 4),
        "canonical": clean(str(visit.data.get("canonical", ""))),
        **{name: clean(document.about.get(name, "")) for name in ("author", "published", "modified", "pages")},
    }


def _history(visits: list[Visit]) -> list[dict[str, Any]]:
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


def title_parts(title: str, url: str) -> list[Part]:
    return [Text(squeezed(title) or url, "bold"), Text(url, "cyan")]


def _parts(facts: dict[str, Any], threshold: float) -> Iterator[Part]:
    found, standing = facts["outcome"] == "ok", facts["standing"]
    version = f"{facts['version']} of {facts['versions']}" + (f", until {facts['until']}" if facts["until"] else "")
    yield from title_parts(facts["title"], facts["url"])
    yield {
        "outcome": "" if found else f"{facts['outcome']} {facts['note']}".strip(),
        "status": ", ".join(filter(None, [str(facts["status"] or ""), facts["type"], f"{facts['size']:,} bytes"])),
        "author": facts["author"],
        "dated": ", changed ".join(filter(None, [facts["published"], facts["modified"]])),
        "pages": facts["pages"],
        "language": facts["language"],
        "fetched": f"{facts['fetched']} UTC" + (f" from {facts['address']}" if facts["address"] else ""),
        "relevance": f"{facts['relevance']:.2f} (relevant: {describe_threshold(threshold)})" if found else "",
        "copy of": facts["same_as"],
        "canonical": facts["canonical"],
        "remarks": ", ".join(facts["flags"]),
        "version": version if facts["versions"] > 1 else "",
        "standing": _stands(standing) if standing and standing["revisits"] else "",
        "moved to": standing["target"] if standing else "",
    }
    yield from heading("why it was fetched")
    yield _why(facts["why"])
    yield from heading("text")
    yield facts["text"] or Text(facts["trouble"] or "none", "dim")
    links: list[PageLink] = facts["links"]
    if links:
        fetched = sum(link.state in ("fetched", "vanished", "moved") for link in links)
        yield from heading(f"{len(links)} links, {fetched} of them fetched")
    for link in links:
        line = Text(f"{link.state:<13}", "green" if link.state == "fetched" else "dim")
        yield line.append(link.url, "default").append(f"  {squeezed(link.anchor)}".rstrip(), "dim")
    yield from heading(many(len(facts["visits"]), "visit"))
    for quiet, group in groupby(facts["visits"], key=lambda row: bool(row["outcome"] == "unchanged")):
        rows = list(group)
        if quiet and len(rows) > 1:
            yield f"{rows[0]['at']}  to {rows[-1]['at']}  {len(rows):,} visits, unchanged"
        else:
            yield from ("  ".join(filter(None, _visit(row))) for row in rows)


def _stands(standing: dict[str, Any]) -> str:
    state = "unchanged" if standing["state"] == "stands" else standing["state"]
    times = "once" if standing["revisits"] == 1 else f"{standing['revisits']:,} times"
    return f"{state} since {standing['since']}; revisited {times}, last {standing['seen']}"


def _why(why: dict[str, Any]) -> Part:
    if why["kind"] == "seed":
        return "it is a seed"
    if not why["kind"]:
        return "the log does not record what led here"
    score = f"with a priority of {why['priority']:.3g}, by {why['strategy']}" if why["priority"] is not None else ""
    return {
        "linked from": why["parent"],
        "whose title is": squeezed(why["parent_title"]),
        "with the words": squeezed(why["anchor"]),
        "picked": f"as number {why['pick']:,}, {score or 'before all others'}",
    }


def _visit(row: dict[str, Any]) -> list[str]:
    what = row["kind"] if row["kind"] == row["outcome"] else f"{row['kind']} {row['outcome']}"
    content = {"same": "same content", "changed": "content changed"}.get(row["content"], "")
    size = f"{row['size']:,} bytes" if row["size"] else ""
    line = [row["at"], what, str(row["status"] or ""), size]
    change = row["change"]
    if change is None or change["what"] == "new":
        return [*line, "" if row["outcome"] == "unchanged" else content, squeezed(row["note"])]
    if change["what"] == "changed":
        content = f"version {row['version']}, {change['kind']} changed by {change['magnitude']:.0%}"
    else:
        content = change["what"] + (f", version {row['version']}" if row["version"] else "")
    return [*line, content, squeezed(clean("; ".join(change["says"]))), squeezed(row["note"])]
