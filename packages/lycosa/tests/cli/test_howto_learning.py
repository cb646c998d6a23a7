"""The commands of the how-tos on browsing, training and seeds, run as shown."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from commands import Command
from lycosa.testweb import Web, serve
from places import ROOT

HOWTO = ROOT / "docs" / "howto"
LOCAL = ["--allow-network", "127.0.0.0/8", "--delay", "0"]


def shown(page: str, *begins: str) -> list[list[str]]:
    """Return the commands of a page with this prefix, without the $ and the program name."""
    text = (HOWTO / page).read_text("utf-8").replace("\\\n", " ")
    found = [shlex.split(line) for line in re.findall(r"^\$ lycosa (.+)$", text, re.MULTILINE)]
    chosen = [words for words in found if " ".join(words).startswith(begins)]
    assert chosen, f"{page} shows none of {begins}"
    return chosen


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the files mentioned on the pages: a record, a HAR file, labels, pages by class."""
    monkeypatch.chdir(tmp_path)
    visits = [
        ("http://a.example/", False, "A list of institutes of biology", None),
        ("http://b.example/", False, "A department and its people", "http://a.example/"),
        ("http://c.example/", True, "Bleaching of coral reefs in a warm sea", "http://b.example/"),
    ]
    keys = ("url", "relevant", "text", "referrer")
    (tmp_path / "record.jsonl").write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in visits))
    entries = [
        {"request": {"method": "GET", "url": url, "headers": [{"name": "Referer", "value": before or ""}]},
         "response": {"status": 200, "content": {"mimeType": "text/html", "text": f"<p>{text}"}}}
        for url, _, text, before in visits
    ]  # fmt: skip
    (tmp_path / "walk.har").write_text(json.dumps({"log": {"entries": entries}}))
    (tmp_path / "labels.tsv").write_text("".join(f"{url}\t{'yes' if said else 'no'}\n" for url, said, *_ in visits))
    for label, words in {"Science/Physics": "atom force field", "Art": "paint canvas brush"}.items():
        (tmp_path / "my-pages" / label).mkdir(parents=True)
        for number in range(10):
            text = f"{words} page{number}x " * (number + 1)
            (tmp_path / "my-pages" / label / f"{number}.txt").write_text(text)
    return tmp_path


def test_browse_howto_training_commands_succeed(folder: Path, command: Command) -> None:
    for words in shown("browse.md", "train browse record", "train browse walk.har"):
        (folder / "reefs.browsing").unlink(missing_ok=True)
        command.out(*words, "--quiet")
        assert (folder / "reefs.browsing").exists()
    ((*crawl, seed),) = shown("browse.md", "crawl")
    assert seed == "https://example.org/"
    with serve(Web(), record=False) as server:
        command.out(*crawl, server.url("open-directory.localhost"), *LOCAL, "--budget", "2", "--out", "out", "--quiet")
    assert 'judge = "browsing"' in (folder / "out" / "crawl.toml").read_text()


def test_browse_howto_recording_commands_succeed(folder: Path) -> None:
    (words,) = shown("browse.md", "replay --record")
    environment = {**os.environ, "XDG_DATA_HOME": str(folder / "data")}
    running = subprocess.Popen(
        [sys.executable, "-m", "lycosa", *words, "--port", "0"], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert running.stdout is not None
        address, told = running.stdout.readline().strip(), running.stdout.readline()
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=60) as answer:
            assert "0 pages were opened" in answer.read().decode()
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=60)
    finally:
        running.kill()
    assert 0 == running.returncode, complaint
    assert "is a proxy that records the pages you open, in record.jsonl. Press Ctrl-C to stop." in told
    assert "0 pages recorded" in complaint


def test_train_howto_commands_succeed(folder: Path, command: Command) -> None:
    ((*words,),) = shown("train.md", "train my-pages")
    for kind in ("nb", "tree"):
        assert kind == command.json(*words, "--kind", kind)["kind"]


class Engine(BaseHTTPRequestHandler):
    """Search engine with two results for any query."""

    def do_GET(self) -> None:
        found = {"results": [{"url": f"http://127.0.0.1:{self.server.server_address[1]}/{n}"} for n in (1, 2)]}
        is_search = self.path == "/search?q=coral+reef+bleaching"
        body = json.dumps(found) if is_search else "<p>coral" if self.path != "/robots.txt" else ""
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if is_search else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def engine() -> Iterator[str]:
    """Return the search engine's URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_seeds_howto_search_engine_commands_succeed(folder: Path, engine: str, command: Command) -> None:
    ((*words,),) = shown("seeds.md", "crawl coral reef bleaching --search")
    asked = [word.replace("https://example.org", engine) for word in words]
    said = command(*asked, *LOCAL, "--out", "out")
    assert 0 == said.code, said.err
    assert "2 seeds from" in said.err + said.out
    assert f"{engine}/1" in {page["url"] for page in command.json("show", "out")["best"]}  # the other result is a copy
