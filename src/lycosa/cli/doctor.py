"""`lycosa doctor`: what is installed, what is missing, what that costs, and whether a crawl works here.

What is looked at is imported when it is looked at: what is missing is a finding, and no reason to fail.
"""

from __future__ import annotations

import locale
import os
import platform
import re
import resource
import shutil
import sqlite3
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from rich.text import Text

from lycosa.cli.parameters import Json
from lycosa.cli.printing import NARROW, output, print_json
from lycosa.drawing.formats import many
from lycosa.version import __version__

_MARKS: dict[State, tuple[str, str]] = {"ok": ("  ", ""), "costs": ("- ", "yellow"), "broken": ("x ", "red")}


def doctor(json: Json = False) -> None:
    """Check the installation and suggest fixes."""
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
        return f"Lycosa does not work on this machine: {broken} {'thing is' if broken == 1 else 'things are'} broken."
    better = f" {many(costly, 'thing')} could be improved." if costly else ""
    return f"Lycosa works on this machine.{better}"


State = Literal["ok", "costs", "broken"]

# extra, package, and what it is for
EXTRAS = (
    ("pandas", "pandas", "pages as a DataFrame (lycosa.open(...).to_pandas())"),
    ("parquet", "pyarrow", "lycosa export --format parquet"),
    ("train", "scikit-learn", "lycosa train --kind svm or nn"),
    ("scrapy", "scrapy", "a frontier for Scrapy projects (lycosa.scrapy)"),
    ("lab", "pyarrow", "tables of links, results as Parquet (lycosa lab)"),
    ("lab", "scikit-learn", "the classifiers of some papers (lycosa lab paper)"),
    ("browser", "playwright", "pages that need JavaScript (--render); a Chromium must be installed, too"),
    ("server", "alembic", "changes of the server's database between releases (lycosa serve)"),
    ("server", "argon2-cffi", "passwords of accounts (lycosa serve)"),
    ("server", "fastapi", "the API and the pages for many people (lycosa serve)"),
    ("server", "prometheus-client", "metrics of a server (lycosa serve)"),
    ("server", "python-multipart", "uploads of bookmarks and lists (lycosa serve)"),
    ("server", "sqlalchemy", "the server's database (lycosa serve)"),
    ("server", "uvicorn", "the web server (lycosa serve)"),
    ("cluster", "ray[data,default]", "crawls on many machines (lycosa crawl --cluster)"),
    ("mcp", "mcp", "collections for agents (lycosa mcp)"),
    ("telemetry", "opentelemetry-api", "spans of a crawl for OpenTelemetry"),
    ("remote", "fsspec", "WARC files that move elsewhere (lycosa crawl --archive)"),
    ("s3", "s3fs", "the same for S3 (--archive s3://...)"),
    ("notify", "apprise", "messages about changes (lycosa watch --notify)"),
    ("postgres", "psycopg[binary]", "accounts in PostgreSQL (lycosa serve --database)"),
)

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?\s*(?:(>=|==)\s*([\w.]+))?")


@dataclass(slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    told: str
    cost: str = ""  # what does not work, or not well
    remedy: str = ""


def _weighed(what: str, told: str, bad: bool, cost: str, remedy: str) -> Iterator[Finding]:
    """A finding that is well, or costs something."""
    yield Finding(what, "costs", told, cost, remedy) if bad else Finding(what, "ok", told)


def examine() -> Iterator[Finding]:
    """All findings, in the order in which they are shown."""
    installed = (_python, _packages, _extras, _chromium, _wordnet, _sqlite)
    for look in (*installed, _clock, _disk, _files, _terminal, _text, _completion):
        yield from _safely(look)


def _safely(look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """A look that fails is a finding, too."""
    name = look.__name__.strip("_")
    try:
        yield from look()
    except Exception as error:
        told = f"{type(error).__name__}: {error}"[:300]
        yield Finding(name, "broken", told, f"{name} could not be examined", "report this line as a bug of Lycosa")


# -- what is installed -------------------------------------------------------------------------------------------


def _python() -> Iterator[Finding]:
    told = f"Lycosa {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Finding("versions", "ok", told)


def _packages() -> Iterator[Finding]:
    """What Lycosa needs, by its own metadata."""
    try:
        needed = [line for line in metadata.requires("lycosa") or [] if "extra" not in line]
    except metadata.PackageNotFoundError:
        yield Finding(
            "packages",
            "costs",
            "Lycosa runs from a directory that was not installed",
            "its dependencies are unknown",
            "pip install -e . in that directory",
        )
        return
    found: list[str] = []
    for name, wanted, version in map(_installed, needed):
        if not version:
            yield Finding(name, "broken", "not installed", "Lycosa needs it", f"pip install '{wanted}'")
        elif not _satisfies(version, wanted):
            yield Finding(name, "broken", f"{version}, needed is {wanted}", "it may fail", f"pip install '{wanted}'")
        else:
            found.append(f"{name} {version}")
    yield Finding("packages", "ok", f"{len(found)} of {len(needed)}: {', '.join(found)}")


def _extras() -> Iterator[Finding]:
    for extra, package, purpose in EXTRAS:
        name, _, version = _installed(package)
        if version:
            yield Finding(name, "ok", f"{version}, for {purpose}")
        else:
            yield Finding(name, "costs", "not installed", f"no {purpose}", f"pip install 'lycosa[{extra}]'")


def _installed(requirement: str) -> tuple[str, str, str]:
    """Name, what is wanted of it, and the version that is installed."""
    wanted = requirement.partition(";")[0].strip()
    found = _REQUIREMENT.match(wanted)
    name = found[1] if found else wanted
    try:
        return name, wanted, metadata.version(name)
    except metadata.PackageNotFoundError:
        return name, wanted, ""


def _satisfies(version: str, wanted: str) -> bool:
    """Whether a version is the wanted one, or at least as high.

    >>> _satisfies("4.10", "ada-url>=4.9"), _satisfies("1.15.3", "turbohtml==1.15.4"), _satisfies("1", "yarl")
    (True, False, True)
    """
    found = _REQUIREMENT.match(wanted)
    if found is None or not found[3]:
        return True
    if found[2] == "==":
        return version == found[3]
    have, want = ([int(number) for number in re.findall(r"\d+", text)] for text in (version, found[3]))
    return have[: len(want)] >= want[: len(have)]


def _chromium() -> Iterator[Finding]:
    from lycosa.browser.finding import CHROMIUM, find_chromium

    found = find_chromium()
    cost = "pages that need JavaScript are read without it"
    yield from _weighed("Chromium", found or "not installed", not found, cost, CHROMIUM)


def _wordnet() -> Iterator[Finding]:
    """Whether it is there, and can be read."""
    from lycosa.core.errors import InputError
    from lycosa.text.meanings import ontology

    try:
        known = ontology()
    except InputError as error:
        told, _, remedy = str(error).rpartition("; ")
        yield Finding(
            "WordNet", "costs", told, "judges and strategies that use word meanings are not available", remedy
        )
    else:
        yield Finding("WordNet", "ok", f"{known.source}, {len(known):,} synsets")


def _sqlite() -> Iterator[Finding]:
    lacks = True
    with closing(sqlite3.connect(":memory:")) as database, suppress(sqlite3.Error):
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        lacks = False
    told = f"{sqlite3.sqlite_version}{' without full-text search (FTS5)' if lacks else ', with full-text search'}"
    remedy = "a Python whose SQLite has FTS5: those of python.org, conda and uv do"
    return _weighed("SQLite", told, lacks, "no lycosa search", remedy)


# -- the machine -------------------------------------------------------------------------------------------------


def _clock() -> Iterator[Finding]:
    """Our own files can't be younger than now."""
    now = time.time()
    behind = now + 24 * 3600 < Path(__file__).stat().st_mtime
    told = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now)) + (", before Lycosa was installed" if behind else "")
    cost = "wrong dates in the archive, and certificates of https hosts may be refused"
    return _weighed("clock", told, behind, cost, "set the clock")


def _disk() -> Iterator[Finding]:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    told = f"{free / 1e9:,.1f} GB free in {here}"
    if not os.access(here, os.W_OK):
        return _weighed("disk", f"{here} can't be written", True, "no crawl can be kept here", "use --out DIR")
    # bytes: room for one file of the archive
    return _weighed("disk", told, free < 1_000_000_000, "a crawl stops when it is full", "free some, or use --out DIR")


def _files() -> Iterator[Finding]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    told = f"{soft:,} at once" if soft != resource.RLIM_INFINITY else "no limit"
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or hard > soft):
        told += ", more in a crawl, which raises that"
    cost = "connections are closed early, crawls are slower"
    # fewer: connections are closed and opened again all the time
    return _weighed("open files", told, 0 <= hard < 1_024, cost, "raise 'ulimit -Hn'")


def _terminal() -> Iterator[Finding]:
    console = output()
    if not sys.stdout.isatty():
        told = "none: plain output, without colours and pictures"
    else:
        colours = "without colours" if console.no_color or not console.color_system else "with colours"
        told = f"{console.width} columns, {colours}"
        if "NO_COLOR" in os.environ:
            told += " (NO_COLOR is set)"
        if console.is_dumb_terminal:
            told += f" and without live pictures (TERM={os.environ.get('TERM', '')})"
    yield Finding("terminal", "ok", told)


def _text() -> Iterator[Finding]:
    encoding = sys.stdout.encoding or locale.getpreferredencoding(False)
    other = encoding.lower().replace("-", "") != "utf8"
    cost = "titles in other scripts are shown as question marks; what is stored is not affected"
    remedy = "export PYTHONUTF8=1, or a locale such as LANG=C.UTF-8"
    return _weighed("text", f"{encoding}, not UTF-8" if other else "UTF-8", other, cost, remedy)


def _completion() -> Iterator[Finding]:
    """Typer keeps the script in a file of its own for each shell."""
    shell = Path(os.environ.get("SHELL", "")).name
    home = Path.home()
    kept = {
        "bash": home / ".bash_completions" / "lycosa.sh",
        "zsh": home / ".zfunc" / "_lycosa",
        "fish": home / ".config" / "fish" / "completions" / "lycosa.fish",
    }
    if shell not in kept:
        told = f"for bash, zsh and fish; your shell is {shell or 'not known'}"
        return _weighed("completion", told, False, "", "")
    missing = not kept[shell].exists()
    told = f"{'not ' if missing else ''}installed for {shell}"
    return _weighed("completion", told, missing, "more typing", "lycosa --install-completion")


def try_crawl() -> Iterator[Finding]:
    """Crawl five pages on this machine over HTTP, keep them, and read them back: measured, not assumed."""
    try:
        with tempfile.TemporaryDirectory(prefix="lycosa-doctor-") as directory:
            yield from _crawl(Path(directory) / "crawl")
    except OSError as error:
        yield Finding(
            "trial",
            "broken",
            str(error),
            "a crawl of five pages on this machine can't be kept",
            f"see that {tempfile.gettempdir()} can be written, or set TMPDIR to a directory that can",
        )
    except Exception as error:
        yield Finding(
            "trial",
            "broken",
            f"{type(error).__name__}: {error}"[:300],
            "a crawl of five pages on this machine does not work",
            "reinstall: pip install --force-reinstall lycosa",
        )


def _crawl(out: Path) -> Iterator[Finding]:
    from lycosa.collection.reading import Collection
    from lycosa.crawling import crawl
    from lycosa.testing import Web, serve

    wanted = 5
    web = Web(pages=60, hosts=3, traps=())
    with serve(web, record=False) as server:
        seeds = [server.url(host) for host in web.hosts][:3]
        began = time.perf_counter()
        visits = list(
            crawl("coral reef", seeds, out=out, budget=wanted, delay=0.0, allow_network=["127.0.0.0/8"], max_time=20.0)
        )
        seconds = time.perf_counter() - began
    pages = [visit for visit in visits if visit.is_page]
    if len(pages) != wanted:
        why = next((visit.complaint for visit in visits if visit.outcome != "ok"), "no reason was given")
        yield Finding(
            "trial crawl",
            "broken",
            f"{len(pages)} of {wanted} pages could be fetched: {why}",
            "nothing can be crawled",
            "let programs connect to 127.0.0.1: a firewall or a sandbox may forbid it",
        )
        return
    yield Finding("trial crawl", "ok", f"{wanted} pages over HTTP on this machine in {seconds:.2f} s")
    with Collection(out) as collection:
        kept = [visit for _, visit in collection.pages(copies=True)]
        read = [visit for visit in kept if collection.document(visit).marked]
    state: State = "ok" if len(read) == wanted else "broken"
    yield Finding(
        "trial archive",
        state,
        f"{len(read)} of {wanted} pages read back from log and WARC",
        "" if state == "ok" else "what is crawled can't be read again",
        "" if state == "ok" else f"check the disk that holds {tempfile.gettempdir()}",
    )
