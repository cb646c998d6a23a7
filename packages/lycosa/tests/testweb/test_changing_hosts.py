"""Validators, moved and vanished pages, sitemaps and feeds of the changing web, and its server."""

import asyncio
import http.client
import re
from collections import Counter
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import SimpleNamespace

import pytest

from input_errors import raises_input_error
from lycosa.cli import demo
from lycosa.testweb import ServedResponse, Web, serve
from lycosa.testweb.changing import START, VALIDATORS, ChangingWeb
from lycosa.testweb.simulation import SimTransport, clock, run_virtual
from lycosa.web.sources import read_source

DAY = 86_400.0
END = START + 40 * DAY


@pytest.fixture(scope="module")
def web() -> ChangingWeb:
    """Return a web in which 30 % of the pages move or vanish."""
    return ChangingWeb(Web(pages=900, hosts=33, traps=()), lambda: END, fates=0.3)


def host_of(url: str) -> str:
    return url.split("/")[2].partition(":")[0]


def restful(web: ChangingWeb, name: str, gap: float = DAY / 12) -> tuple[str, float]:
    """Return a page on a host with these validators, and the time of a real change with no other changes nearby."""
    for url in web.urls():
        if web.validators(host_of(url)) == name and not web.process(url).moving and web.fate(url).what == "stays":
            for change in web.changes(url, START + DAY, START + 30 * DAY):
                around = web.changes(url, change.time - gap, change.time + gap)
                if change.real and around == [change]:
                    return url, change.time
    raise AssertionError(f"no such page: {name}")


def again(web: ChangingWeb, url: str, first: ServedResponse, t: float, version: int = 1) -> ServedResponse:
    """Repeat a request with the validators of the first response."""
    asked = {}
    if tag := first.header("ETag"):
        asked["If-None-Match"] = tag
    if date := first.header("Last-Modified"):
        asked["If-Modified-Since"] = date
    return web.response_at(url, t, headers=asked, version=version)


@pytest.mark.parametrize(
    ("name", "quiet", "changed"),
    [
        ("honest", 304, 200),
        ("weak", 304, 200),
        ("hourly", 200, 200),
        ("restless", 200, 200),
        ("none", 200, 200),
        ("now", 200, 200),
        ("stuck", 304, 304),
        ("frozen", 304, 304),
        ("future", 304, 200),
    ],
)
def test_validators_decide_status_of_conditional_requests(
    web: ChangingWeb, name: str, quiet: int, changed: int
) -> None:
    url, t = restful(web, name)
    first = web.response_at(url, t - 3700)
    assert again(web, url, first, t - 10).status == quiet
    assert again(web, url, first, t).status == changed
    assert web.response_at(url, t).body != first.body == web.response_at(url, t - 10).body


def test_validators_appear_in_headers(web: ChangingWeb) -> None:
    assert set(VALIDATORS) == {web.validators(host) for host in web.hosts}
    for name in set(VALIDATORS):
        url, t = restful(web, name)
        reply = web.response_at(url, t)
        date, tag = reply.header("Last-Modified"), reply.header("ETag")
        seconds = parsedate_to_datetime(date).timestamp() if date else None
        modified = {"honest": int(t), "now": int(t), "future": int(t + 400 * DAY)}
        assert seconds == modified.get(name) or name == "frozen"
        assert name != "frozen" or (seconds is not None and seconds < START)
        assert bool(tag) == (name in ("honest", "weak", "restless", "hourly", "stuck"))
        assert (tag or "").startswith('W/"') == (name == "weak")


def test_weak_tag_ignores_cosmetic_changes(web: ChangingWeb) -> None:
    for name, status in (("weak", 304), ("honest", 200)):
        url, change = next(
            (url, change)
            for url in web.urls()
            if web.validators(host_of(url)) == name and web.fate(url).what == "stays" and not web.process(url).moving
            for change in web.changes(url, START, END)
            if not change.real and len(web.changes(url, change.time - 1, change.time)) == 1
        )
        first = web.response_at(url, change.time - 1)
        assert again(web, url, first, change.time).status == status


def test_entity_tags_change_with_each_response_or_hour(web: ChangingWeb) -> None:
    url, t = restful(web, "restless")
    one, two = (web.response_at(url, t, version=n) for n in (0, 1))
    assert web.counts(url)
    assert one.body == two.body
    assert one.header("ETag") != two.header("ETag")
    url, t = restful(web, "hourly")
    hour = START + (int((t - START) // 3600) + 1) * 3600
    tags = [web.response_at(url, at).header("ETag") for at in (hour, hour + 3599, hour + 3601)]
    assert tags[0] == tags[1] != tags[2]


def test_moved_and_vanished_pages_have_status(web: ChangingWeb) -> None:
    seen: Counter[str] = Counter()
    urls = list(web.urls())[::2]
    for url in urls:
        what, t = web.fate(url)
        seen[what] += 1
        if what == "stays":
            assert (web.response_at(url, END).status, web.status(url, END), t) == (200, "there", float("inf"))
            continue
        assert START < t <= START + 30 * DAY
        assert web.response_at(url, t - 1e-3).status == 200
        reply = web.response_at(url, t)
        nonsense = web.response_at(f"http://{host_of(url)}/no/such/page", t)
        assert not web.fresh(url, t - 1e-3, t)
        if what == "moved":
            assert reply.status in (301, 302)
            assert reply.header("Location") == web.moves(url)[0][1]
        elif what == "gone":
            assert (reply.status in (404, 410), nonsense.status) == (True, 404)
        elif what == "soft-404":
            assert reply == nonsense
            assert reply.status == 200
        else:
            back = web.returns(url)
            assert back is not None
            assert reply.status in ((200,) if web.soft(host_of(url)) else (404, 410))
            assert b"Page not found" in reply.body
            there = web.response_at(url, back)
            assert there.status == 200
            assert b"Page not found" not in there.body
            assert web.version(url, t) == web.version(url, back - 1e-3)
        assert web.returns(url) is None or what == "returns"
    assert {"stays", "moved", "gone", "soft-404", "returns"} == set(seen)
    assert 0.2 < 1 - seen["stays"] / len(urls) < 0.4


def test_moved_pages_are_served_at_new_url(web: ChangingWeb) -> None:
    often = Counter[int]()
    for url in web.urls():
        moves = web.moves(url)
        often[len(moves)] += 1
        for number, (t, target) in enumerate(moves):
            assert web.status(target, t - 1e-3) == "unborn"
            assert web.response_at(target, t - 1e-3).status in ((200,) if web.soft(host_of(target)) else (404,))
            assert web.response_at(target, t).status == 200
            assert web.version(target, t) == web.version(url, t)
            assert web.canonical(target) == url
            assert web.process(target) == web.process(url)
            assert [] == web.changes(url, moves[0][0], END)
            if number:
                assert web.response_at(moves[number - 1][1], t).header("Location") == target
    assert min(often[1], often[2]) > 5
    assert any(host_of(url) != host_of(target) for url in web.urls() for _, target in web.moves(url))


def test_new_pages_appear_with_first_link(web: ChangingWeb) -> None:
    born = web.newcomers(START, START + 10 * DAY)
    assert 50 < len(born) < len(web)
    assert born == sorted(born)
    known = set(web.urls())
    for t, url in born[::5]:
        assert url not in known
        assert web.status(url, t - 1e-3) == "unborn"
        assert web.response_at(url, t - 1e-3).status in ((200,) if web.soft(host_of(url)) else (404,))
        assert web.response_at(url, t).status == 200
        assert web.topic(url, t) is not None
        assert web.version(url, t) == 0
        parent = next(u for u in known if str(web._known(u, END).page) == url.split("-")[-2])
        assert (web.status(parent, t) == "moved") or url.encode() in web.response_at(parent, t).body
    assert any(change.real for _, url in born for change in web.changes(url, START, END))


def entries(web: ChangingWeb, host: str, t: float) -> dict[str, str]:
    """Return modification times by URL from a host's sitemap."""
    body = web.response_at(f"http://{host}/sitemap.xml", t).body.decode()
    return dict(re.findall("<loc>(.*?)</loc><lastmod>(.*?)</lastmod>", body))


def test_sitemaps_have_true_or_false_dates(web: ChangingWeb) -> None:
    t, kinds = START + 25 * DAY, set()
    for host in web.hosts:
        sources = web.sources(host)
        kinds.update(sources)
        robots = web.response_at(f"http://{host}/robots.txt", t).body.decode()
        named = re.findall("Sitemap: (.*)", robots)
        assert len(named) == len(sources)
        assert all(web.response_at(url, t).status == 200 for url in named)
        listed = entries(web, host, t)
        dates = {datetime.fromisoformat(date).astimezone(UTC).timestamp() for date in listed.values()}
        if "lying sitemap" in sources:
            assert dates == {t}
        elif "sitemap" in sources:
            assert {web.status(url, t) for url in listed} == {"there"}
            for url, date in list(listed.items())[::3]:
                last = datetime.fromisoformat(date).timestamp()
                assert web.version(url, max(last + 1, START)) == web.version(url, t)
                if last > START:
                    assert not web.fresh(url, last - 1, last + 1)
        else:
            assert listed == {}
    assert kinds == {"sitemap", "lying sitemap", "feed"}


def test_feeds_list_latest_changes(web: ChangingWeb) -> None:
    t, hosts = START + 12 * DAY, [host for host in web.hosts if "feed" in web.sources(host)]
    born = {url for _, url in web.newcomers(START, t)}
    found = set()
    for host in hosts:
        body = web.response_at(f"http://{host}/feed.xml", t).body.decode()
        listed = re.findall(r'<entry>.*?<link href="(.*?)"/>.*?<updated>(.*?)</updated>', body)
        dates = [date for _, date in listed]
        assert dates == sorted(dates, reverse=True)
        assert 0 < len(listed) <= 20
        found.update(url for url, _ in listed)
        assert b'type="application/atom+xml" href="/feed.xml"' in web.response_at(f"http://{host}/", t).body
    assert found & born
    assert found - born


def test_crawler_parses_sitemaps_and_feeds(web: ChangingWeb) -> None:
    t = START + 12 * DAY
    for host in web.hosts:
        for path in ("sitemap.xml", "feed.xml"):
            reply = web.response_at(f"http://{host}/{path}", t)
            source = read_source(reply.body, f"http://{host}/{path}", reply.header("Content-Type") or "")
            if path[:4] not in " ".join(web.sources(host)):
                assert reply.status == (200 if web.soft(host) else 404)
                continue
            named = set(re.findall(r'<loc>(.*?)</loc>|<entry>.*?<link href="(.*?)"/>', reply.body.decode()))
            assert source is not None
            assert set(source.links.urls) >= {one or other for one, other in named} != set()
            assert all(source.modified) or path == "feed.xml"


def test_changing_web_works_over_simulated_transport() -> None:
    web = ChangingWeb(Web(pages=300, hosts=12, traps=()), clock, fates=0.0)
    url, change = restful(web, "honest", 60.0)

    async def look() -> list[int]:
        transport, asked, statuses = SimTransport(web, seed=1), dict[str, str](), []
        for until in (change - 30, change - 20, change + 10):
            await asyncio.sleep(until - clock())
            reply = await transport.fetch(url, dict(asked))
            statuses.append(reply.status)
            asked = {"If-None-Match": reply.fields["etag"]}
        return statuses

    assert run_virtual(look()) == [200, 304, 200]


def fetch(port: int, url: str, **headers: str) -> tuple[int, bytes, http.client.HTTPMessage]:
    name, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", f"/{path}", headers={"Host": name, **headers})
        reply = connection.getresponse()
        return reply.status, reply.read(), reply.headers
    finally:
        connection.close()


def test_changing_web_works_over_http_with_short_days() -> None:
    now = [5_000.0]
    web = ChangingWeb(Web(pages=300, hosts=12, traps=()), lambda: now[0], start=5_000.0, day=60.0)
    with serve(web) as server:
        url = next(
            url
            for url in web.urls()
            if web.validators(host_of(url)) == "honest"
            and web.process(url).name == "daily"
            and web.rate(url) > 0.5
            and not web.process(url).moving
            and web.fate(url).what == "stays"
        )
        status, body, headers = fetch(server.port, url)
        asked = {"If-None-Match": headers["ETag"], "If-Modified-Since": headers["Last-Modified"]}
        assert (status, fetch(server.port, url, **asked)[0]) == (200, 304)
        first = next(change for change in web.changes(url, 5_000.0, 9_000.0) if change.real)
        assert first.time < 5_000 + 8 * 60
        now[0] = first.time
        status, later, headers = fetch(server.port, url, **asked)
        assert status == 200
        assert later != body
        assert parsedate_to_datetime(headers["Last-Modified"]).timestamp() == int(first.time)
        assert fetch(server.port, web.newcomers(5_000.0, 9_000.0)[-1][1])[0] in (200, 404)
        now[0] = 9_000.0
        assert fetch(server.port, web.newcomers(5_000.0, 9_000.0)[-1][1])[0] == 200


def test_day_length_scales_times_only() -> None:
    plain = Web(pages=300, hosts=12, traps=())
    long, short = ChangingWeb(plain, lambda: START), ChangingWeb(plain, lambda: START, day=10.0)
    for url in list(plain.urls())[::20]:
        assert long.version(url, START + 17.3 * DAY) == short.version(url, START + 173)
        assert long.response_at(url, START + 17.3 * DAY).body == short.response_at(url, START + 173).body
        assert long.rate(url) == short.rate(url)


def test_demo_command_serves_changing_web(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now, seen = [1_000.0], []

    def sleep(seconds: float) -> None:
        port = int(re.findall(r"port (\d+)", capsys.readouterr().out)[0])
        twin = ChangingWeb(Web(seed=7, pages=200, hosts=10, traps=(), port=port), lambda: 0.0, start=1_000.0, day=2.0)
        url = max((u for u in twin.urls() if twin.fate(u).what == "stays"), key=twin.rate)
        for now[0] in (1_000.0, 1_060.0):
            seen.append(fetch(port, url)[1] == twin.response_at(url, now[0]).body)
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "time", SimpleNamespace(time=lambda: now[0], sleep=sleep))
    demo.demo(serve=True, port=0, pages=200, hosts=10, changing=True, day=2.0)
    assert seen == [True, True]
    with raises_input_error("bad-value", "cannot build this web"):
        demo.demo(serve=True, port=0, pages=200, hosts=10, changing=True, day=-1.0)
