"""HTTP server of a directory of HTML files, for benchmarks of crawlers: from memory, compressed in advance.

    python benchmarks/serve_pages.py ROOT [HOSTS]

Every file below ROOT keeps its path and is assigned to one of the hosts h1.localhost ... hN.localhost by a hash of its
path. Links are rewritten on loading: a link to a served file gets that file's host, however it was written, so that a
crawl crosses hosts as on the web; other links are unchanged. robots.txt allows everything. Prints one line of JSON (the
start URL, the hosts), then serves until it is terminated.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
import zlib
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

HREF = re.compile(r'(<a\b[^>]*?\bhref=)(["\'])(.*?)\2', re.IGNORECASE | re.DOTALL)
ROBOTS = b"User-agent: *\nAllow: /\n"


def host_of(path: str, hosts: int) -> str:
    return f"h{zlib.crc32(path.encode()) % hosts + 1}.localhost"


def target_of(path: str, href: str, known: set[str]) -> str:
    """Return the file that a link leads to; empty if it is not served."""
    parts = urlsplit(href)
    if parts.scheme not in ("", "http", "https") or not parts.path:
        return ""
    steps: list[str] = [] if parts.path.startswith("/") else path.split("/")[1:-1]
    for step in unquote(parts.path).split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    target = "/" + "/".join(steps)
    return target if target in known else ""


def load(root: Path, hosts: int, port: int) -> tuple[dict[tuple[str, str], bytes], str]:
    """Return all responses by host and path, and the start URL: Science.htm, or else the page with the most links."""
    files = {f"/{file.relative_to(root).as_posix()}": file for file in sorted(root.rglob("*")) if is_page(file)}
    known, replies, links = set(files), {}, dict.fromkeys(files, 0)
    if not files:
        raise SystemExit(f"no .htm or .html files below {root}")

    def url(path: str) -> str:
        return f"http://{host_of(path, hosts)}:{port}{quote(path)}"

    for path, file in files.items():

        def rewrite(found: re.Match[str], path: str = path) -> str:
            target = target_of(path, unescape(found[3]), known)
            if not target:
                return found[0]
            links[path] += 1
            return f"{found[1]}{found[2]}{escape(url(target))}{found[2]}"

        text = HREF.sub(rewrite, file.read_text("utf-8", "surrogateescape"))
        packed = gzip.compress(text.encode("utf-8", "surrogateescape"), 6, mtime=0)
        replies[host_of(path, hosts), path] = _answer("200 OK", packed, "text/html", "Content-Encoding: gzip\r\n")
    named = [path for path in files if path.endswith("/Science.htm")]
    return replies, url(named[0] if named else max(links, key=links.__getitem__))


def is_page(file: Path) -> bool:
    return file.suffix in (".htm", ".html") and file.is_file()


def _answer(status: str, body: bytes, kind: str, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """Minimal HTTP/1.1 with keep-alive: GET and Host, without pipelining."""

    def __init__(self, replies: dict[tuple[str, str], bytes]) -> None:
        self.replies = replies
        self.buffer = b""
        self.robots = _answer("200 OK", ROBOTS, "text/plain")
        self.missing = _answer("404 Not Found", b"no such page\n", "text/plain")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head, self.buffer = self.buffer[:end].decode("latin-1"), self.buffer[end + 4 :]
            request, *lines = head.split("\r\n")
            fields = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
            path = unquote(request.split(" ")[1].partition("?")[0]) if request.count(" ") == 2 else ""
            host = fields.get("host", "").partition(":")[0].lower()
            self.transport.write(self.robots if path == "/robots.txt" else self.replies.get((host, path), self.missing))
            if fields.get("connection", "").lower() == "close":
                self.transport.close()


async def serve(root: Path, hosts: int) -> None:
    replies: dict[tuple[str, str], bytes] = {}
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(replies), "127.0.0.1", 0, backlog=1024, start_serving=False
    )
    found, start = load(root, hosts, server.sockets[0].getsockname()[1])
    replies.update(found)
    names = ",".join(f"h{number}.localhost" for number in range(1, hosts + 1))
    print(json.dumps({"url": start, "hosts": names}), flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("hosts", type=int, nargs="?", default=1)
    given = parser.parse_args()
    asyncio.run(serve(given.root, given.hosts))


if __name__ == "__main__":
    main()
