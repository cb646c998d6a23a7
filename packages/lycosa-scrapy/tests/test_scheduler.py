"""Scrapy projects with the scheduler, in processes that are killed."""

import http.server
import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from input_errors import raises_input_error
from lycosa.crawling import resume
from lycosa.store.log import SqliteLog
from lycosa.testweb import Web, serve
from places import ROOT

WALKER = ROOT / "tests" / "helpers" / "walker.py"
TOPIC = "marine biology/coral reefs"


def focused(directory: Path, **more: Any) -> dict[str, Any]:
    """Return the five lines of settings that enable the scheduler."""
    return {
        "SCHEDULER": "lycosa_scrapy.scheduler.Scheduler",
        "SPIDER_MIDDLEWARES": {"lycosa_scrapy.relevance.Relevance": 20},
        "JOBDIR": str(directory),
        "LYCOSA_TOPIC": "coral reefs",
        "LYCOSA_STRATEGY": "best-first",
        **more,
    }


def crawl(settings: dict[str, Any], *urls: str, kill_after: int = 0) -> tuple[list[str], dict[str, Any]]:
    """Run a project; return its output and stats. It is killed after `kill_after` lines, if given."""
    command = [sys.executable, str(WALKER), json.dumps(settings), *urls]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if kill_after and len(lines) == kill_after:
                process.send_signal(signal.SIGKILL)
        assert process.stderr is not None
        complaints = process.stderr.read()
    if kill_after or "DIE" in settings:
        return [line for line in lines if not line.startswith("{")], {}
    assert process.returncode == 0, complaints
    return lines[:-1], json.loads(lines[-1])


def test_killed_crawl_resumes_without_loss(tmp_path: Path) -> None:
    web = Web(seed=5, pages=90, hosts=6, traps=())
    with serve(web) as server:
        seeds = web.seeds(TOPIC)
        whole, _ = crawl({}, *seeds)
        settings, fetched = focused(tmp_path, LYCOSA_TOPIC=web.query(TOPIC)), list[str]()
        done: set[str] = set()
        for kill_after in (1, 40, 0):
            lines, stats = crawl(settings, *seeds, kill_after=kill_after)
            assert not done & set(lines), "a recorded page was fetched again"
            fetched += lines
            log = SqliteLog(tmp_path / "lycosa" / "crawl.sqlite", readonly=True)
            done = {visit.node for visit in log.visits("kind = 'page'")}
            log.close()
        agents = {hit.user_agent for hit in server.log}
    assert set(fetched) == set(whole)
    assert len(fetched) - len(set(fetched)) < 3 * 16, "more pages were fetched twice than were in flight"
    assert 0 < stats["lycosa/pages"] <= len(set(whole))
    assert stats["finish_reason"] == "finished"
    assert all(agent.startswith("Scrapy") for agent in agents)
    with raises_input_error("driven-crawl", "run by Scrapy"):
        next(iter(resume(tmp_path / "lycosa")))


class Answers(http.server.BaseHTTPRequestHandler):
    """Server that echoes requests."""

    def do_GET(self) -> None:
        asked = self.server.asked  # type: ignore[attr-defined]
        name = self.path.strip("/")
        asked[name] += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = {"dead": 404, "moved": 302}.get(name, 503 if name == "flaky" and asked[name] < 2 else 200)
        echo = [self.command, body.decode("latin-1"), self.headers["X-Odd"], self.headers["Cookie"]]
        text = json.dumps(echo).encode()
        self.send_response(status)
        self.send_header("Location", "/there")
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def answering() -> Iterator[tuple[str, Counter[str]]]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked = Counter()  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", server.asked  # type: ignore[attr-defined]
        server.shutdown()


def test_requests_survive_kill(tmp_path: Path) -> None:
    with answering() as (base, asked):
        settings = focused(tmp_path, SPIDER="odd", BASE=base, CONCURRENT_REQUESTS=1, RETRY_TIMES=2)
        first, _ = crawl({**settings, "DIE": True})
        assert first[:1] == ["begin"]
        assert len(first) == 1
        lines, stats = crawl(settings)
    echoes = [json.loads(line[5:]) for line in lines if line.startswith("echo")]
    by_name = {echo[0]: [json.loads(echo[1]), *echo[2:]] for echo in echoes}
    assert by_name["told"] == [["POST", "\x00body", "yes", "c=1"], {"pair": "(1, {'x'})", "n": str(2**70)}, ["f"]]
    assert by_name["json"][0][:2] == ["POST", '{"a": [1]}']
    got = [line[4:] for line in lines if line.startswith("got")]
    assert sorted(got) == ["again ", "again ", "flaky ", "high ", "instead ", "low ", "there moved"]
    assert got[0] == "high "
    assert got[-1] == "low "
    assert "failed" in lines
    assert asked["start"] == 1, "start requests are not repeated"
    assert asked["flaky"] == 2
    assert stats["scheduler/lost"] == 1


def test_relevance_of_spider_orders_requests(tmp_path: Path) -> None:
    pages = {
        "/": ["/a", "/b", "/reef-1"], "/a": ["/c", "/d"], "/b": [], "/c": [], "/d": [], "/reef-1": ["/e", "/reef-2"],
        "/reef-2": ["/reef-3"], "/reef-3": [], "/e": [],
    }  # fmt: skip

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = "".join(f'<a href="{link}">x</a>' for link in pages.get(self.path, [])).encode()
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    settings = focused(tmp_path, SPIDER="told", CONCURRENT_REQUESTS=1)
    del settings["LYCOSA_TOPIC"]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        lines, stats = crawl(settings, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
    assert [line.rpartition("/")[2] for line in lines][:4] == ["", "reef-1", "reef-2", "reef-3"]
    assert len(lines) == len(pages)
    assert stats["lycosa/relevant"] == 3
