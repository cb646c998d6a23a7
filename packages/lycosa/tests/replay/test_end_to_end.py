"""Crawls of a replayed web, and the replay command."""

import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest

import commands
import lycosa
from input_errors import raises_input_error
from lycosa.cli.parameters import parse_end_time
from lycosa.core.options import Options
from lycosa.core.types import Visit
from lycosa.replay.recording import Recording
from lycosa.spaces.making import wall_clock, web_space
from lycosa.testweb import Web, serve
from places import CORPORA
from replay_helpers import ask, http_answer, record, replaying, rest, serving, write

OPTIONS: dict[str, Any] = {
    "strategy": "breadth-first",
    "judge": "vector",
    "budget": 500,
    "delay": 0,
    "traps": False,
    "allow_network": ["127.0.0.0/8"],
}


def pages(visits: Iterable[Visit]) -> set[str]:
    return {visit.node for visit in visits if visit.is_page}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], set[str]]:
    """Return directory, seeds and pages of a finished crawl."""
    web = Web(pages=120, hosts=5, traps=())
    out = tmp_path_factory.mktemp("crawled") / "crawl"
    with serve(web):
        seeds = web.seeds(web.topics[0])
        return out, seeds, pages(lycosa.crawl("coral reef", seeds, out=out, **OPTIONS))


def test_crawl_of_replay_reaches_same_pages(crawled: tuple[Path, list[str], set[str]], tmp_path: Path) -> None:
    directory, seeds, expected = crawled
    assert 120 == len(expected)
    with serving(tmp_path / "home", directory) as proxy:
        visits = list(lycosa.crawl("coral reef", seeds, out=tmp_path / "again", proxy=proxy.address, **OPTIONS))
    assert expected == pages(visits)
    assert {""} == {visit.address for visit in visits}  # unknown behind a proxy
    with Recording([directory]) as first, Recording([tmp_path / "again"]) as second:
        for url in sorted(expected):
            one, two = first.find(url), second.find(url)
            assert one is not None
            assert two is not None
            assert (one.status, one.body) == (two.status, two.body)


def test_replay_serves_running_crawl(tmp_path: Path) -> None:
    web = Web(pages=60, hosts=3, traps=())
    with serve(web):
        crawl = lycosa.crawl("coral reef", web.seeds(web.topics[0]), out=tmp_path / "crawl", **OPTIONS)
        seen = 0
        for visit in crawl:
            seen += visit.is_page
            if seen in (10, 30) and visit.is_page:
                with Recording([tmp_path / "crawl"]) as recording:
                    assert seen == sum(host.pages for host in recording.hosts())
                    assert recording.find(visit.node) is not None


def test_crawl_through_proxy_follows_https_links(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.warc.gz",
        record("http://a.example/", http_answer(b'<a href="https://b.example/">coral reef</a>')),
        record("https://b.example/", http_answer(b'<a href="http://a.example/x">coral reef</a>')),
        record("http://a.example/x", http_answer(b"<p>coral reef")),
    )
    with serving(tmp_path / "home", path) as proxy:
        visits = lycosa.crawl(
            "coral reef",
            ["http://a.example/"],
            proxy=proxy.address,
            proxy_ca=str(proxy.authority.path),
            delay=0,
            traps=False,
        )
        assert {"http://a.example/", "https://b.example/", "http://a.example/x"} == pages(visits)


def test_crawl_through_proxy_has_no_address_delay(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record("http://a.example/"))
    with serving(tmp_path / "home", path) as proxy:
        space = web_space(Options(proxy=proxy.address), wall_clock())
        assert (0.0, None) == (space.politeness.address_delay, space.names)


def test_crawl_stops_if_proxy_dies(crawled: tuple[Path, list[str], set[str]], tmp_path: Path) -> None:
    directory, seeds, expected = crawled
    with serving(tmp_path / "home", directory) as proxy:
        crawl = lycosa.crawl("coral reef", seeds, out=tmp_path / "crawl", proxy=proxy.address, **OPTIONS)
        running = iter(crawl)
        visits = [next(running) for _ in range(30)]
        address = proxy.address
    visits += running
    assert [f"the proxy {address} does not respond (Connection refused): the crawl was stopped"] == crawl.notes
    failed = [visit for visit in visits if visit.outcome == "unreachable"]
    assert 0 < len(failed) <= 16
    assert all(visit.retry_at for visit in failed)
    now = wall_clock()
    with serving(tmp_path / "home", directory) as proxy:  # an hour later, after all retry delays
        visits += lycosa.resume(tmp_path / "crawl", proxy=proxy.address, clock=lambda: now() + 3600)
    assert expected == pages(visits)


def fetched(address: str, url: str) -> bytes:
    """Fetch a page through the proxy with urllib."""
    with build_opener(ProxyHandler({"http": address, "https": address})).open(url, timeout=60) as answer:
        body: bytes = answer.read()
    return body


def test_replay_command_serves_until_sigterm(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record("http://a.example/"))
    with replaying(tmp_path, path) as (process, address):
        assert b"hello" == fetched(address, "http://a.example/")
        process.send_signal(signal.SIGTERM)
        out, err = rest(process)
        assert 0 == process.wait(60)
    assert "a proxy for 1 recorded response in 1 file" in out
    assert f"--proxy {address}" in out
    assert str(tmp_path / "data" / "lycosa" / "replay-ca.pem") in out
    assert ["reading a.warc.gz, 0.0 MB, to build its index", "", "served 1, not recorded 0, damaged 0"] == (
        err.splitlines()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1970-01-01", 86_399_999_999), ("1970-01-01T00:00:01", 1_000_000), ("1970-01-01T01:00+01:00", 0)],
)
def test_parse_end_time_accepts_dates_and_times(text: str, expected: int) -> None:
    assert expected == round(parse_end_time(text, 0.0, "--at") * 1e6)


def test_parse_end_time_raises_for_invalid_date() -> None:
    with raises_input_error("bad-time", "2026-03-01"):
        parse_end_time("last spring", 0.0, "--at")


def test_replay_command_quiet_prints_url_only(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", record("http://a.example/"))
    with replaying(tmp_path, path, "--quiet") as (process, address):
        assert address.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert ("", "") == rest(process)


Fails = Callable[..., str]


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fails:
    """Run a command that fails; return its one line of output."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> str:
        assert 2 == commands.run(monkeypatch, *map(str, arguments), width=1000)
        err = capsys.readouterr().err
        assert 1 == err.count("\n"), err
        return err

    return run


def test_replay_command_port_in_use_fails(tmp_path: Path, fails: Fails) -> None:
    path = write(tmp_path / "a.warc.gz", record("http://a.example/"))
    with serving(tmp_path / "home", path) as proxy:
        message = fails("replay", path, "--port", proxy.port, "--quiet")
        assert f"lycosa: cannot serve on port {proxy.port}: " in message
        assert message.endswith("choose another with --port\n")
    assert "cannot serve on port 99999" in fails("replay", path, "--port", "99999", "--quiet")


def test_replay_command_missing_or_invalid_file_fails(tmp_path: Path, fails: Fails) -> None:
    (tmp_path / "x.warc").write_text("hello")
    assert "does not exist" in fails("replay", tmp_path / "none.warc")
    assert "contains no WARC records" in fails("replay", tmp_path / "x.warc")


def test_crawl_command_fails_without_proxy(tmp_path: Path, fails: Fails) -> None:
    message = fails(
        "crawl", "coral", "--seed", "http://a.example/", "--proxy", "http://127.0.0.1:1", "-o", tmp_path / "c"
    )
    assert "lycosa: the proxy http://127.0.0.1:1 does not respond (Connection refused); start it" in message
    assert not (tmp_path / "c").exists()


def test_replay_serves_wikispeedia_corpus(tmp_path: Path) -> None:
    name = "wikispeedia.warc.gz"
    corpus = CORPORA / name
    if not corpus.exists():
        pytest.skip(f"there is no {name} beside the project, in ../shared/corpora")
    labels = corpus.with_name("wikispeedia.labels.tsv").read_bytes().split(b"\n")
    urls = sorted({line.split(b"\t")[0].decode() for line in labels[1:] if line})[::100]
    with serving(tmp_path / "home", corpus) as proxy:
        assert 5_462 == len(proxy.recording)
        for url in urls:
            reply = ask(proxy, url)
            assert (200, len(reply.body)) == (reply.status, int(reply.headers["content-length"])), url
            assert b"<html" in reply.body
