"""Tests of login walls, opt-outs and signed requests in a crawl."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from warcio.archiveiterator import ArchiveIterator

import lycosa
from lycosa.collection.export import export
from lycosa.core.types import Visit
from lycosa.web.signing import Identity

TEXT = "<p>Coral reefs are built by colonies of polyps, and bleach when the sea is too warm. " * 30
LINKS = "".join(f'<a href="/{name}">coral</a> ' for name in ("check", "login", "noai", "reserved", "plain", "secret"))
PAGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "/": ("Coral reefs", TEXT + LINKS, {}),
    "/plain": ("Coral", TEXT + "plain", {}),
    "/secret": ("Coral", TEXT + "secret", {}),
    "/noai": ("Coral", '<meta name="robots" content="noai">' + TEXT + "noai", {}),
    "/reserved": ("Coral", TEXT + "reserved", {"tdm-reservation": "1"}),
    "/check": ("Just a moment...", "<script>window._cf_chl_opt={}</script>coral coral", {}),
    "/login": ("Log in", "coral <form><input type=password></form>", {}),
}
FILES = {
    "/robots.txt": "User-agent: *\nAllow: /\nContent-Usage: /secret train-ai=n\n",
    "/ai.txt": "User-agent: *\nDisallow: /plain\n",
}


class Site(http.server.BaseHTTPRequestHandler):
    """Host with walls and opt-outs."""

    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        Site.asked.append((self.path, self.headers["Signature-Input"]))
        title, body, more = PAGES.get(self.path, ("", "", {}))
        text = FILES.get(self.path, f"<html><head><title>{title}</title></head><body>{body}</body></html>").encode()
        self.send_response(200 if self.path in PAGES or self.path in FILES else 404)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(text)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def site() -> Iterator[str]:
    Site.asked.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def crawl(base: str, out: Path, **more: Any) -> dict[str, Visit]:
    options: dict[str, Any] = {"delay": 0.0, "patience": 1.0, "attempts": 1, "allow_network": ["127.0.0.0/8"], **more}
    crawled = lycosa.crawl("coral reefs", [f"{base}/"], out=out, strategy="best-first", traps=False, **options)
    return {visit.node[len(base) :]: visit for visit in crawled}


def test_walls_and_opt_outs_are_noted(tmp_path: Path) -> None:
    with site() as base:
        visits = crawl(base, tmp_path / "noted")
        for path in ("/check", "/login"):  # each pauses the host, so one of them may be left to the next run
            assert path not in visits or visits[path].outcome in ("challenge", "login"), path
        walls = [visit for visit in visits.values() if visit.outcome in ("challenge", "login")]
        assert walls
        for visit in walls:
            assert visit.relevance == 0.0
            assert visit.place.file == ""
            assert visit.data["rest"] > visit.ended
        assert visits["/"].is_page
        assert {path for path, _ in Site.asked} <= {*PAGES, "/robots.txt"}, "no file is asked for that nobody heeds"
        assert all(signed is None for _, signed in Site.asked)
        archived = set()
        for file in (tmp_path / "noted" / "archive").glob("*.warc.gz"):
            with open(file, "rb") as stream:
                archived |= {record.rec_headers.get_header("WARC-Target-URI") for record in ArchiveIterator(stream)}
        assert not {f"{base}/check", f"{base}/login"} & archived


def test_opt_outs_are_respected_and_requests_signed(tmp_path: Path) -> None:
    file = tmp_path / "me.json"
    Identity.new("https://crawler.example.org").save(file)
    walls = {path: PAGES.pop(path) for path in ("/check", "/login")}
    try:
        with site() as base:
            heeded = crawl(base, tmp_path / "heeded", respect_opt_outs="training", identity=str(file))
            asked = dict(Site.asked)
            noted = crawl(base, tmp_path / "noted")
    finally:
        PAGES.update(walls)
    outcomes = {path: visit.outcome for path, visit in heeded.items() if path in PAGES}
    assert outcomes == {
        "/": "ok", "/check": "gone", "/login": "gone", "/plain": "denied", "/secret": "denied", "/noai": "unwanted",
        "/reserved": "unwanted",
    }  # fmt: skip
    assert "opted out: train-ai:robots.txt" in heeded["/secret"].note
    assert not {"/plain", "/secret"} & set(asked)
    assert all('tag="web-bot-auth"' in (signed or "") for signed in asked.values())
    assert {path: visit.data.get("opt_outs", []) for path, visit in noted.items() if visit.is_page} == {
        "/": [], "/plain": [], "/secret": ["train-ai:robots.txt"], "/noai": ["noai:robots"],
        "/reserved": ["tdm:header"],
    }  # fmt: skip
    done = export(tmp_path / "noted", tmp_path / "all.csv", everything=True, copies=True)
    left = export(tmp_path / "noted", tmp_path / "left.csv", everything=True, copies=True, respect="training")
    assert (done.pages, left.pages) == (5, 2)
    assert "train-ai:robots.txt" in (tmp_path / "all.csv").read_text()
    assert "left out: 3 pages whose owners have opted out" in left.remarks
