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
    """A crawl of three pages and a failure."""
    made = crawl_on_site(site)
    record(made)
    return made


def record(made: CrawlOnSite) -> None:
    crawl = made.record()
    crawl.seed(HOME)
    crawl.page(HOME, html("Reefs", "coral"), 0.0, links=[HOME + "a", HOME + "b", HOME + "gone"])
    crawl.page(HOME + "a", html("Atolls", "coral"), 0.0001, relevance=0.1, links=[HOME + "c"])
    crawl.log.append(Visit(HOME + "gone", "page", "gone", 3, started=EPOCH, ended=EPOCH, status=404))
    crawl.log.append(Visit("http://reef.test/robots.txt", "robots", "gone", 0, started=EPOCH))
    crawl.page(HOME + "c", html("Cays", "coral cays"), 0.0002, relevance=0.9, score=0.3)
    crawl.close()


def say(made: CrawlOnSite, **more: Any) -> None:
    """What the crawl process writes each second."""
    data = {"at": made.site.clock(), "frontier": 7, "in_flight": [{"url": HOME + "b", "since": 5.0}], "hosts": []}
    (made.directory / "live.json").write_text(json.dumps({**data, **more}))


def feed_of(made: CrawlOnSite, after: int = 0) -> EventFeed:
    """A stream's feed for who is signed in."""
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
    """Events as they are sent."""
    return "".join(
        format_sse_event(data_str=one.raw_data, event=one.event, id=one.id, retry=one.retry).decode() for one in events
    )


def parsed(text: str) -> list[tuple[str, Any, str]]:
    """Name, data and id of each event."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"]), fields.get("id", "")))
    return found


def seqs(text: str) -> list[int]:
    return [data["seq"] for name, data, _ in parsed(text) if name == "visit"]


def test_progress(world: CrawlOnSite) -> None:
    """The crawl, its pace, what is in flight, hosts, errors by cause, and both curves."""
    world.site.clock.now = EPOCH + 20
    host = {"host": "reef.test", "ready_at": EPOCH + 21.5, "why": "its delay", "in_flight": 0, "waiting": 3}
    say(world, hosts=[host, {"host": "new.test", "ready_at": None, "why": "", "in_flight": 1, "waiting": 0}])
    told = world.get("progress")
    assert (world.crawl, "running") == (told["crawl"]["id"], told["crawl"]["state"])
    assert (3.0, 7, [{"url": HOME + "b", "since": 5.0}]) == (told["rate"], told["frontier"], told["in_flight"])
    assert {"pages": [0, 1, 2, 3], "found": [0, 1, 1, 2], "breadth": [0, 1, 1, 2]} == told["curve"]
    assert [("gone", 1, HOME + "gone")] == [(e["outcome"], e["count"], e["example"]) for e in told["errors"]]
    assert "not found" in told["errors"][0]["cause"]
    new, reef = told["hosts"]
    assert ("new.test", "asked", 0, None) == (new["host"], new["state"], new["pages"], new["ready_in"])
    assert ("reef.test", "rests", 3, 2, 1.5, "its delay") == tuple(
        reef[key] for key in ("host", "state", "pages", "found", "ready_in", "why")
    )


def test_a_crawl_that_does_not_run_has_nothing_in_flight(world: CrawlOnSite) -> None:
    """What the crawl process wrote counts for some seconds only, and only if it makes sense."""
    for written in (b"", b"{}", b"[]", b"\xff", b'{"at": 1e999}', b'{"at": %d, "hosts": 3}' % world.site.clock()):
        (world.directory / "live.json").write_bytes(written)
        told = world.get("progress")
        assert (None, []) == (told["frontier"], told["in_flight"])
    say(world, at=world.site.clock() - 60)
    assert world.get("progress")["frontier"] is None


def test_progress_of_nothing(site: SiteUnderTest) -> None:
    """A crawl that has not begun has an empty curve and no hosts."""
    made = crawl_on_site(site)
    told = made.get("progress")
    assert (0, {"pages": [], "found": [], "breadth": []}, []) == (told["seq"], told["curve"], told["hosts"])
    assert {"nodes": [], "edges": [], "truncated": False} == made.get("graph")


def test_draw_curve_is_svg(world: CrawlOnSite) -> None:
    """Both curves as a picture, in the theme and width asked for; no other."""
    drawn = world.client.get(f"{API}/crawls/{world.crawl}/curve.svg", params={"theme": "dark", "width": 360})
    assert ("image/svg+xml", 4) == (drawn.headers["content-type"], drawn.text.count('class="line'))
    assert 'data-theme="dark"' in drawn.text
    assert 422 == world.status("curve.svg", theme="none")


def test_the_graph(world: CrawlOnSite) -> None:
    """Best pages, the pages on the way to them, and the links between."""
    world.label(HOME + "c", True)
    told = world.get("graph")
    by_url = {node["url"].removeprefix(HOME): node for node in told["nodes"]}
    assert {"", "a", "c"} == set(by_url)
    assert [(True, 0, True), (False, 1, False), (False, 2, True)] == [
        (by_url[name]["seed"], by_url[name]["depth"], by_url[name]["found"]) for name in ("", "a", "c")
    ]
    assert "yes" == by_url["c"]["label"]
    assert {(by_url[""]["id"], by_url["a"]["id"]), (by_url["a"]["id"], by_url["c"]["id"])} == {
        (edge["source"], edge["target"]) for edge in told["edges"]
    }
    assert world.get("graph", best=1)["truncated"]
    assert [422, 422] == [world.status("graph", best=best) for best in (0, 10**9)]


def test_the_stream_of_a_finished_crawl_ends(world: CrawlOnSite) -> None:
    """All visits once, in order, with why; progress and state; then it ends."""
    world.set(state="finished")
    answer = world.client.get(f"{API}/crawls/{world.crawl}/events")
    assert (200, "text/event-stream; charset=utf-8", "no") == (
        answer.status_code, answer.headers["content-type"], answer.headers["x-accel-buffering"],
    )  # fmt: skip
    assert answer.text.startswith("retry: ")
    told = parsed(answer.text)
    assert ["visit"] * 4 + ["progress", "state", "end"] == [name for name, _, _ in told]
    assert [3, 4, 5, 7] == seqs(answer.text) == [int(number) for name, _, number in told if name == "visit"]
    first, _, failed, last = (data for name, data, _ in told[:4])
    assert ("seed", True, "ok") == (first["why"]["kind"], first["found"], first["outcome"])
    assert ("gone", False, HOME) == (failed["outcome"], failed["found"], failed["why"]["parent"])
    assert (HOME + "a", f"to {HOME}c", 0.3) == tuple(last["why"][key] for key in ("parent", "anchor", "score"))
    assert [0, 1, 1, 2] == told[4][1]["curve"]["found"]
    assert {"reason": "finished"} == told[-1][1]


def test_a_stream_that_stays(world: CrawlOnSite) -> None:
    """After the end it brings labels with the counts that follow from them, and word of a newer crawl."""
    world.set(state="finished")
    feed = feed_of(world)
    feed.visits, feed.stay = False, True

    def look() -> dict[str, Any]:
        events, _, over = feed.look()
        assert not over
        return {name: data for name, data, _ in parsed(wire(events))}

    told, state = look(), dict[str, Any]()
    assert ({"yes": 0, "no": 0, "changed": []}, 2) == (told["labels"], told["state"]["found"])
    assert {} == look()
    place = f"{API}/interests/{world.interest}/feedback"
    for label, counts, found in (("no", (0, 1), 1), ("yes", (1, 0), 2), (None, (0, 0), 2)):
        assert 200 == world.client.put(place, json={"url": HOME + "c", "label": label}).status_code
        told = look()
        state |= told.get("state", {})  # unless nothing of it has changed
        assert (*counts, [{"url": HOME + "c", "label": label}]) == tuple(told["labels"].values())
        assert (found, "labels") == (state["found"], state["judging"])
    world.set(judging="", heard=3)
    assert 3 == look()["state"]["heard"]
    made = world.client.post(f"{API}/interests/{world.interest}/crawls")
    assert {"crawl": {"id": made.json()["id"]}} == look()


def test_labels_show_at_once_while_a_crawl_runs(world: CrawlOnSite) -> None:
    """Its counts are sent with a label, however short ago they were sent before."""
    feed = feed_of(world)
    feed.look()
    assert [] == feed.look()[0]
    place = f"{API}/interests/{world.interest}/feedback"
    assert 200 == world.client.put(place, json={"url": HOME + "c", "label": "no"}).status_code
    told = {name: data for name, data, _ in parsed(wire(feed.look()[0]))}
    assert 1 == told["progress"]["crawl"]["found"]


def test_all_counts_agree_after_a_revisit(world: CrawlOnSite) -> None:
    """Of pages that have changed, what they are now counts: in the head, the list, the curve, and of the hosts."""
    crawl = world.record_again()
    crawl.changed(HOME, html("Shop", "jewellery"), 1.0, relevance=0.05)
    crawl.changed(HOME + "a", html("Atolls", "coral reefs"), 1.0, relevance=0.7)
    crawl.page("http://other.test/", html("Reef", "coral"), 1.0, relevance=0.8)
    crawl.close()
    world.set(state="finished")
    for labels, found in (({}, 3), ({HOME: True, HOME + "c": False, "http://other.test/": False}, 2)):
        for url, relevant in labels.items():
            world.label(url, relevant)
        listed, told = world.get("pages"), world.get("progress")
        row = world.client.get(f"{API}/interests/{world.interest}").json()["crawl"]
        streamed = next(data for name, data, _ in parsed(wire(feed_of(world).look()[0])) if name == "state")
        counts = {
            listed["total"], len(listed["pages"]), listed["estimate"]["relevant"], told["crawl"]["found"],
            told["curve"]["found"][-1], sum(host["found"] for host in told["hosts"]), row["found"], streamed["found"],
            sum(node["found"] for node in world.get("graph")["nodes"]),
        }  # fmt: skip
        assert {found} == counts
        assert {4} == {listed["estimate"]["pages"], told["crawl"]["pages"], told["curve"]["pages"][-1], row["pages"]}
    assert (4, 3) == count_pages(world.directory, {})


def test_a_stream_goes_on_where_another_ended(world: CrawlOnSite) -> None:
    """Behind the visit that is named, by the address or by the header that browsers send."""
    world.set(state="stopped")
    where = f"{API}/crawls/{world.crawl}/events"
    assert [5, 7] == seqs(world.client.get(where, params={"after": 4}).text)
    assert [7] == seqs(world.client.get(where, headers={"Last-Event-ID": "5"}).text)
    assert [3, 4, 5, 7] == seqs(world.client.get(where, headers={"Last-Event-ID": "nonsense"}).text)
    assert [] == seqs(world.client.get(where, params={"after": 10**15}).text)
    assert [422, 422] == [world.status("events", after=after) for after in (-1, 10**30)]


def test_no_visit_is_sent_twice_or_left_out(world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks between the writes of a running crawl, with small batches, add up to every visit once."""
    monkeypatch.setattr(module, "BATCH", 3)
    feed = feed_of(world)
    crawl = world.record_again()
    text = ""
    for number in range(20):
        crawl.page(f"{HOME}more/{number}", html("More", "coral"), 1.0)
        if number % 4 == 0:
            text += wire(feed.look()[0])
    crawl.close()
    more = True
    while more:
        events, more, over = feed.look()
        text += wire(events)
        assert not over
    assert [3, 4, 5, *range(7, 28)] == seqs(text)


@pytest.mark.parametrize("statement", ["FROM crawl WHERE id", "FROM feedback", "JOIN interest"])
def test_the_database_goes_away_in_the_middle_of_a_look(
    world: CrawlOnSite, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """Whichever question stays without an answer, the stream goes on when the next is answered, with all visits."""
    world.set(state="queued")
    feed = feed_of(world)
    database = world.site.database
    ask = database._execute

    def away(asked: str, given: Any) -> Any:
        if statement in asked:
            raise DatabaseUnavailable("it is away")
        return ask(asked, given)

    monkeypatch.setattr(database, "_execute", away)
    assert ([], False, False) == feed.look()
    monkeypatch.setattr(database, "_execute", ask)
    assert [3, 4, 5, 7] == seqs(wire(feed.look()[0]))


def test_rights_are_looked_at_while_a_stream_runs(world: CrawlOnSite) -> None:
    """A session that ends, ends the stream; and so does a crawl that is deleted."""
    feed = feed_of(world)
    feed.look()
    feed.checked = -1e9
    assert not feed.look()[2]
    assert 204 == world.client.delete(f"{API}/session").status_code
    feed.checked = -1e9
    events, _, over = feed.look()
    assert (True, [("end", {"reason": "signed out"}, "")]) == (over, parsed(wire(events)))


def test_a_deleted_crawl_ends_its_stream(world: CrawlOnSite) -> None:
    """What is no more has no events."""
    feed = feed_of(world)
    feed.look()
    world.site.database.run("DELETE FROM crawl WHERE id = :id", id=world.crawl)
    events, _, over = feed.look()
    assert (True, "deleted") == (over, parsed(wire(events))[0][1]["reason"])


def test_an_interest_that_is_not_shared_any_more(world: CrawlOnSite) -> None:
    """Taking a share back ends the other's stream."""
    feed = feed_of(world)
    other = Caller(feed.site, "someone", "Bo", "reader", frozenset({"read"}), session=feed.access.person.session)
    feed.access = CrawlAccess(other, feed.access.interest, feed.access.crawl, feed.access.directory)
    feed.checked = -1e9
    assert [("end", {"reason": "not shared any more"}, "")] == parsed(wire(feed.look()[0]))


def test_a_stream_ends_with_the_server(world: CrawlOnSite) -> None:
    """When the server stops, the stream says so and ends."""
    feed = feed_of(world, after=100)
    feed.site.views.stopping.set()

    async def listen() -> str:
        return wire([event async for event in module.stream(feed)])

    assert [("end", {"reason": "the server stops"}, "")] == parsed(asyncio.run(listen()))


def test_a_client_that_leaves_leaves_nothing_behind(world: CrawlOnSite) -> None:
    """The stream ends at once, is no longer counted, and no task is left."""
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


def test_a_person_has_some_streams_and_no_more(world: CrawlOnSite) -> None:
    """The eleventh is refused, and a place is free again when one ends."""
    feed = feed_of(world)
    streams, person = feed.site.streams, feed.access.person.id
    with ExitStack() as most, streams.one(person):
        for _ in range(9):
            most.enter_context(streams.one(person))
        assert 429 == world.status("events")
    world.set(state="finished")
    assert [200, 200] == [world.status("events"), world.status("events")]


def test_a_stream_beside_a_running_crawl(world: CrawlOnSite) -> None:
    """What is written while the stream is open comes through it; it ends when the crawl does."""
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


def test_what_cannot_be_told_apart_is_one(world: CrawlOnSite) -> None:
    """A host that is not there is one cause, whether robots.txt or a page was asked for."""
    crawl = world.record_again()
    for kind in ("robots", "page"):
        crawl.log.append(Visit(f"http://nowhere.test/{kind}", kind, "unknown-host", 9, started=EPOCH, ended=EPOCH))
    crawl.close()
    told = {error["cause"]: error["count"] for error in world.get("progress")["errors"]}
    assert {"Unknown host": 2, "Page not found": 1} == told
