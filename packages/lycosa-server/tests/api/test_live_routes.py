from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi.sse import ServerSentEvent, format_sse_event

from crawl_on_site import CrawlOnSite, crawl_on_site
from lycosa.core.types import Visit
from lycosa_server.api import live_routes as module
from lycosa_server.api.live_routes import EventFeed
from lycosa_server.crawler.running import count_pages
from lycosa_server.guards import Caller, CrawlAccess
from lycosa_server.people.database import DatabaseUnavailable
from revisited_crawl import EPOCH, Revisited, html
from site_maker import API, SiteUnderTest

HOME = "http://reef.test/"


@pytest.fixture
def world(site: SiteUnderTest) -> CrawlOnSite:
    """Return a site with a crawl of three pages and a failure."""
    made = crawl_on_site(site)
    record(made)
    return made


def record(made: CrawlOnSite) -> None:
    crawl = made.record()
    crawl.seed(HOME)
    crawl.page(HOME, html("Reefs", "coral"), 0.0, links=[HOME + "a", HOME + "b", HOME + "gone"])
    crawl.page(HOME + "a", html("Atolls", "coral"), 0.0001, relevance=0.1, links=[HOME + "c"])
    crawl.log.append(Visit(HOME + "gone", "page", "gone", 3, started=EPOCH, ended=EPOCH, status=404, parent=HOME))
    crawl.log.append(Visit("http://reef.test/robots.txt", "robots", "gone", 0, started=EPOCH))
    crawl.page(HOME + "c", html("Cays", "coral cays"), 0.0002, relevance=0.9, priority=0.3)
    crawl.close()


def say(made: CrawlOnSite, **more: Any) -> None:
    """Write a live state, as the crawl process does."""
    data = {"at": made.site.clock(), "frontier": 7, "in_flight": [{"url": HOME + "b", "since": 5.0}], "hosts": []}
    (made.directory / "live.json").write_text(json.dumps({**data, **more}))


def feed_of(made: CrawlOnSite, after: int = 0) -> EventFeed:
    """Return the event stream of the signed-in person."""
    database = made.site.database
    crawl = database.row("SELECT * FROM crawl WHERE id = :id", id=made.crawl)
    interest = database.row("SELECT * FROM interest WHERE id = :id", id=made.interest)
    session = database.row("SELECT id, person FROM session")
    assert crawl is not None and interest is not None and session is not None  # noqa: PT018
    person = Caller(
        made.site.app.state.site, session["person"], "Ada", "member", frozenset({"read"}), session=session["id"]
    )
    return EventFeed(CrawlAccess(person, interest, crawl, made.directory), after, tick=0.01)


def wire(events: Iterable[ServerSentEvent]) -> str:
    return "".join(
        format_sse_event(data_str=one.raw_data, event=one.event, id=one.id, retry=one.retry).decode() for one in events
    )


def parsed(text: str) -> list[tuple[str, Any, str]]:
    """Return name, data and id of each event."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"]), fields.get("id", "")))
    return found


def seqs(text: str) -> list[int]:
    return [data["seq"] for name, data, _ in parsed(text) if name == "visit"]


def test_progress_of_running_crawl_has_live_state_and_curve(world: CrawlOnSite) -> None:
    world.site.clock.now = EPOCH + 20
    host = {"host": "reef.test", "ready_at": EPOCH + 21.5, "why": "its delay", "in_flight": 0, "waiting": 3}
    say(world, hosts=[host, {"host": "new.test", "ready_at": None, "why": "", "in_flight": 1, "waiting": 0}])
    result = world.get("progress")
    assert (world.crawl, "running") == (result["crawl"]["id"], result["crawl"]["state"])
    assert (3.0, 7, [{"url": HOME + "b", "since": 5.0}]) == (result["rate"], result["frontier"], result["in_flight"])
    assert {"pages": [0, 1, 2, 3], "relevant": [0, 1, 1, 2], "breadth": [0, 1, 1, 2]} == result["curve"]
    assert [("gone", 1, HOME + "gone")] == [(e["outcome"], e["count"], e["example"]) for e in result["errors"]]
    assert "not found" in result["errors"][0]["cause"]
    new, reef = result["hosts"]
    assert ("new.test", "requesting", 0, None) == (new["host"], new["state"], new["pages"], new["ready_in"])
    assert ("reef.test", "delayed", 3, 2, 1.5, "its delay") == tuple(
        reef[key] for key in ("host", "state", "pages", "relevant", "ready_in", "why")
    )


def test_progress_ignores_outdated_live_state(world: CrawlOnSite) -> None:
    for written in (b"", b"{}", b"[]", b"\xff", b'{"at": 1e999}', b'{"at": %d, "hosts": 3}' % world.site.clock()):
        (world.directory / "live.json").write_bytes(written)
        result = world.get("progress")
        assert (None, []) == (result["frontier"], result["in_flight"])
    say(world, at=world.site.clock() - 60)
    assert world.get("progress")["frontier"] is None


def test_progress_of_crawl_that_has_not_started_is_empty(site: SiteUnderTest) -> None:
    made = crawl_on_site(site)
    result = made.get("progress")
    assert (0, {"pages": [], "relevant": [], "breadth": []}, []) == (result["seq"], result["curve"], result["hosts"])
    assert {"nodes": [], "edges": [], "truncated": False} == made.get("graph")


def test_draw_curve_is_svg(world: CrawlOnSite) -> None:
    drawn = world.client.get(f"{API}/crawls/{world.crawl}/curve.svg", params={"theme": "dark", "width": 360})
    assert ("image/svg+xml", 4) == (drawn.headers["content-type"], drawn.text.count('class="line'))
    assert 'data-theme="dark"' in drawn.text
    assert 422 == world.status("curve.svg", theme="none")


def test_graph_has_best_pages_and_their_paths(world: CrawlOnSite) -> None:
    world.label(HOME + "c", True)
    result = world.get("graph")
    by_url = {node["url"].removeprefix(HOME): node for node in result["nodes"]}
    assert {"", "a", "c"} == set(by_url)
    assert [(True, 0, True), (False, 1, False), (False, 2, True)] == [
        (by_url[name]["seed"], by_url[name]["depth"], by_url[name]["relevant"]) for name in ("", "a", "c")
    ]
    assert "yes" == by_url["c"]["label"]
    assert {(by_url[""]["id"], by_url["a"]["id"]), (by_url["a"]["id"], by_url["c"]["id"])} == {
        (edge["source"], edge["target"]) for edge in result["edges"]
    }
    assert world.get("graph", best=1)["truncated"]
    assert [422, 422] == [world.status("graph", best=best) for best in (0, 10**9)]


def test_events_of_finished_crawl_end(world: CrawlOnSite) -> None:
    world.set(state="finished")
    answer = world.client.get(f"{API}/crawls/{world.crawl}/events")
    assert (200, "text/event-stream; charset=utf-8", "no") == (
        answer.status_code, answer.headers["content-type"], answer.headers["x-accel-buffering"],
    )  # fmt: skip
    assert answer.text.startswith("retry: ")
    result = parsed(answer.text)
    assert ["visit"] * 4 + ["progress", "state", "end"] == [name for name, _, _ in result]
    assert [3, 4, 5, 7] == seqs(answer.text) == [int(number) for name, _, number in result if name == "visit"]
    first, _, failed, last = (data for name, data, _ in result[:4])
    assert ("seed", True, "ok") == (first["why"]["kind"], first["relevant"], first["outcome"])
    assert ("gone", False, HOME) == (failed["outcome"], failed["relevant"], failed["why"]["parent"])
    assert (HOME + "a", f"to {HOME}c", 0.3) == tuple(last["why"][key] for key in ("parent", "anchor", "priority"))
    assert [0, 1, 1, 2] == result[4][1]["curve"]["relevant"]
    assert {"reason": "finished"} == result[-1][1]


def test_open_event_stream_sends_labels_and_newer_crawls(world: CrawlOnSite) -> None:
    world.set(state="finished")
    feed = feed_of(world)
    feed.visits, feed.stay = False, True

    def look() -> dict[str, Any]:
        events, _, over = feed.poll()
        assert not over
        return {name: data for name, data, _ in parsed(wire(events))}

    result, state = look(), dict[str, Any]()
    assert ({"yes": 0, "no": 0, "changed": []}, 2) == (result["labels"], result["state"]["relevant"])
    assert {} == look()
    place = f"{API}/interests/{world.interest}/feedback"
    for label, counts, found in (("no", (0, 1), 1), ("yes", (1, 0), 2), (None, (0, 0), 2)):
        assert 200 == world.client.put(place, json={"url": HOME + "c", "label": label}).status_code
        result = look()
        state |= result.get("state", {})  # sent only if it has changed
        assert (*counts, [{"url": HOME + "c", "label": label}]) == tuple(result["labels"].values())
        assert (found, "labels") == (state["relevant"], state["judging"])
    world.set(judging="", last_label=3)
    assert 3 == look()["state"]["last_label"]
    made = world.client.post(f"{API}/interests/{world.interest}/crawls")
    assert {"crawl": {"id": made.json()["id"]}} == look()


def test_events_send_counts_with_labels(world: CrawlOnSite) -> None:
    feed = feed_of(world)
    feed.poll()
    assert [] == feed.poll()[0]
    place = f"{API}/interests/{world.interest}/feedback"
    assert 200 == world.client.put(place, json={"url": HOME + "c", "label": "no"}).status_code
    result = {name: data for name, data, _ in parsed(wire(feed.poll()[0]))}
    assert 1 == result["progress"]["crawl"]["relevant"]


def test_counts_agree_everywhere_after_revisit(world: CrawlOnSite) -> None:
    crawl = world.record_again()
    crawl.changed(HOME, html("Shop", "jewellery"), 1.0, relevance=0.05)
    crawl.changed(HOME + "a", html("Atolls", "coral reefs"), 1.0, relevance=0.7)
    crawl.page("http://other.test/", html("Reef", "coral"), 1.0, relevance=0.8)
    crawl.close()
    world.set(state="finished")
    for labels, found in (({}, 3), ({HOME: True, HOME + "c": False, "http://other.test/": False}, 2)):
        for url, relevant in labels.items():
            world.label(url, relevant)
        listed, result = world.get("pages"), world.get("progress")
        row = world.client.get(f"{API}/interests/{world.interest}").json()["crawl"]
        streamed = next(data for name, data, _ in parsed(wire(feed_of(world).poll()[0])) if name == "state")
        counts = {
            listed["total"], len(listed["pages"]), listed["estimate"]["relevant"], result["crawl"]["relevant"],
            result["curve"]["relevant"][-1], sum(host["relevant"] for host in result["hosts"]), row["relevant"],
            streamed["relevant"],
            sum(node["relevant"] for node in world.get("graph")["nodes"]),
        }  # fmt: skip
        assert {found} == counts
        assert {4} == {
            listed["estimate"]["pages"],
            result["crawl"]["pages"],
            result["curve"]["pages"][-1],
            row["pages"],
        }
    assert (4, 3) == count_pages(world.directory, {})


def test_events_resume_after_id(world: CrawlOnSite) -> None:
    world.set(state="stopped")
    where = f"{API}/crawls/{world.crawl}/events"
    assert [5, 7] == seqs(world.client.get(where, params={"after": 4}).text)
    assert [7] == seqs(world.client.get(where, headers={"Last-Event-ID": "5"}).text)
    assert [3, 4, 5, 7] == seqs(world.client.get(where, headers={"Last-Event-ID": "nonsense"}).text)
    assert [] == seqs(world.client.get(where, params={"after": 10**15}).text)
    assert [422, 422] == [world.status("events", after=after) for after in (-1, 10**30)]


def test_events_send_each_visit_once(world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 3)
    feed = feed_of(world)
    crawl = world.record_again()
    text = ""
    for number in range(20):
        crawl.page(f"{HOME}more/{number}", html("More", "coral"), 1.0)
        if number % 4 == 0:
            text += wire(feed.poll()[0])
    crawl.close()
    more = True
    while more:
        events, more, over = feed.poll()
        text += wire(events)
        assert not over
    assert [3, 4, 5, *range(7, 28)] == seqs(text)


@pytest.mark.parametrize("statement", ["FROM crawl WHERE id", "FROM feedback", "JOIN interest"])
def test_events_survive_database_outage(world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    world.set(state="queued")
    feed = feed_of(world)
    database = world.site.database
    ask = database._execute

    def away(asked: str, given: Any) -> Any:
        if statement in asked:
            raise DatabaseUnavailable("it is away")
        return ask(asked, given)

    monkeypatch.setattr(database, "_execute", away)
    assert ([], False, False) == feed.poll()
    monkeypatch.setattr(database, "_execute", ask)
    assert [3, 4, 5, 7] == seqs(wire(feed.poll()[0]))


def test_events_end_with_session(world: CrawlOnSite) -> None:
    feed = feed_of(world)
    feed.poll()
    feed.checked = -1e9
    assert not feed.poll()[2]
    assert 204 == world.client.delete(f"{API}/session").status_code
    feed.checked = -1e9
    events, _, over = feed.poll()
    assert (True, [("end", {"reason": "signed out"}, "")]) == (over, parsed(wire(events)))


def test_events_end_with_crawl(world: CrawlOnSite) -> None:
    feed = feed_of(world)
    feed.poll()
    world.site.database.run("DELETE FROM crawl WHERE id = :id", id=world.crawl)
    events, _, over = feed.poll()
    assert (True, "deleted") == (over, parsed(wire(events))[0][1]["reason"])


def test_events_end_with_share(world: CrawlOnSite) -> None:
    feed = feed_of(world)
    other = Caller(feed.site, "someone", "Bo", "reader", frozenset({"read"}), session=feed.access.person.session)
    feed.access = CrawlAccess(other, feed.access.interest, feed.access.crawl, feed.access.directory)
    feed.checked = -1e9
    assert [("end", {"reason": "no longer shared"}, "")] == parsed(wire(feed.poll()[0]))


def test_events_end_with_server(world: CrawlOnSite) -> None:
    feed = feed_of(world, after=100)
    feed.site.cache.stopping.set()

    async def listen() -> str:
        return wire([event async for event in module.stream(feed)])

    assert [("end", {"reason": "the server stops"}, "")] == parsed(asyncio.run(listen()))


def test_events_of_disconnected_client_are_cleaned_up(world: CrawlOnSite) -> None:
    streams = world.site.app.state.site.streams
    cookies = "; ".join(f"{name}={value}" for name, value in world.client.cookies.items())
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "server": ("testserver", 80),
        "path": f"{API}/crawls/{world.crawl}/events", "raw_path": b"", "query_string": b"", "client": ("127.0.0.1", 9),
        "headers": [(b"host", b"testserver"), (b"cookie", cookies.encode())],
    }  # fmt: skip

    async def visit() -> tuple[int, int, list[dict[str, Any]]]:
        began, asked, sent = asyncio.Event(), 0, list[dict[str, Any]]()

        async def receive() -> dict[str, Any]:
            nonlocal asked
            asked += 1
            if asked == 1:
                return {"type": "http.request", "body": b""}
            await began.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(dict(message))
            if b"visit" in message.get("body", b""):
                assert streams.running
                began.set()

        before = len(asyncio.all_tasks())
        await world.site.app(scope, receive, send)
        return before, len(asyncio.all_tasks()), sent

    before, after, sent = asyncio.run(visit())
    assert before == after
    assert 200 == sent[0]["status"]
    assert not streams.running


def test_events_quota_is_per_person(world: CrawlOnSite) -> None:
    feed = feed_of(world)
    streams, person = feed.site.streams, feed.access.person.id
    with ExitStack() as most, streams.one(person):
        for _ in range(9):
            most.enter_context(streams.one(person))
        assert 429 == world.status("events")
    world.set(state="finished")
    assert [200, 200] == [world.status("events"), world.status("events")]


def test_events_include_crawl_written_meanwhile(world: CrawlOnSite) -> None:
    feed = feed_of(world)
    crawl = world.record_again()

    async def listen() -> str:
        text, added = "", False
        async for event in module.stream(feed):
            text += wire([event])
            if event.event == "visit" and not added:
                added = True
                _add(crawl)
            if added and "late" in (event.raw_data or ""):
                world.set(state="finished")
        return text

    text = asyncio.run(listen())
    crawl.close()
    assert [3, 4, 5, 7, 8] == seqs(text)
    assert ["running", "finished"] == [data["state"] for name, data, _ in parsed(text) if name == "state"]


def _add(crawl: Revisited) -> None:
    crawl.page(HOME + "late", html("Late", "coral"), 2.0)


def test_failures_with_the_same_cause_are_merged(world: CrawlOnSite) -> None:
    crawl = world.record_again()
    for kind in ("robots", "page"):
        crawl.log.append(Visit(f"http://nowhere.test/{kind}", kind, "unknown-host", 9, started=EPOCH, ended=EPOCH))
    crawl.close()
    result = {error["cause"]: error["count"] for error in world.get("progress")["errors"]}
    assert {"Unknown host": 2, "Page not found": 1} == result
