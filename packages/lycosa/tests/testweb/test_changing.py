"""Changes, versions and processes of the changing web."""

import re
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from statistics import mean, pvariance
from typing import Any

import pytest

from lycosa.testweb import ServedResponse, Web
from lycosa.testweb.change_history import COSMETICS, KINDS, PROCESSES
from lycosa.testweb.changing import START, ChangingWeb
from lycosa.testweb.page_html import _text
from lycosa.testweb.prose import title
from lycosa.testweb.simulation import EPOCH
from work import calls

DAY = 86_400.0


def grow(pages: int = 600, seed: int = 1, **more: float) -> ChangingWeb:
    """Return a changing web at its start time."""
    return ChangingWeb(Web(pages=pages, hosts=22, traps=()), lambda: START, seed=seed, **more)


@pytest.fixture(scope="module")
def web() -> ChangingWeb:
    return grow()


@pytest.fixture(scope="module")
def steady() -> ChangingWeb:
    """Return a changing web without moved or removed pages."""
    return grow(fates=0.0)


def text(reply: ServedResponse) -> str:
    """Decode a page with its declared charset."""
    found = re.search(rb'<meta charset="([^"]+)"', reply.body)
    assert found is not None
    charset = found[1].decode()
    assert (reply.header("Content-Type") or "").removeprefix("text/html") in ("", f"; charset={charset}")
    return reply.body.decode(charset)


def article(reply: ServedResponse) -> str:
    """Return the content of a page: <main> without dates and counters, with normalised white space."""
    main = re.search(r"<main>(.*)</main>", text(reply), re.DOTALL)
    assert main is not None
    return " ".join(re.sub(r'<p class="meta">.*?</p>', "", main[1]).split())


def there(web: ChangingWeb, url: str, *times: float) -> bool:
    """Return whether the page is present at all these times."""
    return all(web.status(url, t) == "there" for t in times)


def test_response_at_is_independent_of_order() -> None:
    one, two = grow(pages=300), grow(pages=300)
    asked = [(url, START + days * DAY) for days in (0, 0.5, 3, 31.9, 32.1, 70) for url in list(one.urls())[::9]]
    first = [one.response_at(url, t) for url, t in asked]
    assert [two.response_at(url, t) for url, t in reversed(asked)] == first[::-1]
    assert [one.response_at(url, t) for url, t in asked] == first


def test_seed_changes_processes_but_not_pages() -> None:
    one, two = grow(seed=1), grow(seed=2)
    assert list(one.urls()) == list(two.urls())
    assert [one.process(url).name for url in one.urls()] != [two.process(url).name for url in two.urls()]


def test_version_changes_with_content(web: ChangingWeb) -> None:
    times = [START + days * DAY for days in (0, 0.4, 1, 3, 3.02, 11, 40)]
    agree: Counter[bool] = Counter()
    for url in list(web.urls())[::5]:
        seen = [(web.version(url, t), article(web.response_at(url, t))) for t in times if there(web, url, t)]
        for (v, a), (w, b) in combinations(seen, 2):
            assert (v == w) == (a == b), url
            agree[v == w] += 1
    assert min(agree[True], agree[False]) > 300


def test_version_counts_real_changes(web: ChangingWeb) -> None:
    for url in list(web.urls())[::7]:
        if web.fate(url).what != "stays":
            continue
        early, late = START + 2 * DAY, START + 9 * DAY
        real = [change for change in web.changes(url, early, late) if change.real]
        assert web.version(url, late) - web.version(url, early) == len(real)
        assert web.fresh(url, early, late) == (not real)
        assert all(early < change.time <= late for change in real)


def test_changes_alter_their_part_of_page(steady: ChangingWeb) -> None:
    web = steady
    seen: Counter[str] = Counter()
    for url in web.urls():
        process = web.process(url)
        subject = web._known(url, START)
        made = web.history.edits(subject, START + 20 * DAY)
        for edit, following in pairwise(made):
            t = web.history.when(edit.at)
            if seen[edit.how] >= 4 or process.moving or web.history.when(following.at) <= t + 1:
                continue
            before, after = web.response_at(url, t - 1e-3), web.response_at(url, t)
            if web.version(url, t) - web.version(url, t - 1e-3) != edit.real or following.at - edit.at < 1e-6:
                continue
            seen[edit.how] += 1
            old, new = article(before), article(after)
            assert (old == new) == (not edit.real)
            assert (before.body, before.headers) != (after.body, after.headers)
            if edit.how == "link":
                more = set(re.findall('href="([^"]*)"', new)) - set(re.findall('href="([^"]*)"', old))
                assert len(more) == 1
            elif edit.how == "title":
                assert re.findall("<h1>.*?</h1>", old) != re.findall("<h1>.*?</h1>", new)
                assert old.partition("</h1>")[2] == new.partition("</h1>")[2]
            elif edit.how == "table":
                assert sum(a != b for a, b in zip(old.split("<td>"), new.split("<td>"), strict=True)) == 1
            elif edit.how == "structure":
                assert re.findall("<[a-z/]+>", old) != re.findall("<[a-z/]+>", new)
                assert sorted(re.findall("<p>.*?</p>", old)) == sorted(re.findall("<p>.*?</p>", new))
            elif edit.how == "topic":
                assert web.topic(url, t) != web.topic(url, t - 1e-3)
    assert set(seen) == {*COSMETICS, *KINDS}


def test_moving_counters_keep_article(steady: ChangingWeb) -> None:
    web, seen = steady, set()
    for url in web.urls():
        process = web.process(url)
        t = START + 0.3 * DAY
        if not process.moving or web.changes(url, t, t + 60):
            continue
        seen.add(process.moving)
        first = web.response_at(url, t)
        later = web.response_at(url, t + 60) if process.moving == "minute" else web.response_at(url, t, version=1)
        assert first.body != later.body
        assert article(first) == article(later)
        assert web.counts(url) or process.moving == "minute"
    assert seen == {"minute", "fetch"}


def test_processes_occur_on_each_topic(web: ChangingWeb) -> None:
    assert all(len({web.process(url).name for url in web.relevant(topic)}) > 1 for topic in web.topics)
    assert {web.process(url).name for url in web.urls()} == set(PROCESSES)
    still = ChangingWeb(Web(pages=200, hosts=8, traps=()), lambda: START, processes={"never": 1.0})
    assert {still.process(url).name for url in still.urls()} == {"never"}
    assert [] == [c for url in still.urls() for c in still.changes(url, START, START + 99 * DAY) if c.real]
    with pytest.raises(ValueError, match="unknown processes"):
        ChangingWeb(Web(pages=200, hosts=8), lambda: START, processes={"monthly": 1.0})
    with pytest.raises(ValueError, match="day"):
        ChangingWeb(Web(pages=200, hosts=8), lambda: START, day=0.0)


def test_rates_match_counts(steady: ChangingWeb) -> None:
    days = 320
    promised: defaultdict[str, float] = defaultdict(float)
    counted: defaultdict[str, float] = defaultdict(float)
    for url in steady.urls():
        process = steady.process(url)
        changes = steady.changes(url, START, START + days * DAY)
        real = sum(change.real for change in changes)
        for which, number, rate in (("real", real, process.real), ("cosmetic", len(changes) - real, process.cosmetic)):
            # A burst has 4 to 16 changes: variance / mean = 14 / 10. Drawing the real ones adds at most 1, hence 2.4.
            # Cosmetic changes and other processes have at most the variance of a Poisson process.
            spread = 2.4 if process.name == "bursty" else 1.0
            assert abs(number - rate * days) <= 5 * (spread * rate * days) ** 0.5 + 5, url
            promised[f"{process.name} {which}"] += rate * days
            counted[f"{process.name} {which}"] += number
        assert steady.rate(url) == process.real
    assert promised.pop("never real") == counted.pop("never real") == 0
    assert all(abs(counted[name] / promised[name] - 1) < 0.05 for name in promised), counted
    assert len(promised) == 7


def test_process_intervals_have_their_distributions(steady: ChangingWeb) -> None:
    shape = defaultdict(list)
    for url in steady.urls():
        process = steady.process(url)
        if process.pace < 0.3 or process.name == "never":
            continue
        times = [(change.time - START) / DAY for change in steady.changes(url, START, START + 320 * DAY)]
        counts = Counter(int(t) for t in times)
        daily = [counts[day] for day in range(320)]
        shape[process.name].append(pvariance(daily) / mean(daily))
        if process.name == "daily":
            assert max(t % 1 for t in times) - min(t % 1 for t in times) < 0.01
            assert max(daily) == 1
            assert (min(int(t) % 7 for t in times), max(int(t) % 7 for t in times)) == (0, 6 if process.weekends else 4)
    assert abs(mean(shape["constant"]) - 1) < 0.1
    assert mean(shape["daily"]) < 0.3
    assert min(shape["bursty"]) > 3


def test_constant_rates_span_two_orders_of_magnitude(web: ChangingWeb) -> None:
    paces = sorted(web.process(url).pace for url in web.urls() if web.process(url).name == "constant")
    assert paces[-1] > 3
    assert paces[len(paces) // 4] < 1 / 30


def test_topic_changes_and_returns(steady: ChangingWeb) -> None:
    end = START + 60 * DAY
    turned = [
        (url, [c.time for c in steady.changes(url, START, end) if c.kind == "topic"])
        for url in steady.urls()
        if any(c.kind == "topic" for c in steady.changes(url, START, end))
    ]
    url, times = next((url, times) for url, times in turned if len(times) >= 2)
    topics = [steady.topic(url, t) for t in (START, times[0], times[1])]
    assert topics[0] == topics[2] != topics[1]
    assert topics[1] is not None
    word = steady.query(topics[1]).split()[0]
    assert article(steady.response_at(url, times[0])).lower().count(word) > 3
    assert len(turned) < len(steady) / 4


def test_start_is_epoch_of_virtual_time() -> None:
    assert START == EPOCH
    plain = Web(pages=300, hosts=12, traps=())
    web = ChangingWeb(plain, lambda: START)
    for url in list(web.urls())[::10]:
        original = plain.response(url).body.decode()
        now = text(web.response_at(url, START - 1))
        assert re.findall("<p>.*?</p>", original.split("</main>")[0]) == re.findall(
            "<p>.*?</p>", now.split("</main>")[0]
        )
        assert set(re.findall("<li>.*?</li>", original)) <= set(re.findall("<li>.*?</li>", now))


def test_traps_equal_those_of_plain_web() -> None:
    plain = Web(pages=300, hosts=12)
    now = [START]
    web = ChangingWeb(plain, lambda: now[0], fates=0.0)
    for trap in ("slow", "failing", "charsets", "encodings", "changing", "media", "robots", "calendar"):
        for url in plain.trap_urls(trap)[:5]:
            expected = plain.response(url)
            if expected.status != 404:
                assert web.response(url) == expected
            assert (web.trap(url), web.counts(url)) == (plain.trap(url), plain.counts(url))
    copy = next(u for u in plain.trap_urls("duplicates") if "/copy/" in u and web.rate(plain.canonical(u) or "") > 0.5)
    before = article(web.response(copy))
    now[0] += 20 * DAY
    assert article(web.response(copy)) != before
    assert article(web.response(copy)) == article(web.response(plain.canonical(copy) or ""))


def test_response_takes_at_most_twice_plain_time() -> None:
    plain, fresh = (Web(pages=600, hosts=22, traps=()) for _ in range(2))
    urls = list(Web(pages=600, hosts=22, traps=()).urls())[::2]

    def work(web: Web, *forgotten: Any) -> int:
        for known in forgotten:
            known.cache_clear()
        return calls(lambda: [web.response(url) for url in urls])

    web = ChangingWeb(plain, lambda: START + 10 * DAY)
    first, again, usual = work(web, title, _text), work(web), work(fresh, title, _text)
    assert first < 2 * usual
    assert again < first / 4
