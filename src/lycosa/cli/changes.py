"""`lycosa changes`: what has become of the pages, and how that was seen."""

from __future__ import annotations

import json as jsonlib
import shlex
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from lycosa.cli.parameters import Dir, Json, moment
from lycosa.cli.printing import COLOURS, NARROW, crawled, output, wrapped
from lycosa.core.errors import StoreError
from lycosa.core.files import read_whole, replacing
from lycosa.drawing.figure import bar
from lycosa.drawing.formats import many
from lycosa.refresh import feeds, ledger
from lycosa.refresh.diff import Excerpts
from lycosa.refresh.ledger import Told, Wanted, counts, day_and_time, facts, name, plain, reasons, share
from lycosa.store.earlier import Versions
from lycosa.store.log import NAME, SqliteLog

MARK = "changes.last"  # keeps where `--since last` left off; not in the log, where a watch may be writing
LAST = "last"


@dataclass
class _Asked:
    """Which part of the log is asked for."""

    after: int
    upto: int
    since: float
    told: str  # in words, for the summary


def changes(
    directory: Dir,
    since: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="A date, a time, '2d' for the last two days, or 'last' for everything since the last --since last.",
        ),
    ] = "",
    what: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="Only changes of this type: changed, vanished, moved, returned or new."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only changes of this kind: topic, text, structure, link, cosmetic."),
    ] = None,
    at_least: Annotated[
        float, typer.Option(metavar="SHARE", help="Only changes of at least this magnitude, from 0 to 1.")
    ] = 0.0,
    host: Annotated[str, typer.Option(metavar="HOST", help="Only pages of this host.")] = "",
    match: Annotated[str, typer.Option(metavar="PATTERN", help="Only addresses that match this pattern.")] = "",
    cosmetic: Annotated[bool, typer.Option("--cosmetic", help="Include cosmetic changes.")] = False,
    relevant: Annotated[bool, typer.Option("--relevant", help="Only relevant pages.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Explain how each change was detected.")] = False,
    atom: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the changes as an Atom feed.")] = None,
    json: Json = False,
) -> None:
    """List changed, vanished, moved, returned and new pages."""
    options = crawled(directory)
    kinds, whats = _words(kind), _words(what)
    wanted = Wanted(
        what=whats or (("changed",) if kinds else ()),  # only these have a kind
        kinds=kinds,
        at_least=at_least,
        host=host,
        pattern=match,
        cosmetic=cosmetic,
    )
    with closing(SqliteLog(directory / NAME, readonly=True)) as log:
        asked = _asked(log, directory, since, time.time())
        if relevant:
            wanted = replace(wanted, relevant=float(log.setting("threshold", 0.0)))
        if atom:
            _write(log, wanted, asked, options.subject, atom)
        elif json:
            _as_json(log, directory, wanted, asked)
        else:
            _list(output(), log, directory, wanted, asked, explain=explain)
    if since.strip().lower() == LAST:
        _remember(directory, asked.upto, time.time())


def _words(given: list[str] | None) -> tuple[str, ...]:
    return tuple(word.strip().lower() for text in given or () for word in text.split(",") if word.strip())


# -- since when ------------------------------------------------------------------------------------------------


def _asked(log: SqliteLog, directory: Path, since: str, now: float) -> _Asked:
    upto = ledger.end(log)
    if since.strip().lower() == LAST:
        seq, at = _remembered(directory)
        if seq > upto:  # another log than then
            seq, at = 0, 0.0
        return _Asked(seq, upto, 0.0, f"since {day_and_time(at)}" if at else "")
    at = moment(since, now) if since.strip() else 0.0
    return _Asked(0, upto, at, f"since {day_and_time(at)}" if at else "")


def _remembered(directory: Path) -> tuple[int, float]:
    """The last event that was told of, and when that was."""
    try:
        kept = jsonlib.loads(read_whole(directory / MARK, 1_000))
        day_and_time(kept["at"])  # is it a time at all?
        return int(kept["seq"]), float(kept["at"])
    except FileNotFoundError:
        return 0, 0.0
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise StoreError(f"{directory / MARK} is damaged: delete it, and --since last starts over") from error
    except OSError as error:
        raise StoreError(f"cannot read {directory / MARK}: {error.strerror}; delete it to start over") from error


def _remember(directory: Path, seq: int, at: float) -> None:
    try:
        with replacing(directory / MARK) as file:
            file.write(jsonlib.dumps({"seq": seq, "at": at}).encode() + b"\n")
    except OSError as error:
        raise StoreError(
            f"cannot write {directory / MARK}: {error.strerror}; the next --since last will list the same changes again"
        ) from error


# -- for machines ----------------------------------------------------------------------------------------------


def _write(log: SqliteLog, wanted: Wanted, asked: _Asked, title: str, file: Path) -> None:
    shown = [told for told in feeds.newest(log, wanted, upto=asked.upto, since=asked.since) if told.seq > asked.after]
    at, _ = ledger.last_look(log)
    excerpt = Excerpts(Versions(log, log.path.parent / "archive"))
    body = feeds.atom(
        shown, crawl=ledger.identity(log).urn, title=title, at=at, says=lambda told: ledger.story(told, excerpt(told))
    )
    feeds.save(file, body)
    print(f"{file}: {many(len(shown), 'change')}")


def _as_json(log: SqliteLog, directory: Path, wanted: Wanted, asked: _Asked) -> None:
    """Line by line but one object: however many there are, they are not all in memory."""
    tally: Counter[str] = Counter()
    print(
        f'{{"directory": {jsonlib.dumps(str(directory))}, "crawl": "{ledger.identity(log).urn}", "changes": [', end=""
    )
    between = "\n"
    for told in ledger.changes(log, after=asked.after, upto=asked.upto, since=asked.since, wanted=wanted):
        tally[told.change.what] += 1
        print(f"{between}{jsonlib.dumps(facts(told))}", end="")
        between = ", "
    rest = {
        "counts": tally,
        "unchanged": ledger.quiet_looks(log, after=asked.after, upto=asked.upto, since=asked.since),
        "last_event": asked.upto,
    }
    print(f"], {jsonlib.dumps(rest)[1:]}")


# -- for people ------------------------------------------------------------------------------------------------


def _list(console: Console, log: SqliteLog, directory: Path, wanted: Wanted, asked: _Asked, *, explain: bool) -> None:
    tally: Counter[str] = Counter()
    hidden = 0
    wider = replace(wanted, cosmetic=True)
    for told in ledger.changes(log, after=asked.after, upto=asked.upto, since=asked.since, wanted=wider):
        if not wanted.takes(told):
            hidden += 1
            continue
        tally[told.change.what] += 1
        _show(console, told, explain=explain)
    quiet = ledger.quiet_looks(log, after=asked.after, upto=asked.upto, since=asked.since)
    narrowed = replace(wanted, cosmetic=False) != Wanted()
    found = counts(tally) if tally or not narrowed else "no matching change"
    closing = [f"{found}{f' {asked.told}' if asked.told else ''}"]
    if hidden:
        closing.append(f"{hidden:,} cosmetic only (--cosmetic shows them)")
    if quiet:
        closing.append(f"{many(quiet, 'revisit')} without changes")
    if tally:
        console.print()
    line = "; ".join(closing)
    _wrapped(console, Text(f"{line[:1].upper()}{line[1:]}.", "bold" if tally else ""))
    if not tally:
        _how_to_look(console, log, directory)


def _how_to_look(console: Console, log: SqliteLog, directory: Path) -> None:
    """When the pages were last looked at, and how to look again."""
    at, again = ledger.last_look(log)
    if not at:
        told = "No page has been fetched yet."
    elif again:
        told = f"The last revisit was on {day_and_time(at)}."
    else:
        told = f"No page has been revisited yet; the crawl's last visit was on {day_and_time(at)}."
    _wrapped(console, Text(told))
    console.print(Text(f"Revisit with: lycosa refresh {shlex.quote(str(directory))}"), soft_wrap=True)


def _show(console: Console, told: Told, *, explain: bool) -> None:
    """What happened, in what way and how much; where; and what was said of it. In a narrow terminal line by line."""
    change, when = told.change, Text(f"{day_and_time(told.at)[:16]}  ", "dim")
    how = f"{change.kind:<9} {bar(change.magnitude)} {share(change.magnitude):>5}" if change.what == "changed" else ""
    if console.width < NARROW:
        indent = "  "
        console.print(when.append(change.what, COLOURS[change.what]))
        if how:
            console.print(Text(f"{indent}{how}"))
        _wrapped(console, Text(name(told), "bold"), Text(indent))
    else:
        indent = " " * 18
        line = when.append(f"{change.what:<9}", COLOURS[change.what])
        line.append(f"{how:<21} ", "default").append(name(told), "bold")
        console.print(line, no_wrap=True, overflow="ellipsis")
    console.print(Text(f"{indent}{plain(told.url, 10_000)}", "cyan"), soft_wrap=True)
    for text in _said(told, explain=explain):
        _wrapped(console, Text(text, "dim"), Text(indent))


def _said(told: Told, *, explain: bool) -> list[str]:
    """The first thing that was said of a change; with --explain all of them, and what came before."""
    said = reasons(told.change)
    if not explain:
        return said[:1]
    if told.change.what in ("changed", "returned") and told.was != told.beta:
        said.append(f"score {told.was:.2f} before, {told.beta:.2f} now")
    if told.follows:
        said.append(f"the previous version is from {day_and_time(told.follows)}")
    return said


def _wrapped(console: Console, text: Text, first: Text | None = None) -> None:
    """Lines that fit; addresses in one piece."""
    if "://" in text.plain:
        console.print((first or Text()) + text, soft_wrap=True)
    else:
        wrapped(console, text, first, max(console.width, 1))
