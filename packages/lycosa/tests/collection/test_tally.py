"""Figures that add up: hosts and their pauses, failures by cause, languages, remarks, runs."""

from __future__ import annotations

from lycosa.collection.tally import MAX_EXAMPLES, MAX_FLAGS, CrawlTally
from lycosa.core.types import Setting, Visit
from synthetic_report import page


def told(*events: Visit | Setting) -> CrawlTally:
    tally = CrawlTally("Lycosa")
    for event in events:
        if isinstance(event, Setting):
            tally.setting(event)
        else:
            tally.visit(event)
    return tally


def test_a_host_adds_up() -> None:
    """Pages, failures, bytes, the mean answer, and the pauses between answers and requests."""
    tally = told(
        page("http://a.test/1", 0.9, started=10.0, ended=12.0, size=100),
        page("http://b.test/", 0.9, started=12.0, ended=13.0, size=7),
        page("http://a.test/2", 0.1, started=13.0, ended=14.0, size=50),
        Visit("http://a.test/3", "page", "gone", 3, status=404, started=17.0, ended=17.5),
        Visit("http://a.test/4", "page", "denied", 4, started=18.0, ended=18.0),
    )
    host = tally.hosts["a.test"]
    assert (2, 1, 3, 150) == (host.pages, host.failures, host.requests, host.size)
    assert (3.5 / 3, 2.0, 1.0) == (host.answer, host.pause, host.shortest)
    assert ({"pages": 3, "dead links": 1}, 157) == (tally.spent, tally.size)


def test_the_time_between_runs_is_no_pause() -> None:
    """A run begins with its threshold and lasts until its end or its last answer."""
    tally = told(
        Setting("threshold", 0.5, 100.0),
        page("http://a.test/1", started=101.0, ended=102.0),
        Setting("end", {"reason": "stopped"}, 103.0),
        Setting("threshold", 0.5, 900.0),
        page("http://a.test/2", started=905.0, ended=906.0),
    )
    assert [[100.0, 103.0], [900.0, 906.0]] == tally.runs
    assert 0 == tally.hosts["a.test"].pauses


def test_runs_to_which_nothing_was_due_are_no_crawls() -> None:
    """A refresh every hour does not add to how often and how long it was crawled."""
    tally = told(
        Setting("threshold", 0.5, 100.0),
        page("http://a.test/1", started=101.0, ended=102.0),
        Setting("end", {"reason": "stopped"}, 103.0),
        Setting("threshold", 0.5, 900.0),
        Setting("end", {"reason": "nothing more is due"}, 901.0),
    )
    assert [[100.0, 103.0]] == tally.crawls
    assert [[5.0, 6.0]] == told(Setting("threshold", 0.5, 5.0), Setting("end", {}, 6.0)).crawls


def test_what_a_host_asked_for() -> None:
    """The Crawl-delay of robots.txt, also if the file came from another host, and rests after busy answers."""
    rules = {"body": b"User-agent: *\nCrawl-delay: 7"}
    tally = told(
        Visit("http://b.test/r", "robots", "ok", 0, origin="http://a.test/", data=rules, started=1.0, ended=2.0),
        Visit("http://a.test/", "page", "busy", 1, data={"rest": 130.0}, started=3.0, ended=10.0),
        Visit("http://a.test/", "page", "busy", 2, data={"rest": 40.0}, started=20.0, ended=30.0),
    )
    host = tally.hosts["a.test"]
    assert (7.0, 2, 120.0) == (host.crawl_delay, host.rests, host.longest_rest)
    assert 0.0 == tally.hosts["b.test"].crawl_delay


def test_failures_by_cause() -> None:
    """Failures are counted by outcome and status; unreadable robots.txt is one cause; absent ones are none."""
    tally = told(
        Visit("http://a.test/1", "page", "gone", 1, status=404),
        Visit("http://a.test/2", "page", "gone", 2, status=410),
        Visit("http://a.test/3", "redirect", "gone", 3, status=404),
        Visit("http://a.test/robots.txt", "robots", "gone", 0, status=404),
        Visit("http://a.test/made-up", "probe", "gone", 0, status=404),
        Visit("http://b.test/robots.txt", "robots", "timeout", 0),
        Visit("http://c.test/robots.txt", "robots", "broken", 0, status=500),
        Visit("http://a.test/5", "page", "denied", 5),
    )
    counts = {(cause.kind, cause.name): cause.count for cause in tally.causes.values()}
    assert {
        ("page", "Page not found"): 3,
        ("robots", "robots.txt could not be read"): 2,
        ("page", "robots.txt does not allow it, or an account has opted out"): 1,
    } == counts
    assert {404: 2, 410: 1} == tally.causes["page", "gone"].statuses
    assert all(cause.advice for cause in tally.causes.values())


def test_examples_are_few_and_of_several_hosts() -> None:
    """Some addresses of each cause, not all from the first host."""
    many = [Visit(f"http://a.test/{i}", "page", "gone", i, note="lost") for i in range(50)]
    others = [Visit(f"http://{i}.test/", "page", "gone", i) for i in range(50)]
    examples = told(*many, *others).causes["page", "gone"].examples
    assert MAX_EXAMPLES == len(examples)
    assert ("http://a.test/0", "lost") == examples[0]
    assert len({node.split("/")[2] for node, _ in examples}) > 2


def test_languages() -> None:
    """Languages are counted by their code; nonsense is not told."""
    spoken = ["en", "en-GB", "de, en", "EN", "", "<b>", "klingonese"]
    tally = told(*(page(f"http://a.test/{i}", i / 2, language=code) for i, code in enumerate(spoken)))
    assert {"en": 3, "de": 1, "": 3} == dict(tally.languages)


def test_remarks_are_bounded() -> None:
    """Remarks on pages are counted with an example; a space that invents them without end is cut short."""
    tally = told(
        page("http://a.test/1", flags=["soft-404"]),
        page("http://a.test/2", flags=["soft-404", "odd"]),
        Visit("http://a.test/3", "page", "unwanted", 3, flags=["truncated:unwanted"]),
        *(page(f"http://a.test/{i}", flags=[f"flag {i}"]) for i in range(200)),
    )
    remark = tally.flags["soft-404"]
    assert (2, "http://a.test/1") == (remark.count, remark.example)
    assert "does not exist" in remark.meaning
    assert "truncated:unwanted" not in tally.flags
    assert MAX_FLAGS == len(tally.flags)


def test_later_attempts() -> None:
    """Pages that came at a second attempt are counted."""
    assert 1 == told(page("http://a.test/1", attempt=2), page("http://a.test/2")).recovered


def test_nodes_that_are_no_addresses() -> None:
    """Nodes of other spaces share a host without a name, and time that nobody measured counts as none."""
    tally = told(page("notes/reefs", 0.9), page("a://b://c", 0.9), page("", 0.1))
    host = tally.hosts[""]
    assert (3, 0.0, 0) == (host.pages, host.answer, host.pauses)
