"""Responses to revisits, case by case: conditions sent, visits recorded, changes reported."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import brotli
import pytest
from warcio.archiveiterator import ArchiveIterator

from crawl_helpers import check_warcs
from lycosa.core.types import Visit
from lycosa.revisit.change import change_of
from lycosa.revisit.ledger import ChangeFilter, changes
from lycosa.store.log import SqliteLog
from lycosa.store.versions import Versions
from lycosa.web.inflate import inflate
from places import ROOT
from scripted_web import BLEACHED, GONE, OTHER, PAGE, REEF, ROBOTS, Says, Script, crawl, html, refresh

A, B = html(), html(BLEACHED)
SORRY = "Of pages about a coral reef that are not found there are two kinds."
COSMETIC = html(foot="Seen 12 times")
CAFE = html(f"{REEF} Caf\u00e9 and atoll, na\u00efve and caf\u00e9.")
MON, TUE, WED = (f"{day} 2023 10:00:00 GMT" for day in ("Mon, 13 Nov", "Tue, 14 Nov", "Wed, 15 Nov"))
FUTURE, ANCIENT = "Fri, 13 Nov 2037 10:00:00 GMT", "Thu, 01 Jan 1959 00:00:00 GMT"
DENIES = Says("User-agent: *\nDisallow: /coral\nDisallow: /secret\n", type="text/plain")
TAG, SINCE = "If-None-Match", "If-Modified-Since"
NOT_MODIFIED, IDENTICAL = "revisit: server-not-modified", "revisit: identical-payload-digest"


def tagged(body: str | bytes = A, tag: str = '"a"', **more: Any) -> Says:
    return Says(body, etag=tag, **more)


def moved(status: int, target: str = OTHER) -> Says:
    return Says(b"", status, more={"Location": target})


@dataclass(frozen=True)
class Look:
    """Expected result of a revisit at one moment."""

    asked: str
    """Conditional headers of the last request; "-" without any, "nothing" if there was no request."""
    outcome: str
    status: int
    told: str = ""
    """The reported change."""
    note: str = ""
    record: str = "response"
    tries: int = 1


@dataclass(frozen=True)
class Case:
    """Responses of a host at each moment, starting with the crawl, and the expected visits."""

    name: str
    says: list[Says]
    looks: list[Look]
    pages: dict[str, list[Says]] = field(default_factory=dict)
    also: dict[str, list[str]] = field(default_factory=dict)
    """The outcomes of visits to other pages after the crawl."""
    seeds: tuple[str, ...] = (PAGE,)
    options: dict[str, Any] = field(default_factory=dict)
    space: dict[str, Any] = field(default_factory=dict)
    missing: Says = GONE


def _back(name: str, away: Says, look: Look, first: str = "vanished") -> Case:
    """Return a case in which something happens to a page twice, and is undone after each time."""
    if first:
        again = Look("-", look.outcome, look.status, "", look.note, _again(look.record), look.tries)
        back = Look("-", "ok", 200, "returned", record=IDENTICAL)
    else:  # The state is unknown: no change is reported, and the same request is repeated.
        again = Look(look.asked, look.outcome, look.status, "", look.note, _again(look.record), look.tries)
        back = Look(look.asked, "unchanged", 304, record=NOT_MODIFIED)
    return Case(name, [tagged(), away, away, tagged()], [look, again, back])


def _again(record: str) -> str:
    """Return the type of record for a repeated body, which is archived only once."""
    return IDENTICAL if record == "response" else record


ASKED = f'{TAG}: "a"'
UNCACHED = "Cache-Control: no-cache"

CASES = [
    Case("304 for an ETag", [tagged(), tagged()], [Look(ASKED, "unchanged", 304, record=NOT_MODIFIED)]),
    Case(
        "304 for a Last-Modified alone",
        [Says(A, modified=MON), Says(A, modified=MON)],
        [Look(f"{SINCE}: {MON}", "unchanged", 304, record=NOT_MODIFIED)],
    ),
    Case(
        "other ETag, same content",
        [tagged(), tagged(tag='"b"'), tagged(tag='"b"')],
        [
            Look(ASKED, "unchanged", 200, record=IDENTICAL),
            Look(f'{TAG}: "b"', "unchanged", 304, record=NOT_MODIFIED),
        ],
    ),
    Case(
        "other content, same ETag",
        [tagged(), tagged(B, honours=False), tagged(B, honours=False)],
        [
            Look(ASKED, "ok", 200, "text"),
            Look("-", "unchanged", 200, record=IDENTICAL),
        ],
    ),
    Case(
        "304 although the content is other",
        [tagged(), *[tagged(B, insists=True)] * 4],
        [
            *[Look(ASKED, "unchanged", 304, record=NOT_MODIFIED)] * 2,
            Look("-", "ok", 200, "text"),
            Look("-", "unchanged", 200, record=IDENTICAL),
        ],
    ),
    Case(
        "weak ETags",
        [tagged(tag='W/"a"'), tagged(tag='W/"a"'), tagged(B, tag='W/"b"'), tagged(B, tag='"b"', honours=False)],
        [
            Look(f'{TAG}: W/"a"', "unchanged", 304, record=NOT_MODIFIED),
            Look(f'{TAG}: W/"a"', "ok", 200, "text"),
            Look(f'{TAG}: W/"b"', "unchanged", 200, record=IDENTICAL),
        ],
    ),
    Case(
        "other ETag for what does not matter",
        [tagged(), tagged(COSMETIC, tag='"b"')],
        [Look(ASKED, "ok", 200, "cosmetic")],
    ),
    Case(
        "no validators",
        [Says(A), Says(A), Says(B)],
        [Look("-", "unchanged", 200, record=IDENTICAL), Look("-", "ok", 200, "text")],
    ),
    Case(
        "Last-Modified is always now",
        [Says(A, modified=MON), Says(A, modified=TUE), Says(A, modified=WED)],
        [Look(f"{SINCE}: {day}", "unchanged", 200, record=IDENTICAL) for day in (MON, TUE)],
    ),
    Case(
        "Last-Modified is frozen",
        [Says(A, modified=MON), Says(B, modified=MON, honours=False), Says(B, modified=MON)],
        [
            Look(f"{SINCE}: {MON}", "ok", 200, "text"),
            Look("-", "unchanged", 200, record=IDENTICAL),
        ],
    ),
    Case(
        "Last-Modified in the future, as the host's clock is",
        [Says(A, modified=FUTURE, more={"Date": FUTURE})] * 2,
        [Look(f"{SINCE}: {FUTURE}", "unchanged", 304, record=NOT_MODIFIED)],
    ),
    Case(
        "Last-Modified before 1970",
        [Says(A, modified=ANCIENT), Says(B, modified=TUE)],
        [Look(f"{SINCE}: {ANCIENT}", "ok", 200, "text")],
    ),
    Case(
        "Last-Modified that is not a date",
        [Says(A, modified="yesterday")] * 2,
        [Look("-", "unchanged", 200, record=IDENTICAL)],
    ),
    Case(
        "304 without a condition",
        [Says(A), Says(b"", 304), Says(A)],
        [
            Look("-", "invalid", 304, note="status 304 for a request without a condition"),
            Look("-", "unchanged", 200, record=IDENTICAL),
        ],
    ),
    Case(
        "a page that is never to come from a cache",
        [tagged(), Says(b"", 304), tagged()],
        [
            Look(UNCACHED, "invalid", 304, note="status 304 for a request without a condition"),
            Look(UNCACHED, "unchanged", 200, record=IDENTICAL),
        ],
        options={"always": ["coral"]},
    ),
    Case(
        "304 with a body",
        [tagged(), Says(B, 304, etag='"a"'), tagged()],
        [Look(ASKED, "unchanged", 304, record=NOT_MODIFIED)] * 2,
    ),
    Case(
        "charset of the header is other: the same bytes, other words",
        [Says(CAFE), Says(CAFE, type="text/html; charset=windows-1252")],
        [Look("-", "ok", 200, "text", record=IDENTICAL)],
    ),
    Case(
        "charset is named that was guessed before",
        [Says(CAFE, type="text/html"), Says(CAFE, type="text/html; charset=utf-8")],
        [Look("-", "unchanged", 200, record=IDENTICAL)],
    ),
    Case(
        "charset of the bytes and of the meta element is other, same words",
        [
            Says(html(CAFE, head='<meta charset="utf-8">'), type="text/html"),
            Says(html(CAFE, head='<meta charset="windows-1252">').encode("cp1252"), type="text/html"),
        ],
        [Look("-", "ok", 200, "cosmetic")],
    ),
    Case(
        "charset of the bytes and of the header is other, same words",
        [Says(CAFE), Says(CAFE.encode("cp1252"), type="text/html; charset=windows-1252")],
        [Look("-", "ok", 200, "cosmetic")],
    ),
    _back(
        "HTML becomes a picture",
        Says(b"\x89PNG", type="image/png"),
        Look(ASKED, "unwanted", 200, "vanished", "image/png", record=""),
    ),
    Case(
        "HTML becomes plain text",
        [tagged(), Says(REEF, type="text/plain; charset=utf-8")],
        [Look(ASKED, "ok", 200, "text")],
    ),
    Case(
        "gzip becomes br, same content",
        [
            Says(gzip.compress(A.encode()), more={"Content-Encoding": "gzip"}),
            *[Says(brotli.compress(A.encode()), more={"Content-Encoding": "br"})] * 2,
        ],
        [Look("-", "unchanged", 200), Look("-", "unchanged", 200, record=IDENTICAL)],
    ),
    Case(
        "gzip of another level, same content",
        [Says(gzip.compress(A.encode(), level), more={"Content-Encoding": "gzip"}) for level in (1, 9)],
        [Look("-", "unchanged", 200)],
    ),
    *(
        Case(
            f"{status} appears, then disappears",
            [tagged(), moved(status), moved(status), tagged()],
            [
                Look(ASKED, "redirect", status, "moved"),
                Look("-", "redirect", status),
                Look("-", "ok", 200, "returned", record=IDENTICAL),
            ],
            {OTHER: [Says(B)]},
            {OTHER: ["ok", "unchanged", "unchanged"]},
        )
        for status in (301, 302, 307, 308)
    ),
    Case(
        "redirect to another target",
        [tagged(), moved(302), moved(302, "http://reef.test/lagoon")],
        [Look(ASKED, "redirect", 302, "moved"), Look("-", "redirect", 302, "moved")],
        {OTHER: [Says(B)], "http://reef.test/lagoon": [Says(html("A lagoon with a coral reef."))]},
        {OTHER: ["ok", "unchanged"], "http://reef.test/lagoon": ["ok"]},
    ),
    Case(
        "redirect to itself",
        [tagged(), moved(301, PAGE), tagged()],
        [
            Look(ASKED, "loop", 301, note="a redirect to itself"),
            Look(ASKED, "unchanged", 304, record=NOT_MODIFIED),
        ],
    ),
    Case(
        "redirect in a circle",
        [tagged(), moved(302)],
        [Look(ASKED, "redirect", 302, "moved")],
        {OTHER: [moved(302, PAGE)]},
        {OTHER: ["redirect"]},
    ),
    Case(
        "redirect in a chain",
        [tagged(), moved(301)],
        [Look(ASKED, "redirect", 301, "moved")],
        {OTHER: [moved(301, "http://reef.test/lagoon")], "http://reef.test/lagoon": [Says(B)]},
        {OTHER: ["redirect"], "http://reef.test/lagoon": ["ok"]},
    ),
    Case(
        "redirect to another host",
        [tagged(), moved(301, "http://sea.test/coral")],
        [Look(ASKED, "redirect", 301, "moved")],
        {"http://sea.test/coral": [Says(B)]},
        {"http://sea.test/coral": ["ok"]},
    ),
    Case(
        "redirect to a page that is known",
        [tagged(), moved(301)],
        [Look(ASKED, "redirect", 301, "moved")],
        {OTHER: [Says(B)]},
        {OTHER: ["unchanged"]},
        seeds=(PAGE, OTHER),
    ),
    Case(
        "redirect to a page that robots.txt denies",
        [tagged(), moved(301, "http://sea.test/secret")],
        [Look(ASKED, "redirect", 301, "moved")],
        {"http://sea.test/robots.txt": [DENIES], "http://sea.test/secret": [Says(B)]},
        {"http://sea.test/secret": ["denied"]},
    ),
    Case(
        "redirect outside the scope",
        [tagged(), moved(301, "http://sea.test/coral")],
        [Look(ASKED, "redirect", 301, "moved")],
        {"http://sea.test/coral": [Says(B)]},
        {"http://sea.test/coral": []},
        options={"hosts": ["reef.test"]},
    ),
    Case(
        "HTTP becomes HTTPS",
        [tagged(), moved(301, PAGE.replace("http:", "https:"))],
        [Look(ASKED, "redirect", 301, "moved")],
        {PAGE.replace("http:", "https:"): [tagged()]},
        {PAGE.replace("http:", "https:"): ["ok"]},
    ),
    *(
        _back(f"{status}, then back", Says(b"nothing here", status), Look(ASKED, "gone", status, "vanished"))
        for status in (404, 410, 403, 451)
    ),
    _back("500, then back", Says(b"oh", 500), Look(ASKED, "broken", 500), ""),
    _back(
        "503 with Retry-After of a minute, then back",
        Says(b"later", 503, more={"Retry-After": "60"}),
        Look(ASKED, "busy", 503, record=IDENTICAL, tries=3),
        "",
    ),
    _back(
        "503 with Retry-After of a day, then back",
        Says(b"later", 503, more={"Retry-After": "86400"}),
        Look(ASKED, "busy", 503),
        "",
    ),
    _back(
        "no answer, then back",
        Says(fails="timeout"),
        Look(ASKED, "timeout", 0, note="so the script says", record="", tries=3),
        "",
    ),
    _back(
        "soft 404, on a host that was caught at it",
        Says(html("There is no such page here any more.", title="Not found")),
        Look(ASKED, "gone", 200, "vanished", "says that there is nothing, under status 200", record=IDENTICAL),
    ),
    Case(
        "a page that always sounded like a 404",
        [
            tagged(html(SORRY, title="Page not found")),
            tagged(html(f"{SORRY} Or three.", title="Page not found"), '"b"'),
        ],
        [Look(ASKED, "ok", 200, "text")],
    ),
    Case(
        "robots.txt denies it for a while",
        [tagged(), tagged(B, tag='"b"'), tagged(B, tag='"b"')],
        [
            Look("nothing", "denied", 0, note="http://reef.test/robots.txt does not allow it", record=""),
            Look(ASKED, "ok", 200, "text"),
        ],
        {"http://reef.test/robots.txt": [ROBOTS, DENIES, ROBOTS]},
    ),
    Case(
        "empty body",
        [tagged(), Says(b""), tagged()],
        [Look(ASKED, "ok", 200, "topic"), Look("-", "ok", 200, "topic", record=IDENTICAL)],
    ),
    Case(
        "the answer breaks off",
        [tagged(), tagged(B, tag='"b"', cut=150), tagged(B, tag='"b"')],
        [
            Look(ASKED, "unreachable", 200, note="the response was cut off", record=IDENTICAL, tries=3),
            Look(ASKED, "ok", 200, "text"),
        ],
    ),
    Case(
        "the answer to the crawl broke off",
        [tagged(cut=150), tagged(), tagged()],
        [Look("-", "ok", 200, "cosmetic"), Look(ASKED, "unchanged", 304, record=NOT_MODIFIED)],
    ),
    Case(
        "other content, then the first again",
        [tagged(), tagged(B, tag='"b"'), tagged()],
        [Look(ASKED, "ok", 200, "text"), Look(f'{TAG}: "b"', "ok", 200, "text", record=IDENTICAL)],
    ),
    Case(
        "noindex appears in a header",
        [tagged(), *[tagged(tag='"b"', more={"X-Robots-Tag": "noindex"})] * 2],
        [
            Look(ASKED, "ok", 200, "cosmetic", record=IDENTICAL),
            Look(f'{TAG}: "b"', "unchanged", 304, record=NOT_MODIFIED),
        ],
    ),
    Case(
        "noindex appears in the page",
        [tagged(), tagged(html(head='<meta name="robots" content="noindex">'), tag='"b"')],
        [Look(ASKED, "ok", 200, "cosmetic")],
    ),
    Case(
        "the host is gone from DNS, then back",
        [tagged(), Says(fails="unknown-host"), tagged()],
        [
            Look("nothing", "unknown-host", 0, note="no such host", record=""),
            Look(ASKED, "unchanged", 304, record=NOT_MODIFIED),
        ],
    ),
]


def _asked(headers: list[dict[str, str]]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in headers[-1].items()) or "-" if headers else "nothing"


def _told(visit: Visit) -> str:
    change = change_of(visit)
    return "" if change is None else change.kind if change.what == "changed" else change.what


def _record(path: Path, visit: Visit) -> str:
    """Return the type of the visit's archive record, with its profile if it is a revisit record."""
    if not visit.place.file:
        return ""
    with open(path / "archive" / visit.place.file, "rb") as file:
        file.seek(visit.place.offset)
        record = next(ArchiveIterator(file))
        if record.rec_type == "response":
            return "response"
        profile = record.rec_headers["WARC-Profile"].rpartition("/")[2]
        return f"{record.rec_type}: {profile}"


def _soft(case: Case) -> Case:
    """Add a second page to cases of soft 404s, so that the host is probed."""
    if not case.name.startswith("soft"):
        return case
    pages = {OTHER: [Says(html("An atoll with a coral reef."))]}
    return Case(
        case.name, case.says, case.looks, pages, seeds=(PAGE, OTHER), space={"probe_after": 1}, missing=case.says[1]
    )


@pytest.mark.parametrize("case", [_soft(case) for case in CASES], ids=lambda case: case.name)
def test_responses_to_revisits_have_documented_effects(tmp_path: Path, case: Case) -> None:
    path = tmp_path / "crawl"
    script = Script({PAGE: case.says, **case.pages}, case.missing)
    crawl(path, script, case.seeds, space=case.space, **case.options)
    found, told, also = [], [], []
    for moment in range(1, len(case.says)):
        before = len(script.requests)
        visits = refresh(path, script, moment, space=case.space).visits
        asked = Script.asked(_since(script, before), PAGE)
        own = [visit for visit in visits if visit.node == PAGE]
        last = own[-1]
        found.append(
            Look(_asked(asked), last.outcome, last.status, _told(last), last.note, _record(path, last), len(own))
        )
        told += [_told(visit) for visit in own if _told(visit)]
        also += [visit for visit in visits if visit.node in case.also]
    assert case.looks == found
    assert case.also == {url: [visit.outcome for visit in also if visit.node == url] for url in case.also}
    _check_kept(path, case, told)


def _since(script: Script, number: int) -> Script:
    later = Script({})
    later.requests = script.requests[number:]
    return later


def _check_kept(path: Path, case: Case, told: list[str]) -> None:
    """Check that the ledger has each change once, the archive is valid, and each version is archived as sent."""
    log = SqliteLog(path / "crawl.sqlite")
    try:
        entries = [entry for entry in changes(log, wanted=ChangeFilter(cosmetic=True)) if entry.url == PAGE]
        assert told == [e.change.kind if e.change.what == "changed" else e.change.what for e in entries]
        versions = Versions(log, path / "archive")
        kept = versions.of(PAGE)
        sent = [case.says[0], *(s for s, look in zip(case.says[1:], case.looks, strict=True) if look.outcome == "ok")]
        assert [_bytes(says) for says in sent] == [_plain(versions, visit) for visit in kept]
        for visit in log.visits("url = ?", given=(PAGE,)):
            if visit.outcome == "unchanged":  # the previous version must be returned
                stood = [version for version in kept if version.started < visit.started][-1]
                assert _plain(versions, stood) == _plain(versions, visit)
    finally:
        log.close()
    if not case.name.startswith("gzip becomes br"):  # warcio 1.8 cannot decode brotli
        check_warcs(path)


def _bytes(says: Says) -> bytes:
    body = says.body if isinstance(says.body, bytes) else says.body.encode()
    return inflate(body[: says.cut], says.more.get("Content-Encoding", ""), 10**6)[0]


def _plain(versions: Versions, visit: Visit) -> bytes:
    exchange = versions.exchange(visit)
    assert exchange is not None
    return inflate(exchange.body, exchange.header("content-encoding"), 10**6)[0]


def test_cases_are_documented() -> None:
    page = (ROOT / "docs" / "refresh-cases.md").read_text(encoding="utf-8")
    assert table() == page[page.index("| Case") :]


def table() -> str:
    """Return the cases as a Markdown table, one row per visit."""
    lines = ["| Case | Asked | Outcome | Told | Archived as |", "| --- | --- | --- | --- | --- |"]
    for case in CASES:
        name = case.name
        for number, look in enumerate(case.looks):
            if number and look == case.looks[number - 1]:
                continue
            times = case.looks.count(look)
            said = f"{look.status or 'no answer'}: {look.outcome}" if look.asked != "nothing" else look.outcome
            said += f" ({look.tries} tries)" if look.tries > 1 else f" ({times} times)" if times > 1 else ""
            asked = f"`{look.asked}`" if ":" in look.asked else look.asked
            lines.append(f"| {name} | {asked} | {said} | {look.told} | {look.record} |")
            name = ""
    return "\n".join(lines) + "\n"


def test_host_with_wrong_304_is_not_trusted_again(tmp_path: Path) -> None:
    """After at most two wrong 304 responses, requests to the host are unconditional."""
    says = [tagged(html(f"{REEF} Survey {number} of the coral.")) for number in range(8)]
    script = Script({PAGE: [says[0], *(tagged(each.body, insists=True) for each in says[1:])]})
    crawl(tmp_path / "crawl", script)
    seen = [refresh(tmp_path / "crawl", script, moment).of(PAGE)[-1] for moment in range(1, 8)]
    assert ["unchanged"] * 2 + ["ok"] * 5 == [visit.outcome for visit in seen]
    assert [{TAG: '"a"'}] * 2 + [{}] * 5 == script.asked(PAGE)[1:]


def test_reliable_host_is_verified_less_often(tmp_path: Path) -> None:
    says = [tagged(), tagged(B, tag='"b"'), *[tagged(B, tag='"b"')] * 12]
    script = Script({PAGE: says})
    crawl(tmp_path / "crawl", script)
    for moment in range(1, 12):
        refresh(tmp_path / "crawl", script, moment)
    unasked = [number for number, conditions in enumerate(script.asked(PAGE)[1:]) if not conditions]
    assert [7] == unasked
