"""One large file from the web: guarded, capped, continued where it broke off, held against a checksum.

A checksum that is known is in the table of corpora. Where none is known, that of the first download is written down
beside the file, and every later one has to agree with it: this notices damage and change, but it can't tell whether the
first download was what its makers meant.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import aiohttp
from yarl import URL

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import replacing, sync
from lycosa.core.options import Options
from lycosa.spaces.making import guard_of, user_agent, wall_clock
from lycosa.web.dns import Names, Resolver
from lycosa.web.guard import is_refusal
from lycosa.web.urls import canonical, resolve

ATTEMPTS = 4
"""Times that a download is continued before we give up; the next run goes on from there."""

HOPS = 5
SILENT = 30.0
"""Seconds without a byte."""

Told = Callable[[int, int], None]
"""Told how many bytes have come, and how many there are (0: unknown)."""


def download(
    url: str, into: Path, options: Options, *, most: int, sha256: str = "", tell: Told = lambda done, total: None
) -> Path:
    """The file of an address in a directory; from there if it is there and as it should be."""
    file = into / Path(URL(url).path).name
    try:
        into.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            _verify(file, file, url, sha256)
            return file
        part = file.with_name(f"{file.name}.part")
        asyncio.run(_Transfer(url, part, options, most, tell).run())
        _verify(part, file, url, sha256)
        part.replace(file)
        _state_of(part).unlink(missing_ok=True)
        return file
    except OSError as error:
        raise StoreError(
            f"cannot keep {url} in {into}: {error.strerror or error}; name another place with --keep"
        ) from error


def recorded_checksum(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _verify(whole: Path, file: Path, url: str, known: str) -> None:
    """Hold a file against its checksum; write it down if there is none yet."""
    with open(whole, "rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    beside = recorded_checksum(file)
    written_down = beside.read_text(encoding="ascii", errors="replace").split() if beside.is_file() else []
    expected = known or "".join(written_down[:1])
    if not expected:
        with replacing(beside) as written:
            written.write(f"{actual}  {file.name}\n".encode())
    elif actual != expected:
        whose = "it should be" if known else f"the first download had, according to {beside}"
        if whole != file:
            whole.unlink()
            _state_of(whole).unlink(missing_ok=True)
        raise InputError(
            f"{whole if whole == file else url} has the SHA-256 {actual}, and not the one that {whose} ({expected}): "
            "it is damaged, or was changed. "
            + (f"Remove {file}, and fetch it again" if whole == file else "Try again")
            + ("" if known else f"; if you trust it, remove {beside}, too")
        )


def _state_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


class _Cut(Exception):
    """The connection ended before the file did."""


class _Transfer:
    """One file, over as many connections as it takes."""

    def __init__(self, url: str, part: Path, options: Options, most: int, tell: Told) -> None:
        self.url, self.part, self.options, self.most, self.tell = url, part, options, most, tell

    async def run(self) -> None:
        guard, names = guard_of(self.options), Names(wall_clock())
        connector = aiohttp.TCPConnector(
            resolver=Resolver(names), use_dns_cache=False, socket_factory=guard.socket_factory
        )
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers={"User-Agent": user_agent(self.options), "Accept": "*/*", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=SILENT, sock_read=SILENT),
        )
        why = ""
        try:
            async with session:
                for _ in range(ATTEMPTS):
                    try:
                        await self._once(session)
                        return
                    except _Cut as error:
                        why = str(error)
        except aiohttp.ClientConnectorError as error:
            if is_refusal(error):
                raise InputError(f"cannot fetch {self.url}: {error.os_error.strerror or error}") from error
            raise InputError(f"cannot fetch {self.url}: {error}") from error
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise InputError(f"cannot fetch {self.url}: {type(error).__name__}: {error}"[:500]) from error
        finally:
            await names.close()
        raise InputError(
            f"{self.url} broke off {ATTEMPTS} times ({why}): run the command again, it goes on where it stopped"
        )

    async def _once(self, session: aiohttp.ClientSession) -> None:
        """One connection: from the start, or from where the last one ended if the server still has the same file."""
        have, seal = self._had()
        asked = {"Range": f"bytes={have}-", "If-Range": seal} if have else {}
        url = canonical(self.url) or self.url
        for _ in range(HOPS + 1):
            async with session.get(URL(url, encoded=True), headers=asked, allow_redirects=False) as answer:
                if answer.status in (301, 302, 303, 307, 308):
                    target = resolve(url, [answer.headers.get("Location", "")])[0]
                    if target is None:
                        raise InputError(f"cannot fetch {self.url}: {url} leads on to nowhere")
                    url = target
                    continue
                if answer.status == 416 and have:  # what is there is not what the server has: start over
                    self._forget()
                    raise _Cut("the server has another file by now")
                if answer.status not in (200, 206):
                    raise InputError(f"cannot fetch {self.url}: {url} answered {answer.status} {answer.reason or ''}")
                await self._write(answer, have)
                return
        raise InputError(f"cannot fetch {self.url}: it redirects without end")

    async def _write(self, answer: aiohttp.ClientResponse, have: int) -> None:
        part = answer.headers.get("Content-Range", "").replace(" ", "")
        begin = have if answer.status == 206 and part.startswith(f"bytes{have}-") else 0
        if answer.status == 206 and not begin:
            self._forget()
            raise _Cut("the server sent another part than was asked for")
        total = begin + (answer.content_length or 0) if answer.content_length is not None else 0
        if total > self.most:
            raise InputError(
                f"{self.url} has {total:,} bytes; {self.most:,} are the most that are taken for this corpus"
            )
        seal = answer.headers.get("ETag", "")
        seal = answer.headers.get("Last-Modified", "") if seal.startswith("W/") or not seal else seal
        _state_of(self.part).write_text(json.dumps({"url": self.url, "seal": seal}), encoding="utf-8")
        size = begin
        with open(self.part, "r+b" if begin else "wb") as file:
            file.seek(begin)
            try:
                async for chunk in answer.content.iter_chunked(1 << 16):
                    size += len(chunk)
                    if size > self.most:
                        raise InputError(f"{self.url} has more than {self.most:,} bytes, the most that are taken")
                    file.write(chunk)
                    self.tell(size, total)
            except (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError, TimeoutError) as error:
                raise _Cut(f"after {size:,} of {total:,} bytes" if total else f"after {size:,} bytes") from error
            finally:
                file.truncate()
                file.flush()
                sync(file.fileno())
        if total and size < total:
            raise _Cut(f"after {size:,} of {total:,} bytes")

    def _had(self) -> tuple[int, str]:
        """Bytes of an earlier attempt, and what the server called that file; none if it did not name it."""
        try:
            state = json.loads(_state_of(self.part).read_bytes())
            size = self.part.stat().st_size
            if isinstance(state, dict) and state.get("url") == self.url and state.get("seal"):
                return size, str(state["seal"])
        except (OSError, ValueError):
            pass
        return 0, ""

    def _forget(self) -> None:
        self.part.unlink(missing_ok=True)
        _state_of(self.part).unlink(missing_ok=True)
