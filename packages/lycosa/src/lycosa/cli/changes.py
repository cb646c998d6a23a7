"""`lycosa changes`: list changed pages, or show the changes of one page."""

from __future__ import annotations

import json as jsonlib
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from rich.text import Text

from lycosa.cli.commands import Group
from lycosa.cli.page import VERSION
from lycosa.cli.parameters import Dir, Json, WholeText, parse_time
from lycosa.cli.printing import COLOURS, LabelledText, Part, output, print_result, require_crawl
from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import atomic_write, read_whole
from lycosa.drawing.figure import bar
from lycosa.drawing.formats import clip, many
from lycosa.revisit import feeds, ledger
from lycosa.revisit.change import KINDS, Change
from lycosa.revisit.diff import Excerpts
from lycosa.revisit.ledger import ChangeFilter, LoggedChange, day_and_time
from lycosa.store.log import NAME, SqliteLog
from lycosa.store.versions import Versions

MARK = "changes.last"  # file with the position of `--since last`; not in the log, where a watch may be writing
LAST = "last"
PAGE, LIST = Group("With URL"), Group("Without URL")


@dataclass
class _Period:
    after: int
    upto: int
    since: float
    words: str  # description of the period for the summary


def changes(
    directory: Dir,
    url: Annotated[str, "URL", "Show what changed between two versions of this page."] = "",
    *,
    since: Annotated[
        str, LIST, "WHEN", "A date, a time, '2d' for two days, or 'last' for everything since the last --since last."
    ] = "",
    what: Annotated[
        list[str] | None,
        LIST,
        "WHAT",
        "Only these: changed, vanished, moved, returned, new, or kinds of change: topic, text, structure, link, "
        "cosmetic; repeatable.",
    ] = None,
    at_least: Annotated[float, LIST, "SHARE", "Only changes of at least this magnitude, from 0 to 1."] = 0.0,
    host: Annotated[str, LIST, "HOST", "Only pages of this host."] = "",
    cosmetic: Annotated[bool, LIST, "Include cosmetic changes."] = False,
    relevant: Annotated[bool, LIST, "Only relevant pages."] = False,
    explain: Annotated[bool, LIST, "Explain how each change was detected."] = False,
    atom: Annotated[Path | None, LIST, "FILE", "Write the changes as an Atom feed."] = None,
    from_: Annotated[str, PAGE, "VERSION", f"{VERSION} Default: the one before --to."] = "",
    to: Annotated[str, PAGE, "VERSION", "The later version, likewise. Default: the last."] = "",
    whole: Annotated[bool, PAGE, "--all", "Include unchanged text."] = False,
    whole_text: WholeText = False,
    json: Json = False,
) -> None:
    """List changed, vanished, moved, returned and new pages; or show what changed on one page."""
    listing = since or what or at_least or host or cosmetic or relevant or explain or atom
    comparing = from_ or to or whole or whole_text
    if listing if url else comparing:
        message = "cannot combine options for a list of changes with those for one page: see 'lycosa changes --help'"
        raise InputError("conflicting-options", message)
    if url:
        from lycosa.cli.comparing import compare

        compare(directory, url, from_, to, whole=whole, whole_text=whole_text, json=json)
        return
    options = require_crawl(directory)
    words = [word.strip().lower() for text in what or () for word in text.split(",") if word.strip()]
    kinds = tuple(word for word in words if word in KINDS)
    sorts = (*(word for word in words if word not in KINDS), *(["changed"] if kinds else []))  # kinds are of "changed"
    wanted = ChangeFilter(what=sorts, kinds=kinds, at_least=at_least, host=host, cosmetic=cosmetic)
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        period = _period(log, directory, since, time.time())
        if relevant:
            wanted = replace(wanted, relevant=float(log.setting("threshold", 0.0)))
        if atom is not None:
            count = _write(log, wanted, period, options.subject, atom)
            print_result({"file": atom, "changes": count}, [f"{atom}: {many(count, 'change')}"], json=json)
        else:
            known = _facts(log, directory, wanted, period) if json else None
            print_result(known, _parts(log, directory, wanted, period, explain=explain), json=json)
    if since.strip().lower() == LAST:
        _remember(directory, period.upto, time.time())


def _period(log: SqliteLog, directory: Path, since: str, now: float) -> _Period:
    upto = ledger.end(log)
    if since.strip().lower() == LAST:
        seq, at = _remembered(directory)
        if seq > upto:  # the log has been replaced
            seq, at = 0, 0.0
        return _Period(seq, upto, 0.0, f" since {day_and_time(at)}" if at else "")
    at = parse_time(since, now) if since.strip() else 0.0
    return _Period(0, upto, at, f" since {day_and_time(at)}" if at else "")


def _remembered(directory: Path) -> tuple[int, float]:
    try:
        saved = jsonlib.loads(read_whole(directory / MARK, 1_000))
        day_and_time(saved["at"])  # raises for an invalid time
        return int(saved["seq"]), float(saved["at"])
    except FileNotFoundError:
        return 0, 0.0
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise StoreError(f"{directory / MARK} is damaged: delete it to let --since last start over") from error
    except OSError as error:
        raise StoreError(f"cannot read {directory / MARK}: {error.strerror}; delete it to start over") from error


def _remember(directory: Path, seq: int, at: float) -> None:
    try:
        with atomic_write(directory / MARK) as file:
            file.write(jsonlib.dumps({"seq": seq, "at": at}).encode() + b"\n")
    except OSError as error:
        message = f"cannot write {directory / MARK}: {error.strerror}"
        raise StoreError(f"{message}; the next --since last will list the same changes again") from error


def _write(log: SqliteLog, wanted: ChangeFilter, period: _Period, title: str, file: Path) -> int:
    newest = feeds.newest(log, wanted, upto=period.upto, since=period.since)
    found = [item for item in newest if item.seq > period.after]
    at, _ = ledger.last_visit_time(log)
    excerpt = Excerpts(Versions(log, log.path.parent / "archive"))
    crawl = ledger.identity(log).urn
    body = feeds.atom(found, crawl=crawl, title=title, at=at, says=lambda item: ledger.story(item, excerpt(item)))
    feeds.save(file, body)
    return len(found)


def _facts(log: SqliteLog, directory: Path, wanted: ChangeFilter, period: _Period) -> dict[str, Any]:
    found = list(ledger.changes(log, after=period.after, upto=period.upto, since=period.since, wanted=wanted))
    return {
        "directory": directory,
        "crawl": ledger.identity(log).urn,
        "changes": list(map(ledger.change_data, found)),
        "counts": Counter(item.change.what for item in found),
        "unchanged": ledger.count_unchanged_visits(log, after=period.after, upto=period.upto, since=period.since),
        "last_event": period.upto,
    }


def _parts(log: SqliteLog, directory: Path, wanted: ChangeFilter, period: _Period, *, explain: bool) -> Iterator[Part]:
    tally: Counter[str] = Counter()
    hidden, width = 0, output().width
    wider = replace(wanted, cosmetic=True)
    for item in ledger.changes(log, after=period.after, upto=period.upto, since=period.since, wanted=wider):
        if not wanted.takes(item):
            hidden += 1
            continue
        tally[item.change.what] += 1
        yield from _change(item, explain=explain, width=width)
    quiet = ledger.count_unchanged_visits(log, after=period.after, upto=period.upto, since=period.since)
    narrowed = replace(wanted, cosmetic=False) != ChangeFilter()
    closing = [(ledger.format_counts(tally) if tally or not narrowed else "no matching change") + period.words]
    closing += [f"{hidden:,} cosmetic only (--cosmetic shows them)"] if hidden else []
    closing += [f"{many(quiet, 'revisit')} without changes"] if quiet else []
    line = "; ".join(closing)
    yield from [""] if tally else []
    yield Text(f"{line[:1].upper()}{line[1:]}.", "bold" if tally else "")
    if tally:
        return
    at, again = ledger.last_visit_time(log)
    if not at:
        yield "No page has been fetched yet."
    elif again:
        yield f"The last revisit was on {day_and_time(at)}."
    else:
        yield f"No page has been revisited yet; the crawl's last visit was on {day_and_time(at)}."
    yield f"Revisit with: lycosa refresh {shlex.quote(str(directory))}"


def magnitude(change: Change) -> str:
    if change.what != "changed":
        return ""
    return f"{change.kind:<9} {bar(change.magnitude)} {ledger.format_share(change.magnitude):>5}"


def _change(item: LoggedChange, *, explain: bool, width: int) -> Iterator[Part]:
    change, at = item.change, Text(f"{day_and_time(item.at)[:16]}  ", "dim")
    indent = "  " if width < 80 else " " * 18
    if width < 80:
        yield at.append(change.what, COLOURS[change.what])
        yield from [LabelledText(indent, magnitude(change))] if magnitude(change) else []
        yield LabelledText(indent, Text(ledger.name(item), "bold"))
    else:
        line = at.append(f"{change.what:<9}", COLOURS[change.what]).append(f"{magnitude(change):<21} ", "default")
        yield line.append(clip(ledger.name(item), width - 51), "bold")
    yield LabelledText(indent, Text(item.url, "cyan"))
    lines = ledger.reasons(change)[: None if explain else 1]
    if explain and change.what in ("changed", "returned") and item.was != item.relevance:
        lines.append(f"relevance {item.was:.2f} before, {item.relevance:.2f} now")
    if explain and item.follows:
        lines.append(f"the previous version is from {day_and_time(item.follows)}")
    yield from (LabelledText(indent, Text(line, "dim")) for line in lines)
