"""Recording proxy: forwarding, records and labels."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chromium import chromium
from input_errors import raises_input_error
from lycosa.core.options import Options
from lycosa.replay import peers
from lycosa.replay.live import Recorder
from lycosa.training.browse import train_browse
from lycosa.training.page_loading import fetched_pages
from replay_helpers import ask, ask_all, basic, recording

PAGE = {"Accept": "text/html,*/*", "Sec-Fetch-Dest": "document"}


class Site(BaseHTTPRequestHandler):
    """Site with an index, a department, a page on reefs, an image, a form and a page without content length."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body, kind, more = self.content()
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Content-Type", kind)
        for name, value in more.items():
            self.send_header(name, value)
        if "Transfer-Encoding" not in more:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if "Transfer-Encoding" in more:
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        self.wfile.write(body)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(sent[::-1])

    def content(self) -> tuple[bytes, str, dict[str, str]]:
        port = self.server.server_address[1]
        match self.path:
            case "/":
                text = f'<title>A list</title><p>Institutes<a href="http://b.localhost:{port}/department">one</a>'
                return gzip.compress(text.encode()), "text/html", {"Content-Encoding": "gzip", "ETag": '"1"'}
            case "/department":
                text = '<title>A department</title><p>People<img src="/reef.png"><a href="/reefs">reefs</a>'
                return text.encode(), "text/html; charset=utf-8", {"Transfer-Encoding": "chunked"}
            case "/reefs":
                return (
                    "<title>Riffe &amp; Küsten</title><p>Bleaching of coral".encode("latin-1"),
                    "text/html; charset=latin-1",
                    {},
                )
            case "/echo":
                head = "".join(f"{name.lower()}: {value}\n" for name, value in self.headers.items())
                return head.encode(), "text/html", {}
            case "/moved":
                return b"", "text/html", {"Location": "/reefs"}
        return b"\x89PNG", "image/png", {}

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[int]:
    """Serve the site and return its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the record."""
    return [json.loads(line) for line in (folder / "record.jsonl").read_text("utf-8").splitlines()]


def test_live_proxy_records_pages_in_order(site: int, tmp_path: Path) -> None:
    home, other = f"http://a.localhost:{site}", f"http://b.localhost:{site}"
    with recording(tmp_path) as proxy:
        replies = ask_all(proxy, [
            ("GET", f"{home}/", {**PAGE, "If-None-Match": '"1"'}, None),
            ("GET", f"{other}/department", {**PAGE, "Referer": f"{home}/"}, None),
            ("GET", f"{other}/reef.png", {"Sec-Fetch-Dest": "image"}, None),
            ("GET", f"{other}/moved", {**PAGE, "Referer": f"{other}/department"}, None),
            ("GET", f"{other}/reefs", {**PAGE, "Referer": f"{other}/department"}, None),
            ("GET", f"{other}/reefs", {**PAGE, "Sec-Fetch-Dest": "iframe"}, None),
            ("GET", f"{other}/reefs", {**PAGE, "Sec-Purpose": "prefetch"}, None),
            ("POST", f"{other}/form", PAGE, b"abc"),
        ])  # fmt: skip
    assert [200, 200, 200, 302, 200, 200, 200, 200] == [reply.status for reply in replies]
    assert b"Institutes" in gzip.decompress(replies[0].body)
    assert (b"\x89PNG", b"cba") == (replies[2].body, replies[7].body)
    written = lines(tmp_path)
    assert [f"{home}/", f"{other}/department", f"{other}/reefs"] == [line["url"] for line in written]
    assert [None, f"{home}/", f"{other}/department"] == [line["referrer"] for line in written]
    assert "Institutes" in written[0]["html"]
    assert "Küsten" in written[2]["html"]
    assert ({"passed": 8, "recorded": 3}, 0o600) == (
        dict(proxy.tally),
        (tmp_path / "record.jsonl").stat().st_mode & 0o777,
    )


def test_live_proxy_refuses_local_addresses(site: int, tmp_path: Path) -> None:
    with recording(tmp_path, ()) as proxy:
        reply = ask(proxy, f"http://127.0.0.1:{site}/", headers=PAGE)
        nowhere = ask(proxy, "ftp://a.example/")
    assert (502, "out-of-reach", 400) == (reply.status, reply.mark, nowhere.status)
    assert b"refused to connect to 127.0.0.1: loopback address" in reply.body
    assert [] == lines(tmp_path)


def test_live_proxy_labels_require_token(site: int, tmp_path: Path) -> None:
    with recording(tmp_path) as proxy:
        ask(proxy, f"http://a.localhost:{site}/", headers=PAGE)
        own = ask(proxy, "/")
        asked = [
            ("/label/guessed/0/yes", "POST"), (f"/label/{proxy.token}/0/yes", "GET"),
            (f"/label/{proxy.token}/7/yes", "POST"), (f"/label/{proxy.token}/0/yes", "POST"),
            (f"/label/{proxy.token}/0/no", "POST"),
        ]  # fmt: skip
        assert [404, 404, 404, 303, 303] == [ask(proxy, path, method).status for path, method in asked]
        assert b"no \xe2\x9c\x93" in ask(proxy, "/").body
        assert not proxy.connection()._label("/label/é/0/yes")  # type: ignore[attr-defined]
        assert b"BEGIN CERTIFICATE" in ask(proxy, "/ca.pem").body
    assert f"/label/{proxy.token}/0/yes".encode() in own.body
    said = [(line["relevant"], line.get("visit", True)) for line in lines(tmp_path)]
    assert [(None, True), (True, False), (False, False)] == said


def test_recorder_continues_record_for_training(site: int, tmp_path: Path) -> None:
    home, other = f"http://a.localhost:{site}", f"http://b.localhost:{site}"
    for asked, label in (([(f"{home}/", "")], "no"), ([(f"{other}/department", f"{home}/")], "no"),
                         ([(f"{other}/reefs", f"{other}/department")], "yes")):  # fmt: skip
        with recording(tmp_path) as proxy:
            for url, referrer in asked:
                ask(proxy, url, headers={**PAGE, "Referer": referrer})
            ask(proxy, f"/label/{proxy.token}/0/{label}", "POST")
    done = train_browse(tmp_path / "record.jsonl", tmp_path / "out", fetched_pages(Options()))
    assert ([2, 1, 0], [[0, 1], [1, 2]]) == (done.browsing.state.tolist(), done.browsing.steps.tolist())


def test_recorder_raises_for_unwritable_file(tmp_path: Path) -> None:
    with raises_input_error("unwritable-file", "No such file"):
        Recorder(tmp_path / "nowhere" / "record.jsonl")


def test_recorder_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ann")
    with raises_input_error("bad-file", "is not a"):
        Recorder(tmp_path / "letter.txt")
    with raises_input_error("bad-file", "is not a"):
        Recorder(tmp_path)
    assert "Dear Ann" == (tmp_path / "letter.txt").read_text()


def test_recorder_continues_truncated_record_on_new_line(tmp_path: Path) -> None:
    (tmp_path / "record.jsonl").write_text('{"url": "http://a.example/", "html": "<p>Ree')
    recorder = Recorder(tmp_path / "record.jsonl")
    recorder.visit("http://b.example/", "", "<p>Reefs")
    recorder.close()
    assert "http://b.example/" == json.loads((tmp_path / "record.jsonl").read_text().splitlines()[1])["url"]


def test_live_proxy_refuses_huge_content_length(tmp_path: Path) -> None:
    with recording(tmp_path) as proxy:
        assert 413 == ask(proxy, "http://a.example/", headers={"Content-Length": "9" * 5000}).status


@pytest.mark.paper("batsakis-recording")
def test_live_proxy_records_browser(site: int, tmp_path: Path) -> None:
    home, other = f"http://a.localhost:{site}", f"http://b.localhost:{site}"
    with recording(tmp_path) as proxy, chromium(proxy, tmp_path / "profile") as browser:
        page = browser.new_page()
        page.goto(f"{home}/")
        page.click("text=one")
        page.click("text=reefs")
        page.wait_for_url(f"{other}/reefs")
        page.goto(proxy.address)
        assert "Riffe & Küsten" in page.inner_text("table")
        page.click("tr:nth-child(2) button:has-text('yes')")
        page.wait_for_selector("button:disabled")
    written = lines(tmp_path)
    assert [f"{home}/", f"{other}/department", f"{other}/reefs"] == [line["url"] for line in written if "html" in line]
    assert [None, f"{home}/", f"{other}/department", None] == [line.get("referrer") for line in written]
    assert {"url": f"{other}/reefs", "relevant": True, "visit": False} == written[-1]


def test_live_proxy_does_not_forward_password(site: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "TABLES", tmp_path / "nowhere")
    url = f"http://a.localhost:{site}/echo"
    with recording(tmp_path) as proxy:
        login = {"Proxy-Authorization": basic(proxy.login)}
        assert 407 == ask(proxy, url, headers=PAGE).status
        seen = ask(proxy, url, headers={**PAGE, **login, "Authorization": "Bearer own"}).body.decode()
        assert "authorization: Bearer own" in seen
        direct = {**PAGE, "Host": f"a.localhost:{site}", "Authorization": basic(proxy.login)}
        seen += ask(proxy, "/echo", headers=direct).body.decode()
        assert seen.count("host: a.localhost") == 2
        assert "proxy-" not in seen
        assert basic(proxy.login) not in seen
