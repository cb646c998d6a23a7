"""Golden crawls: show that a change of the code does not change the picks of default crawls.

    python tools/golden.py                     compare with tests/golden/picks.tsv
    python tools/golden.py --record            record the picks again, after an intended change
    python tools/golden.py --against COMMIT    compare with another version, run on this machine
    python tools/golden.py webkb web/1         only these crawls

Each crawl has the default judge and strategy, one request at a time, on a virtual clock: four topics on the embedded
test web and four on each corpus that is present. At the first difference the recorded candidate and the one picked
instead are printed with their priorities. Closer than 1e-6 is a tie, which rounding on another CPU may decide: it is
listed, and the crawl is run again in the recorded order from there. Anything else is a change of behaviour (exit 1).

The same script runs the other version, so imports from lycosa below must try the new name first and then the old one.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import lycosa
from lycosa.core.errors import FetchError
from lycosa.core.options import Options
from lycosa.spaces.making import web_space
from lycosa.testweb import Web
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.text import embeddings
from lycosa.web.fetch import Response
from lycosa.web.urls import canonical

with warnings.catch_warnings():  # fastwarc warns about its own older classes
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests/golden/picks.tsv"
CORPORA = Path(os.environ.get("CORPORA", ROOT / "../shared/corpora"))
PAGES, PICKS = 100, 200  # a crawl ends at whichever limit it reaches first
TIE = 1e-6
MAX_TIES = 20  # per crawl; it is run again after each tie
WEB = "web"
MEMORY = "/dev/shm"  # a file system where syncing is free

WIKI = "http://wikispeedia.test/wp/"
MDN = "http://developer.mozilla.test/en-US/docs/"
CRAWLS: dict[str, tuple[str, list[str]]] = {
    # The test web has its own topics; without seeds, the crawl starts from portals.
    "web/coral": ("marine biology/coral reefs", []),
    "web/locomotives": ("railways/steam locomotives", []),
    "web/castles": ("medieval history/castles", []),
    "web/owls": ("birdwatching/owls", []),
    "wikispeedia-blind/volcanoes": ("volcanoes and earthquakes", [WIKI + "f/France.htm"]),
    "wikispeedia-blind/dinosaurs": ("dinosaur fossils", [WIKI + "b/Bird.htm", WIKI + "l/London.htm"]),
    "wikispeedia-blind/steam": ("steam engines and railways", [WIKI + "e/Earth.htm"]),
    "wikispeedia-blind/jazz": ("jazz musicians", [WIKI + "j/Jazz.htm", WIKI + "m/Mathematics.htm"]),
    "webkb/learning": ("machine learning research", ["http://www.cs.cornell.edu/"]),
    "webkb/systems": ("operating systems course", ["http://www.cs.utexas.edu/"]),
    "webkb/databases": ("database research", ["http://www.cs.cornell.edu/", "http://www.cs.washington.edu/"]),
    "webkb/robots": ("robotics and computer vision", ["http://www.cs.utexas.edu/"]),
    "mdn/accessibility": ("accessibility for screen readers", [MDN + "Archive"]),
    "mdn/xul": ("XUL popup menus", [MDN + "Archive/Add-ons/Overlay_Extensions/XUL_School/Adding_sidebars"]),
    "mdn/messages": ("sending SMS messages", [MDN + "API/WebSMS", MDN + "31"]),
    "mdn/plugins": ("writing browser plugins", [MDN + "A_Brief_Guide_to_Mozilla_Preferences"]),
}


class Pick(NamedTuple):
    url: str
    priority: float
    rival: float | None = None
    """Priority of the recorded pick in this crawl at this moment; None if it was not in the frontier."""


@dataclass
class Outcome:
    """One crawl compared with its record."""

    ties: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class RecordedTransport:
    """Transport that answers from a WARC file, with response times drawn from the URL; other hosts are unknown."""

    def __init__(self, path: Path) -> None:
        self.path, self.offsets = path, dict[str, int]()
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False):
                url = record.headers["WARC-Target-URI"]
                self.offsets.setdefault(canonical(url) or url, record.stream_pos)
        self.hosts = {urlsplit(url).netloc for url in self.offsets}

    async def address(self, url: str) -> str:
        """Return an IP address of the benchmark network (RFC 2544)."""
        host = urlsplit(url).netloc
        if host not in self.hosts:
            raise FetchError("unknown-host", f"no such host: {host}")
        return f"198.18.0.{zlib.crc32(host.encode()) % 256}"

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        address = await self.address(url)
        await asyncio.sleep(0.05 + zlib.crc32(url.encode()) % 1000 / 1000)
        status, fields, body = 404, [("Content-Type", "text/html")], b"not recorded"
        if url in self.offsets:
            with open(self.path, "rb") as file:
                file.seek(self.offsets[url])
                record = next(iter(ArchiveIterator(file)))
                status, fields = record.http_headers.status_code, list(record.http_headers.items())
                body = record.reader.read()
        raw = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in fields]
        by_name = {key.lower(): value for key, value in fields}
        return Response(status, f"HTTP/1.1 {status} -".encode(), raw, body, address, fields=by_name)

    async def close(self) -> None:
        pass


recorded_transport = cache(RecordedTransport)  # each corpus is read once


def is_here(name: str, corpora: Path) -> bool:
    """Return whether the pages of a crawl are available on this machine."""
    corpus = name.split("/")[0]
    return corpus == WEB or (corpora / f"{corpus}.warc.gz").is_file()


def run(name: str, corpora: Path, recorded: Sequence[Pick] = (), swaps: dict[int, str] | None = None) -> list[Pick]:
    """Run a crawl and return its picks. `swaps`: ties by number, where the recorded pick replaces the URL given."""
    topic, seeds = CRAWLS[name]
    options: dict[str, Any] = {"budget": PAGES, "concurrency": 1}
    if (corpus := name.split("/")[0]) == WEB:
        web = Web()
        seeds, topic = web.seeds(topic), web.query(topic)
        transport: Any = SimTransport(web, seed=1)
        options["allow_network"] = ["127.0.0.0/8"]
    else:
        transport = recorded_transport(corpora / f"{corpus}.warc.gz")
    picks: list[Pick] = []

    async def crawl() -> None:
        space = web_space(Options.from_mapping(options, "golden"), clock)
        space.transport, space.names = transport, None  # no sockets and no name servers
        going = lycosa.crawl(topic, seeds, out=Path(directory) / "crawl", space=space, clock=clock, **options)
        chosen = _watch(await going.open(), picks, recorded, swaps or {})
        async with going:
            async for visit in going:
                if visit.pick:  # a prerequisite, such as robots.txt, counts as a pick of its page
                    page = visit.origin or visit.url
                    picks.append(Pick(page, *chosen[page]))
                if len(picks) == PICKS:
                    break

    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as directory:
        run_virtual(crawl())
    return picks


def _watch(
    engine: Any, picks: list[Pick], recorded: Sequence[Pick], swaps: dict[int, str]
) -> dict[str, tuple[float, float | None]]:
    """Record, by picked URL, its priority and the recorded pick's, and let the latter win the ties of `swaps`."""
    table, strategy, original = engine.table, engine.strategy, engine.strategy.pick
    chosen: dict[str, tuple[float, float | None]] = {}

    def pick(number: int, frontier: Any, now: float) -> Any:
        best, at, rival = original(number, frontier, now), len(picks), None
        if best.row < 0:
            return best
        row = table.row_of.get(recorded[at].url) if at < len(recorded) else None
        if row is not None and table.state[row] == table.state[best.row]:  # open
            rival = float(frontier.priority[row])
            if swaps.get(at) == table.nodes[best.row]:
                choose = lambda rows: row if row in rows else best.row  # noqa: E731
                best = strategy.pick_other(best, best.priority - TIE, choose, frontier, now)
        chosen[table.nodes[best.row]] = float(best.priority), rival
        return best

    strategy.pick = pick
    return chosen


def compare(name: str, corpora: Path, recorded: Sequence[Pick]) -> Outcome:
    """Run a crawl and compare it with its record up to the first difference that is not a tie."""
    outcome, swaps = Outcome(), dict[int, str]()
    while True:
        picks = run(name, corpora, recorded, swaps)
        at = next((at for at, (was, now) in enumerate(zip(recorded, picks, strict=False)) if was.url != now.url), None)
        if at is None:
            break
        was, now = recorded[at], picks[at]
        line = (
            f"{name}, pick {at + 1}: recorded {was.url} (priority {was.priority:.9g}, "
            f"now {'not in the frontier' if now.rival is None else format(now.rival, '.9g')}), "
            f"picked {now.url} (priority {now.priority:.9g})"
        )
        if now.rival is None or not abs(now.rival - now.priority) < TIE:
            outcome.changes.append(line)
        elif at in swaps:
            outcome.changes.append(f"{outcome.ties.pop()}: equal priorities, but the recorded page was not ready")
        else:
            outcome.ties.append(line)
            swaps[at] = now.url
            if len(swaps) < MAX_TIES:
                continue
            outcome.notes.append(f"{name}: stopped after {MAX_TIES} ties")
        return outcome
    if len(picks) != len(recorded):
        outcome.changes.append(f"{name}: {len(picks)} picks, recorded were {len(recorded)}; those before are the same")
    drift = [abs(was.priority - now.priority) for was, now in zip(recorded, picks, strict=False)]
    if most := max((moved for moved in drift if moved >= TIE), default=0):
        outcome.notes.append(f"{name}: same picks, but priorities differ by up to {most:.3g}")
    return outcome


def digest(picks: Iterable[Pick]) -> str:
    """Return the hash of the picked URLs in order."""
    return hashlib.sha256("\n".join(pick.url for pick in picks).encode()).hexdigest()[:16]


def write(crawls: dict[str, list[Pick]], path: Path) -> None:
    """Write a line with name, hash and common prefix of the URLs for each crawl, followed by a line for each pick."""
    lines = []
    for name, picks in crawls.items():
        start = os.path.commonprefix([pick.url for pick in picks])  # noqa: RUF071 - of characters
        lines.append(f"# {name}\t{digest(picks)}\t{start}")
        lines += [f"{pick.priority:.9g}\t{pick.url.removeprefix(start)}" for pick in picks]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def read(path: Path) -> dict[str, list[Pick]]:
    """Read the output of `write`."""
    crawls: dict[str, list[Pick]] = {}
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        if line.startswith("# "):
            name, _, start = line[2:].split("\t")
            crawls[name] = picks = []
        else:
            priority, rest = line.split("\t")
            picks.append(Pick(start + rest, float(priority)))
    return crawls


def picks_of(commit: str, names: Sequence[str], corpora: Path) -> dict[str, list[Pick]]:
    """Run the crawls with the sources of another version, in a separate process."""
    with tempfile.TemporaryDirectory() as place:
        tree, out = Path(place) / "tree", Path(place) / "picks.tsv"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            text = next(tree.glob("**/src/lycosa/text"))
            # The word vectors are created at installation and are not in git.
            shutil.copytree(Path(embeddings.VECTORS_DIRECTORY), text / "word_vectors", dirs_exist_ok=True)
            command = [sys.executable, __file__, "--picks", str(out), "--corpora", str(corpora), *names]
            sources = str(text.parent.parent)
            subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": sources})
            return read(out)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; return 1 if a crawl has changed."""
    parser = argparse.ArgumentParser(description="Show that the picks of default crawls did not change.")
    parser.add_argument("names", nargs="*", help="crawls or corpora; default: all")
    parser.add_argument("--record", action="store_true", help="record the picks again")
    parser.add_argument("--against", metavar="COMMIT", help="compare with this version, run on this machine")
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="where the corpora are (default: %(default)s)")
    # internal: run only, and write the picks to this file
    parser.add_argument("--picks", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    corpora = given.corpora.resolve()
    names = [name for name in CRAWLS if not given.names or {name, name.split("/")[0]} & {*given.names}]
    absent = [name for name in names if not is_here(name, corpora)]
    names = [name for name in names if name not in absent]
    if given.picks and not Path(lycosa.__file__).is_relative_to(os.environ.get("PYTHONPATH", "/")):
        raise SystemExit(f"{lycosa.__file__} is not the version to compare with")
    if given.picks or given.record:
        new = {name: run(name, corpora) for name in names}
        if given.record:
            kept = read(RECORDED) if RECORDED.exists() else {}
            new = {name: picks for name in CRAWLS if (picks := new.get(name) or kept.get(name))}
        write(new, given.picks or RECORDED)
        return 0
    recorded = picks_of(given.against, names, corpora) if given.against else read(RECORDED)
    changed = 0
    for name in names:
        began = time.perf_counter()
        outcome = compare(name, corpora, recorded.get(name, []))
        changed += bool(outcome.changes)
        state = "CHANGED" if outcome.changes else "same"
        print(f"{name:<30} {digest(recorded.get(name, []))} {state} ({time.perf_counter() - began:.1f} s)", flush=True)
        for kind in ("changes", "ties", "notes"):
            for line in getattr(outcome, kind):
                print(f"  {kind.rstrip('s')}: {line}")
    for name in absent:
        print(f"{name:<30} skipped: its corpus is not in {corpora}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
