"""Crawls on a real Ray cluster whose processes and nodes are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from commands import Command
from lycosa.core.types import Event, LinkBatch, Setting, Visit
from lycosa.store.log import NAME, SqliteLog
from lycosa.testweb import ServedResponse, Web
from lycosa.testweb.server import serve
from lycosa_cluster.owning import Owners
from lycosa_cluster.shard import LEASE
from lycosa_cluster.splitting import previous_shard_count, shard_path, split

TOPIC = "marine biology/coral reefs"
SHARDS, BUDGET, DELAY, AT_ONCE, PAUSE = 4, 60, 0.3, 2, 0.2

RUN = """
import asyncio, json, os, signal, sys
from pathlib import Path
import ray
from ray.cluster_utils import Cluster
import lycosa_cluster.datasets
from lycosa_cluster import hosts_on_ray
from lycosa_cluster.driving import COORDINATOR
from lycosa_cluster.reaching import ClusterTarget
from lycosa_cluster.running import ClusterCrawl
from lycosa.core.options import Options
from lycosa.crawling.request import CrawlRequest

class Paced(hosts_on_ray.ShardHost):
    def __init__(self, *given):
        from lycosa.web.guard import Guard
        Guard.in_allowed_network = lambda guard, address: False  # no network is without a pause of its addresses
        super().__init__(*given)

hosts_on_ray.ShardHost = Paced
hosts_on_ray.load()
out, options = Path(sys.argv[1]), json.loads(sys.argv[2])
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 80_000_000})
more = {"num_cpus": 2, "object_store_memory": 80_000_000}
nodes = [cluster.add_node(**more) for _ in range(2)]
ray.init(address=cluster.address, namespace="lycosa", log_to_driver=False, logging_level="ERROR")
hosts = hosts_on_ray.RayHosts(ClusterTarget("auto", int(sys.argv[3])))
crawl = ClusterCrawl(CrawlRequest(Options.from_mapping(options, "test"), out), hosts)
done = []

async def run():
    async for result in crawl:
        if result["pages"] > 15 and not done:
            pids = [await hosts.call(0, "ready"), await hosts.call(COORDINATOR, "ready")]
            done.append([os.kill(pid, signal.SIGKILL) for pid in pids])
            (out / "killed").touch()
        if result["pages"] > 30 and len(done) == 1:
            done.append(cluster.add_node(**more))
            cluster.remove_node(nodes[1], allow_graceful=False)
            (out / "removed").touch()
    await hosts.close()

asyncio.run(run())
result = {"ending": crawl.ending, "pages": crawl.progress["pages"], "done": len(done)}
pages = lycosa_cluster.datasets.read_crawl(out, everything=True, copies=True, parallelism=2).take_all()
answers = lycosa_cluster.datasets.read_warc(out / "archive" / "*.warc.gz", text=False).take_all()
result["read"] = [len({page["url"] for page in pages}), sorted(page["title"] for page in pages)[-1]]
result["found"] = len({page["url"] for page in pages} - {answer["url"] for answer in answers if answer["body"]})
(out / "result.json").write_text(json.dumps(result))
ray.shutdown()
cluster.shutdown()
"""


class Waiting(Web):
    """Web with slow responses until the processes are killed, so that the crawl cannot end earlier."""

    out: Path
    answers = 0

    def response(self, url: str, **given: Any) -> ServedResponse:
        self.answers += 1
        late = self.answers > 40 and not (self.out / ("killed" if self.answers < 70 else "removed")).exists()
        made = super().response(url, **given)
        return replace(made, delay=0.4) if late else made


def test_crawl_survives_killed_processes_and_node(tmp_path: Path, command: Command) -> None:
    for attempt in range(3):
        web, out = Waiting(pages=150, hosts=16, traps=("redirects", "dead")), tmp_path / f"crawl{attempt}"
        web.out = out
        with serve(web) as server:
            options = {
                "topic": web.query(TOPIC), "seeds": web.seeds(TOPIC), "budget": BUDGET, "delay": DELAY,
                "concurrency": AT_ONCE, "allow_network": ["127.0.0.0/8"], "address_delay": PAUSE,
            }  # fmt: skip
            words = [sys.executable, "-c", RUN, str(out), json.dumps(options), str(SHARDS)]
            ran = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
            # Ray gives a node only 30 seconds to start, even on a busy machine.
            if "timed out during startup" not in ran.stderr or attempt == 2:
                assert ran.returncode == 0, ran.stderr
                _check(out, list(server.log))
                _check_commands(out, command)
                return


def _check_commands(out: Path, command: Command) -> None:
    result = json.loads((out / "result.json").read_text())
    (read, title), missing = result.pop("read"), result.pop("found")
    assert (read, missing) == (BUDGET, 0), "Ray Data reads the crawl, and its archive"
    assert title
    assert result == {"ending": "page budget spent", "pages": BUDGET, "done": 2}
    assert command.json("show", out)["pages"] == BUDGET
    assert command.json("search", out, "coral")
    assert len(command.out("export", out, "--format", "csv", "--threshold", "0").splitlines()) > BUDGET
    *_, result = map(json.loads, command.out("refresh", out, "--all", "--requests", "9", "--json").splitlines())
    assert 0 < result["revisits"] <= 9
    assert not sum(result["failed"].values())
    assert command.json("show", out)["pages"] == BUDGET
    assert previous_shard_count(out) == SHARDS, "as many as it is shared out among when it is resumed"
    with closing(SqliteLog(out / NAME, readonly=True)) as log:
        again = [event for event in log if isinstance(event, Visit) and event.follows]
        assert len(again) == result["revisits"]
        split(out, log, SHARDS, lambda node, depth: True, _make)
    looks = [event for number in range(SHARDS) for event in _log(out, number) if getattr(event, "follows", "")]
    assert {look.node for look in looks} == {look.node for look in again}


def _make(path: Path) -> SqliteLog:
    path.mkdir()
    return SqliteLog(path / NAME)


def _log(out: Path, number: int) -> list[Event]:
    with closing(SqliteLog(shard_path(out, number) / NAME, readonly=True)) as log:
        return list(log)


def _check(out: Path, hits: list[Any]) -> None:
    log = SqliteLog(out / NAME, readonly=True)
    pages = [event for event in log if isinstance(event, Visit) and event.is_page]
    fetched = Counter(visit.node for visit in pages)
    assert len(pages) == BUDGET
    assert set(fetched.values()) == {1}
    own: Counter[str] = Counter()
    lives: dict[int, int] = {}
    for number in range(SHARDS):
        events = _log(out, number)
        own.update(event.node for event in events if isinstance(event, Visit) and event.is_page)
        leases = (event for event in events if isinstance(event, Setting) and event.key == LEASE)
        lives[number] = len({lease.value["epoch"] for lease in leases})
        names = [(page.sender, page.number) for event in events if isinstance(event, LinkBatch) for page in event.pages]
        assert len(names) == len(set(names)) > 0
    assert own == fetched
    assert lives[0] > 1
    # Requests in flight when a process was killed are repeated, but no recorded page is fetched again.
    asked = Counter(f"http://{hit.host}{hit.path}" for hit in hits if hit.status == 200)
    again: Counter[int] = Counter()
    for node, count in asked.items():
        again[Owners(SHARDS).of(node)] += 0 if node.endswith("/robots.txt") else count - 1
    assert all(again[number] <= AT_ONCE * (lives[number] - 1) for number in lives), (again, lives)
    for host in {hit.host for hit in hits}:
        of_host = sorted((hit for hit in hits if hit.host == host), key=lambda hit: hit.started)
        assert all(after.started - before.started >= DELAY - 0.02 for before, after in pairwise(of_host)), host
    # All hosts have one address with leased request times, so 40 requests take 39 delays, except for those that may be
    # late: all that were in flight, and those sent without a lease while the leasing shard was restarted.
    starts, late = sorted(hit.started for hit in hits), AT_ONCE * SHARDS + SHARDS + 2 * (SHARDS - 1)
    assert min(last - first for first, last in zip(starts, starts[39:], strict=False)) > (39 - late) * PAUSE
    checked = subprocess.run(
        [Path(sys.executable).with_name("warcio"), "check", *sorted((out / "archive").glob("*.warc.gz"))], check=False
    )
    assert checked.returncode == 0
    log.close()
