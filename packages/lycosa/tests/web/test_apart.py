"""The worker process: results, and limits of memory and CPU time."""

import signal
import subprocess
import sys

import pytest

from lycosa.web.apart import JOBS
from lycosa.web.parse_process import (
    Unreadable,
    WorkerPool,
)
from page_bombs import BOMBS
from parsing import PAGE, URL, packed


def test_run_page_equals_local_result(pool: WorkerPool) -> None:
    for body in (PAGE, b"", *(BOMBS[name](5_000) for name in ("everything", "links", "every byte", "utf-16"))):
        for kind in ("text/html", "text/plain; charset=latin1", ""):
            given = (body, URL, kind, "lycosa")
            assert packed(JOBS["page"].read(*given)) == packed(pool.run("page", *given))


def test_run_source_equals_local_result(pool: WorkerPool) -> None:
    body = (
        b"<urlset><url><loc>http://h.test/reef</loc><lastmod>2026-03-01</lastmod></url><url><loc>x</loc></url></urlset>"
    )
    here, apart = JOBS["source"].read(body, URL), pool.run("source", body, URL)
    assert (here.links.urls, here.modified, here.left_out) == (apart.links.urls, apart.modified, apart.left_out)
    assert pool.run("source", PAGE, URL) is None


def test_worker_memory_is_limited() -> None:
    pool = WorkerPool(1, 20_000_000)
    with pytest.raises(Unreadable, match="takes more than 20 MB"):
        pool.run("page", b"<p>coral</p>" * 200_000, URL, "text/html", "")
    assert "Reefs" == pool.run("page", PAGE, URL, "text/html", "").title
    pool.close()


def test_limit_cpu_time_kills_process() -> None:
    code = "from lycosa.web.apart import limit_cpu_time\nlimit_cpu_time(0)\nwhile True: pass"
    assert -signal.SIGXCPU == subprocess.run([sys.executable, "-c", code], timeout=300).returncode


def test_run_raises_errors_of_reader(pool: WorkerPool) -> None:
    with pytest.raises(RuntimeError, match="AttributeError"):
        pool.run("page", 7, URL, "", "")
