"""Cost of rendering, and robustness of a browser over many pages with random kills.

    python benchmarks/rendering.py --pages 2000 --kills 20
    python benchmarks/rendering.py --crawl 300

A process renders pages of seven kinds of applications in turn; its memory and its browser's are sampled every few
pages. At random times the process or its browser is killed with signal 9, and a new process continues. At the end no
process and no file may be left.

With `--crawl`, a web in which half of the hosts need a browser is crawled for a topic, and the same web as static
pages: printed are the rendered pages and the harvests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import lycosa
from lycosa.browser import orphans
from lycosa.browser.finding import find_chromium
from lycosa.browser.rendering import Rendering
from lycosa.core.options import Options
from lycosa.spaces.making import wall_clock, web_space
from lycosa.testweb import serve

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "helpers"))

from app_web import AppWeb

EVERY = 10


async def print_sample(done: int, failed: int, rendering: Rendering) -> None:
    """Print a sample of memory and counts."""
    assert rendering.browser is not None
    own = resource.getrusage(resource.RUSAGE_SELF)
    rss = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    browser = sum(map(orphans.memory, orphans.processes(str(rendering.browser.directory)))) / 1e6
    sample = {
        "done": done, "failed": failed, "browsers": rendering.browser.started,
        "browser MB": round(browser), "own MB": round(rss),
        "own CPU": round(own.ru_utime + own.ru_stime, 1), "directory": str(rendering.browser.directory),
    }  # fmt: skip
    print(json.dumps(sample), flush=True)


async def render(pages: int, port: int, start: int) -> None:
    """Render pages of the served web; print a line of JSON for each sample."""
    options = Options(render="always", delay=0.0, address_delay=0.0, allow_network=["127.0.0.0/8"])
    space, rendering = web_space(options, wall_clock()), Rendering(options, find_chromium())
    web = AppWeb(seed=7, pages=700, hosts=15, traps=[], port=port)
    urls = [url for url in web.urls() if web.app(url)]
    random.Random(1).shuffle(urls)
    numbers, done, failed = iter(range(start, pages)), start, 0

    async def work() -> None:
        nonlocal done, failed
        for number in numbers:
            url = urls[number % len(urls)]
            response = await space.transport.fetch(url.partition("#")[0], space.headers, frozenset())
            shown = await rendering.render(url, response, space.resources.fetch)
            failed += bool(shown.failed) or len(shown.dom) < 1000
            done += 1
            if done % EVERY == 0 or done == pages:
                await print_sample(done, failed, rendering)

    await asyncio.gather(*(work() for _ in range(options.render_at_once)))
    await rendering.close()
    await space.close()
    all_of_it = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"children CPU": round(all_of_it.ru_utime + all_of_it.ru_stime, 1)}), flush=True)


def run(pages: int, kills: int) -> None:
    """Run the rendering process, and kill it at random times."""
    rng, done, samples, failed = random.Random(3), 0, list[dict[str, int]](), 0
    moments = sorted(rng.sample(range(EVERY, pages - EVERY), kills)) if kills else []
    began, killed, left, directories = time.monotonic(), 0, 0, set[str]()
    with serve(AppWeb(seed=7, pages=700, hosts=15, traps=[]), record=False) as server:
        while done < pages:
            command = [sys.executable, __file__, "--render", str(pages), str(server.port), str(done)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    sample = json.loads(line)
                    if "children CPU" in sample:
                        print(f"CPU time of the last process's browsers: {sample['children CPU']} s")
                        continue
                    samples.append(sample)
                    done = sample["done"]
                    directories.add(sample["directory"])
                    if done % 100 == 0:
                        print({key: sample[key] for key in sample if key != "directory"}, flush=True)
                    if moments and done >= moments[0]:
                        moments.pop(0)
                        killed += 1
                        victims = [process.pid] if killed % 2 else orphans.processes(sample["directory"])[:1]
                        for pid in victims:
                            os.kill(pid, signal.SIGKILL)
                        print(
                            f"killed after {done} pages: {'the process' if killed % 2 else 'its browser'}", flush=True
                        )
                        if killed % 2:
                            break
            failed += samples[-1]["failed"]
    seconds = time.monotonic() - began
    left += sum(_left(directory) for directory in directories)
    halves = [
        [sample["own MB"] for sample in samples[half]]
        for half in (slice(0, len(samples) // 2), slice(len(samples) // 2, None))
    ]
    most = max(sample["browser MB"] for sample in samples)
    print(f"{done} pages in {seconds:.0f} s, {seconds / done:.2f} s per page; {killed} kills, {failed} pages failed")
    print(f"browser: at most {most} MB; own process: at most {max(halves[0])} and {max(halves[1])} MB in the halves")
    print(f"left behind: {left} processes or directories")


def crawl(pages: int) -> None:
    """Crawl a web with applications, and the same web without them; print a line for each seed."""
    topic = "marine biology/coral reefs"
    for seed in (7, 8, 9):
        harvests, rendered, summary = list[float](), list[int](), ""
        for apps in (0, 7):
            web = AppWeb(seed=seed, pages=700, hosts=15, traps=[], apps=apps)
            with serve(web, record=False), tempfile.TemporaryDirectory() as out:
                given: dict[str, Any] = {"delay": 0.0, "allow_network": ["127.0.0.0/8"], "budget": pages}
                visits = list(lycosa.crawl(web.query(topic), web.seeds(topic), out=Path(out) / "crawl", **given))
            got = [visit for visit in visits if visit.is_page]
            harvests.append(sum(web.topic(_plain(visit.node)) == topic for visit in got) / len(got))
            need = [bool(web.app(visit.node)) for visit in got]
            was = ["rendered" in visit.flags for visit in got]
            rendered = [sum(a and b for a, b in zip(need, was, strict=True)), sum(need), sum(was)]
            others = f"{rendered[2] - rendered[0]} of {len(got) - rendered[1]} others"
            summary = f"{rendered[0]} of {rendered[1]} that need it, {others}"
        share = harvests[1] / harvests[0]
        print(
            f"seed {seed}: harvest {harvests[0]:.3f}, {harvests[1]:.3f} ({share:.1%}); rendered {summary}", flush=True
        )


def _plain(node: str) -> str:
    return node.replace("/#", "")


def _left(place: str, patience: float = 30.0) -> int:
    """Return the number of a browser's processes and directories that remain after a while."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if not orphans.processes(place) and not Path(place).exists():
            return 0
        time.sleep(0.1)
    return len(orphans.processes(place)) + Path(place).exists()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--render"]:
        asyncio.run(render(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--pages", type=int, default=2000)
        parser.add_argument("--kills", type=int, default=5)
        parser.add_argument("--crawl", type=int, default=0, metavar="PAGES")
        given = parser.parse_args()
        if given.crawl:
            crawl(given.crawl)
        else:
            run(given.pages, given.kills)
