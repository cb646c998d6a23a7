"""The user's cookies and headers are sent to their hosts by the browser, and are not stored."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import lycosa
from browser_helpers import needs_browser
from lycosa.store.log import SqliteLog

SENT = {"cookie": "sent-cookie-1", "header": "sent-header-3"}
GIVEN = ("given-by-page-4", "given-by-data-5")
REEFS = (
    "Coral reefs are home to a quarter of the species of the sea, though they cover less than a hundredth of it. "
    "Polyps build them, small animals that live together with algae; the algae feed them and colour them. "
    "Where water grows too warm, a coral loses its algae and turns white, called bleaching. A reef can recover "
    "from that within ten years if nothing else happens, but storms, starfish and dirt from rivers often do. Fish that "
    "graze on seaweed keep a reef clean; where these were caught, seaweed takes its place. Most reefs lie between the "
    "tropics, in clear and shallow water, and some grow in the dark of the deep sea, without any algae at all."
)
APP = (
    "<!DOCTYPE html><title>Reefs</title><link rel=stylesheet href=/a.css><div id=root></div>"
    "<script>fetch('/data').then(r => r.text())"
    ".then(t => root.innerHTML = '<p>' + t + '</p><a href=\"{elsewhere}\">more</a>')</script>"
)


@contextmanager
def site() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    asked: list[tuple[str, str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host, cookies = self.headers["Host"].partition(":")[0], self.headers.get("Cookie", "")
            brought = " ".join([cookies, self.headers.get("X-Key", "")])
            asked.append((host, self.path, brought))
            port = self.server.server_address[1]
            body, status, gives = APP.format(elsewhere=f"http://localhost:{port}/other"), 200, f"sid={GIVEN[0]}"
            if self.path == "/data":
                body, gives = REEFS, f"tok={GIVEN[1]}"
                status = 200 if all(secret in brought for secret in SENT.values()) else 403
            elif self.path == "/a.css":
                body = "p { background: url(b.png) }"
            elif host == "localhost" or self.path == "/robots.txt":
                body, status, gives = "User-agent: *\nAllow: /\n", 200, "a=b"
            elif SENT["cookie"] not in brought:
                status = 401
            self.send_response(status)
            self.send_header("Content-Type", {"/": "text/html", "/a.css": "text/css"}.get(self.path, "text/plain"))
            self.send_header("Set-Cookie", gives)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *given: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
        server.shutdown()
        thread.join()


def everything(out: Path) -> bytes:
    parts = []
    for path in out.rglob("*"):
        if path.is_file():
            body = path.read_bytes()
            parts += [str(path).encode(), gzip.decompress(body) if path.suffix == ".gz" else body]
    with closing(SqliteLog(out / "crawl.sqlite", readonly=True)) as log:
        parts += [repr(event).encode() for event in log]
    return b"\n".join(parts)


@needs_browser
def test_credentials_reach_their_host_only_and_are_not_stored(tmp_path: Path) -> None:
    out, cookies = tmp_path / "crawl", tmp_path / "cookies.txt"
    cookies.write_text(f"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{SENT['cookie']}\n")
    with site() as (front, asked):
        crawl = lycosa.crawl(
            "coral reefs", [front], out=out, budget=3, delay=0.0, allow_network=["127.0.0.0/8"], render="always",
            cookies=str(cookies), headers=[f"127.0.0.1 X-Key: {SENT['header']}"],
            render_time=100.0, page_assets=True,
        )  # fmt: skip
        visits = list(crawl)
    [page] = [visit for visit in visits if visit.node == front]
    assert ("ok", True) == (page.outcome, "rendered" in page.flags), (page.note, asked, crawl.notes)
    assert page.data["render"]["words"][1] > 100
    assert {"127.0.0.1", "localhost"} == {host for host, _, _ in asked}
    assert not [one for one in asked if one[0] == "localhost" and any(secret in one[2] for secret in SENT.values())]
    # Style sheets are not fetched again after the browser fetched them; their assets are.
    assert 1 == [path for _, path, _ in asked].count("/a.css")
    assert [f"{front}b.png"] == [visit.node for visit in visits if visit.kind == "asset"]
    written = everything(out)
    assert b"/data" in written
    assert b"Coral reefs are home" in written
    assert [] == [secret for secret in (*SENT.values(), *GIVEN) if secret.encode() in written]
