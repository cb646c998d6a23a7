"""Shards of several crawls in one process."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from hosts_here import HostsHere
from lycosa.core.options import Options
from lycosa.core.types import Setting
from lycosa.spaces.making import wall_clock
from lycosa.store.directory import Directory
from lycosa_cluster.driving import Unreachable
from lycosa_cluster.hosting import ENDED, Start
from lycosa_cluster.shard import LEASE
from lycosa_cluster.splitting import shard_path


def test_end_before_first_page_releases_directory(tmp_path: Path) -> None:
    options, path = Options(topic="coral", seeds=["http://a.test/"]), shard_path(tmp_path, 0)
    path.parent.mkdir()
    made = Directory.create(path, options)
    log = made.log()
    log.append(Setting(LEASE, {"epoch": 1, "until": wall_clock()() + 10_000}))
    log.close()
    made.close()

    async def work() -> None:
        hosts, start = HostsHere(1), Start(str(tmp_path), 1, vars(options), [], {}, {})
        run = asyncio.ensure_future(hosts.call(0, "run", "one", start))
        settings = None
        while settings is None:
            await asyncio.sleep(0)
            with suppress(Unreachable):
                settings = await hosts.call(0, "ask", "one", lambda engine: engine.tally.settings)
        assert LEASE in settings
        before = asyncio.all_tasks()
        await asyncio.gather(*(hosts.call(0, "end", "one") for _ in range(2)))
        assert {"error": ENDED} == await run == await hosts.call(0, "run", "one", start)
        assert asyncio.all_tasks() < before
        again = Directory.open(path)  # it is not locked
        again.close()

    asyncio.run(work())
