"""`lycosa doctor`: check the installation, optional parts, and a small crawl.

Each part is imported only when it is checked, so a missing one is reported instead of failing.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import shlex
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from rich.text import Text

from lycosa.cli.parameters import Json
from lycosa.cli.printing import NARROW, LabelledText, Part, output, print_result
from lycosa.drawing.formats import many
from lycosa.version import __version__

# Packages of extras and of other Lycosa distributions, and their purpose.
TASKS: dict[str, tuple[str, str]] = {
    "pandas": ("pandas", "pages as a DataFrame (lycosa.open(...).to_pandas())"),
    "parquet": ("pyarrow", "lycosa export --format parquet"),
    "train": ("scikit-learn", "lycosa train --kind svm or nn"),
    "browser": ("playwright", "pages that need JavaScript (--render); a Chromium must be installed, too"),
    "mcp": ("mcp", "collections for agents (lycosa mcp)"),
    "telemetry": ("opentelemetry-api", "spans of a crawl for OpenTelemetry"),
    "notify": ("apprise", "messages about changes (lycosa watch --notify)"),
    "lycosa-lab": ("lycosa-lab", "experiments and their reports (lycosa lab)"),
    "lycosa-server": ("lycosa-server", "a server for a team (lycosa serve)"),
    "lycosa-server[postgres]": ("psycopg[binary]", "accounts in PostgreSQL (lycosa serve --database)"),
    "lycosa-cluster": ("lycosa-cluster", "crawls on many machines (lycosa crawl --cluster)"),
    "lycosa-scrapy": ("lycosa-scrapy", "a frontier for Scrapy projects"),
}


@dataclass(slots=True)
class CheckResult:
    """Result of one check. It is a problem if it has a cost."""

    name: str
    text: str
    cost: str = ""  # the missing or degraded feature
    remedy: str = ""
    essential: bool = False  # Lycosa does not work without it

    @property
    def broken(self) -> bool:
        return self.essential and bool(self.cost)


def doctor(*, json: Json = False) -> None:
    """Check the installation and suggest fixes."""
    findings = list(examine())
    broken = any(finding.broken for finding in findings)
    print_result({"works": not broken, "findings": findings}, _parts(findings), json=json)
    if broken:
        sys.exit(1)


def _parts(findings: list[CheckResult]) -> Iterator[Part]:
    margin = 2 + max(len(finding.name) for finding in findings)
    stacked = output().width < NARROW  # two columns do not fit
    for finding in findings:
        mark, colour = ("x ", "red") if finding.broken else ("- ", "yellow") if finding.cost else ("  ", "")
        first = Text.assemble((mark, colour), (f"{finding.name:<{margin}}", f"bold {colour}".rstrip()))
        if stacked:
            yield first
            first = Text("    ")
        yield LabelledText(first, finding.text)
        indent = " " * len(first)
        if finding.cost:
            yield LabelledText(indent, Text(f"costs: {finding.cost}", colour))
            yield LabelledText(indent, Text(f"to do: {finding.remedy}", "bold"))
    broken = sum(finding.broken for finding in findings)
    costly = sum(bool(finding.cost) for finding in findings)
    if broken:
        yield f"Lycosa does not work on this machine: {many(broken, 'thing')} {'is' if broken == 1 else 'are'} broken."
    else:
        better = f" {many(costly, 'thing')} could be improved." if costly else ""
        yield f"Lycosa works on this machine.{better}"


def examine() -> Iterator[CheckResult]:
    """Yield the results of all checks in display order; an exception in a check is a result as well."""
    for check in CHECKS:
        name = check.__name__.strip("_")
        try:
            yield from check()
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:300]
            remedy = f"report this line as a bug of Lycosa, unless {tempfile.gettempdir()} cannot be written"
            yield CheckResult(name, text, f"{name} could not be checked", remedy, essential=True)


def _packages() -> Iterator[CheckResult]:
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield CheckResult("versions", f"Lycosa {__version__}, {system}")
    try:
        needed = [line.partition(";")[0].strip() for line in metadata.requires("lycosa") or [] if "extra" not in line]
    except metadata.PackageNotFoundError:
        text = "Lycosa runs from a directory that was not installed"
        yield CheckResult("packages", text, "its dependencies are unknown", "pip install -e packages/lycosa in a clone")
        return
    found: list[str] = []
    for wanted in needed:
        name, version = _installed(wanted)
        if version and _satisfies(version, wanted):
            found.append(f"{name} {version}")
            continue
        text, cost = (f"{version}, needed is {wanted}", "it may fail") if version else ("not installed", "it is needed")
        yield CheckResult(name, text, cost, f"pip install '{wanted}'", essential=True)
    yield CheckResult("packages", f"{len(found)} of {len(needed)}: {', '.join(found)}")


def _extras() -> Iterator[CheckResult]:
    for extra, (packages, purpose) in TASKS.items():
        found = dict(map(_installed, packages.split()))
        missing = [name for name, version in found.items() if not version]
        if missing:
            wanted = extra if extra.startswith("lycosa-") else f"lycosa[{extra}]"
            remedy = f"pip install {shlex.quote(wanted)}"
            yield CheckResult(extra, f"without {', '.join(missing)}", f"no {purpose}", remedy)
        else:
            versions = ", ".join(f"{name} {version}" for name, version in found.items())
            yield CheckResult(extra, f"{versions}, for {purpose}")


def _installed(requirement: str) -> tuple[str, str]:
    name = re.split(r"[^\w.-]", requirement)[0]
    try:
        return name, metadata.version(name)
    except metadata.PackageNotFoundError:
        return name, ""


def _satisfies(version: str, wanted: str) -> bool:
    """Return whether a version satisfies a requirement (== or >=).

    >>> _satisfies("4.10", "ada-url>=4.9"), _satisfies("1.15.3", "turbohtml==1.15.4"), _satisfies("1", "yarl")
    (True, False, True)
    """
    found = re.search(r"(>=|==)\s*([\w.]+)", wanted)
    if found is None:
        return True
    have, want = ([int(number) for number in re.findall(r"\d+", text)] for text in (version, found[2]))
    return have == want if found[1] == "==" else have[: len(want)] >= want[: len(have)]


def _result(name: str, finding: str, bad: bool, cost: str, remedy: str) -> Iterator[CheckResult]:
    yield CheckResult(name, finding, cost, remedy) if bad else CheckResult(name, finding)


def _chromium() -> Iterator[CheckResult]:
    from lycosa.browser.finding import CHROMIUM, find_chromium

    found = find_chromium()
    cost = "pages that need JavaScript are read without it"
    return _result("Chromium", found or "not installed", not found, cost, CHROMIUM)


def _wordnet() -> Iterator[CheckResult]:
    from lycosa.core.errors import InputError
    from lycosa.text.meanings import load_ontology

    try:
        known = load_ontology()
    except InputError as error:
        text, _, remedy = str(error).rpartition("; ")
        yield CheckResult("WordNet", text, "judges and strategies that use word meanings are not available", remedy)
    else:
        yield CheckResult("WordNet", f"{known.source}, {len(known):,} synsets")


def _sqlite() -> Iterator[CheckResult]:
    lacks = True
    with closing(sqlite3.connect(":memory:")) as database, suppress(sqlite3.Error):
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        lacks = False
    text = f"{sqlite3.sqlite_version}{' without full-text search (FTS5)' if lacks else ', with full-text search'}"
    remedy = "a Python whose SQLite has FTS5: those of python.org, conda and uv do"
    return _result("SQLite", text, lacks, "no lycosa search", remedy)


def _disk() -> Iterator[CheckResult]:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    if not os.access(here, os.W_OK):
        return _result("disk", f"{here} can't be written", True, "no crawl can be kept here", "use --out DIR")
    text, little = f"{free / 1e9:,.1f} GB free in {here}", free < 1_000_000_000  # the size of one archive file
    return _result("disk", text, little, "a crawl stops when it is full", "free some, or use --out DIR")


def _files() -> Iterator[CheckResult]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    text = f"{soft:,} at once" if soft != resource.RLIM_INFINITY else "no limit"
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or hard > soft):
        text += ", more in a crawl, which raises that"
    cost = "connections are closed early, crawls are slower"
    return _result("open files", text, 0 <= hard < 1_024, cost, "raise 'ulimit -Hn'")


def _trial() -> Iterator[CheckResult]:
    """Crawl five local pages over HTTP, store them, and read them back."""
    from lycosa.collection.crawl_directory import CrawlDirectory
    from lycosa.crawling import crawl
    from lycosa.testweb import Web, serve

    web, near = Web(pages=60, hosts=3, traps=()), ["127.0.0.0/8"]
    with tempfile.TemporaryDirectory(prefix="lycosa-doctor-") as directory:
        out, began = Path(directory) / "crawl", time.perf_counter()
        with serve(web, record=False) as server:
            seeds = [server.url(host) for host in web.hosts][:3]
            visits = list(crawl("coral reef", seeds, out=out, budget=5, delay=0.0, allow_network=near, max_time=20.0))
        seconds, pages = time.perf_counter() - began, sum(visit.is_page for visit in visits)
        if pages != 5:
            why = next((visit.complaint for visit in visits if visit.outcome != "ok"), "no reason was given")
            text, remedy = f"{pages} of 5 pages could be fetched: {why}", "let programs connect to 127.0.0.1"
            yield CheckResult("trial", text, "nothing can be crawled", remedy, essential=True)
            return
        with CrawlDirectory(out) as collection:
            read = sum(bool(collection.document(visit).marked) for _, visit in collection.pages(copies=True))
    text = f"5 pages over HTTP on this machine in {seconds:.2f} s; {read} of 5 read back from log and WARC"
    if read == 5:
        yield CheckResult("trial", text)
    else:
        remedy = f"check the disk that holds {tempfile.gettempdir()}"
        yield CheckResult("trial", text, "archived pages cannot be read", remedy, essential=True)


CHECKS = (_packages, _extras, _chromium, _wordnet, _sqlite, _disk, _files, _trial)
