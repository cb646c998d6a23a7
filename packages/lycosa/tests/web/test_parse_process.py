"""Parsing in workers: pool, failures and fallbacks."""

import asyncio
import signal
import subprocess
import sys
from functools import partial
from typing import Any, BinaryIO

import pytest

from lycosa.web.apart import JOBS, DecodedResponse, write_message
from lycosa.web.html import ParsedPage
from lycosa.web.parse_process import (
    LARGE_BODY,
    Unreadable,
    WorkerPool,
    _Worker,
    read_in_worker,
    read_page,
    reparse_page,
)
from page_bombs import BOMBS
from parsing import PAGE, URL, packed
from places import ROOT


def test_run_reuses_worker(pool: WorkerPool) -> None:
    for _ in range(2):
        pool.run("page", PAGE, URL, "", "")
    assert 1 == len(pool._idle)


@pytest.mark.parametrize(
    ("death", "message"),
    [(signal.SIGSEGV, "killed the worker (SIGSEGV)"), (signal.SIGXCPU, "more than 10 s of CPU time")],
)
def test_run_reports_dead_worker(
    pool: WorkerPool, death: signal.Signals, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.run("page", PAGE, URL, "", "")
    child = pool._idle[0].child
    child.send_signal(signal.SIGSTOP)

    def sent(stream: BinaryIO, message: object) -> None:
        write_message(stream, message)
        child.send_signal(death)
        child.send_signal(signal.SIGCONT)

    with monkeypatch.context() as patch:
        patch.setattr("lycosa.web.parse_process.write_message", sent)
        with pytest.raises(Unreadable) as error:
            pool.run("page", PAGE, URL, "", "")
    assert message in str(error.value)
    assert "Reefs" == pool.run("page", PAGE, URL, "", "").title
    assert child.returncode is not None


def test_run_replaces_worker_that_died_idle(pool: WorkerPool) -> None:
    pool.run("page", PAGE, URL, "", "")
    child = pool._idle[0].child
    child.kill()
    child.wait()
    assert "Reefs" == pool.run("page", PAGE, URL, "", "").title


def test_read_page_uses_worker_for_large_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def run(self: WorkerPool, job: str, *given: bytes) -> ParsedPage:
        asked.append(len(given[0]))
        raise Unreadable("too bad")

    monkeypatch.setattr(WorkerPool, "run", run)
    assert "" == read_page(b"x" * LARGE_BODY, URL, "text/html").title
    assert not asked
    with pytest.raises(Unreadable):
        read_page(b"x" * (LARGE_BODY + 1), URL, "text/html")
    with pytest.raises(Unreadable):
        asyncio.run(read_in_worker("page", PAGE, URL, "", "", in_worker=True))
    assert "" == reparse_page(PAGE, URL, "", in_worker=True).title
    assert [LARGE_BODY + 1, len(PAGE), len(PAGE)] == asked


def test_read_page_falls_back_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: WorkerPool, job: str, *given: bytes) -> ParsedPage:
        raise OSError(11, "no more processes")

    monkeypatch.setattr(WorkerPool, "run", run)
    assert "Reefs" == read_page(PAGE + b" " * LARGE_BODY, URL, "text/html").title
    with pytest.raises(Unreadable, match="no more processes"):
        read_page(PAGE, URL, "text/html", in_worker=True)


async def _answers(pool: WorkerPool, *bodies: bytes) -> list[DecodedResponse]:
    given = [("response", body, "", 1_000_000, LARGE_BODY, URL, "text/html", "lycosa") for body in bodies]
    return await asyncio.gather(*(pool.run_in_thread(partial(pool.run, *each, retry=True)) for each in given))


def test_run_result_equals_local_result() -> None:
    bodies = [PAGE, b"", *(BOMBS[name](100_000) for name in ("everything", "links", "every byte", "utf-16"))]
    pool = WorkerPool(2)
    answers = asyncio.run(_answers(pool, *bodies))
    assert 1 <= len(pool._idle) <= 2
    assert "compress" in pool.run("response", b"x", "compress", 10, LARGE_BODY, URL, "").error
    large = pool.run("response", PAGE, "", 1000, 20, URL, "")
    assert (len(PAGE), True, None) == (large.size, large.whole, large.document)
    pool.close()
    for body, answer in zip(bodies, answers, strict=True):
        assert answer.document is not None
        assert (len(body), True, "") == (answer.size, answer.whole, answer.error)
        assert packed(JOBS["page"].read(body, URL, "text/html", "lycosa")) == packed(answer.document)


def test_run_retries_once_after_worker_death(monkeypatch: pytest.MonkeyPatch) -> None:
    request, requested = _Worker.request, list[str]()

    def death(process: _Worker, job: str, given: tuple[Any, ...]) -> Any:
        title = given[0].decode()
        if title == "death" or (title == "unlucky" and title not in requested):
            process.child.kill()
            process.child.wait()
        requested.append(title)
        return request(process, job, (b"<title>%s" % given[0], *given[1:]))

    monkeypatch.setattr(_Worker, "request", death)
    pool = WorkerPool(1)
    assert "unlucky" == pool.run("page", b"unlucky", URL, "", retry=True).title
    with pytest.raises(Unreadable, match=r"killed the worker \(SIGKILL\)"):
        pool.run("page", b"death", URL, "", retry=True)
    assert "Reefs" == pool.run("page", b"Reefs", URL, "", retry=True).title
    assert ["unlucky", "unlucky", "death", "death", "Reefs"] == requested
    pool.close()


def test_run_rejects_malformed_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for malformed in (b"\0" * 7 + b"\1\xc1", b"\0" * 7 + b"\1\7", b"\xff" * 8, b"\0" * 8):
        program = f"import os, time; os.write(1, {malformed!r}); time.sleep(100)"
        monkeypatch.setattr("lycosa.web.parse_process.PROGRAM", ("-c", program))
        pool = WorkerPool(1)
        with pytest.raises(Unreadable, match="killed the worker"):
            pool.run("page", PAGE, URL, "")
        pool.close()


def test_run_after_close_and_timeout_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.web.parse_process.PROGRAM", ("-c", "import time; time.sleep(100)"))
    pool = WorkerPool(1)

    async def read() -> None:
        abandoned = asyncio.ensure_future(_answers(pool, PAGE, PAGE))
        await asyncio.sleep(0.1)
        abandoned.cancel()
        pool.close()

    asyncio.run(read())
    with pytest.raises(OSError, match="closed"):
        pool.run("page", PAGE, URL, "")
    monkeypatch.setattr("lycosa.web.parse_process.RESULT_TIMEOUT", 0.0)
    with pytest.raises(Unreadable, match="took more than 0 s"):
        WorkerPool(1).run("page", PAGE, URL, "")


def test_run_raises_if_no_worker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.web.parse_process.sys.executable", "/nowhere/python")
    with pytest.raises(FileNotFoundError):
        asyncio.run(_answers(WorkerPool(2), PAGE, PAGE))


def test_read_page_never_parses_documents_locally() -> None:
    code = (
        "import sys; from lycosa.web.parse_process import read_page;"
        "from document_bombs import pdf, CATALOG, ONE, PAGE, stream;"
        "body = pdf(CATALOG, ONE, PAGE, stream(b'BT /F 12 Tf 50 700 Td (Reefs) Tj ET'));"
        "print(read_page(body, 'http://a.test/', 'application/pdf').text, 'pypdfium2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "tests" / "helpers"
    )
    assert "Reefs False" == done.stdout.strip()


def test_read_page_does_not_fall_back_for_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*given: object) -> None:
        raise OSError(11, "no more processes")

    monkeypatch.setattr("lycosa.web.parse_process._Worker", none)
    monkeypatch.setattr("lycosa.web.parse_process.WORKERS", WorkerPool(1))
    assert "Reefs" == read_page(b"<title>Reefs</title>" + b" " * 600_000, "http://a.test/", "text/html").title
    with pytest.raises(Unreadable, match="no worker process could be started"):
        read_page(b"{\\rtf1 a}", "http://a.test/", "text/rtf")
