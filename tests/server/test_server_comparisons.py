"""Strategies compared on a recorded crawl: asked for, done by a child, shown; also after a crash."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.people import comparisons
from lycosa.people.database import new_id
from lycosa.server import child
from lycosa.server.comparing import Comparison, compare
from revisited_crawl import EPOCH, Revisited, html
from site_maker import API, SiteUnderTest

SEED, HUB = "http://reefs.example/", "http://reefs.example/hub"
WISHES = {"words": "coral reef", "seeds": [SEED], "budget": 50}


def interest_of(site: SiteUnderTest, client: object) -> str:
    made = client.post(f"{API}/interests", json={"name": "reefs", "wishes": WISHES, "look_again": ""})  # type: ignore[attr-defined]
    assert 201 == made.status_code, made.text
    return str(made.json()["id"])


def crawl_of(site: SiteUnderTest, interest: str, *, pages: int = 14) -> str:
    """A finished crawl: a hub of six good pages, and six others that come first in breadth-first order."""
    crawl = new_id()
    row = {"id": crawl, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "finished"}
    more = {"budget": 50, "pages": pages, "found": 7, "created": EPOCH, "queued": EPOCH}
    site.database.insert("crawl", row | more)
    record(site.settings.crawl_directory(crawl))
    return crawl


def record(directory: Path) -> None:
    directory.parent.mkdir(parents=True, exist_ok=True)
    made = Revisited(directory)
    bad = [f"http://reefs.example/bad{n}" for n in range(6)]
    good = [f"http://reefs.example/good{n}" for n in range(6)]
    made.seed(SEED)
    made.page(SEED, html("Start", links(bad, "shop") + links([HUB], "coral reef")), links=[*bad, HUB], beta=0.0)
    made.page(HUB, html("Hub", "coral reef " + links(good, "coral reef")), 1.0, links=good)
    for number, url in enumerate([*good, *bad]):
        words = "coral reef bleaching" if url in good else "shoes and bags"
        made.page(url, html(f"Page {number}", f"{words} {number} {'different ' * number}"), beta=float(url in good))
    made.close()


def links(urls: list[str], anchor: str) -> str:
    return " ".join(f'<a href="{url}">{anchor} {n}</a>' for n, url in enumerate(urls))


def test_a_focused_order_beats_breadth(tmp_path: Path) -> None:
    """Best-first finds the good pages before breadth-first does, and both end where the crawl ended."""
    record(tmp_path / "crawl")
    told = compare(tmp_path / "crawl", ["best-first", "breadth-first"], "coral reef")
    best, breadth = told["curves"]
    assert ("best-first", "breadth-first") == (best["strategy"], breadth["strategy"])
    assert list(range(1, 15)) == told["pages"]
    assert told["recorded"][-1] == best["found"][-1] == breadth["found"][-1] == 7
    assert 1.0 == best["share"][-1]
    assert sum(best["found"]) > sum(breadth["found"])


def test_a_crawl_that_found_nothing_is_explained(tmp_path: Path) -> None:
    """There is nothing to compare by."""
    made = Revisited(tmp_path / "crawl")
    made.seed(SEED)
    made.page(SEED, html("Start", "shoes"), beta=0.0)
    made.close()
    with pytest.raises(InputError, match="no relevant pages"):
        compare(tmp_path / "crawl", ["best-first"], "coral")


def done(site: SiteUnderTest) -> None:
    """Have the queue worked off."""

    async def work() -> None:
        task = asyncio.create_task(Comparison(site.settings, site.database).run_queued())
        while site.database.rows("SELECT id FROM comparison WHERE state IN ('queued', 'running')"):
            assert not task.done()
            await asyncio.sleep(0.02)
        task.cancel()

    asyncio.run(asyncio.wait_for(work(), 300))  # the child is nice to others: beside busy ones it takes long


def test_from_asking_to_curves(site: SiteUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queued, done by a child process, shown; `automatic` is what it stands for. One that ran when the process died is
    queued anew, and no page stays where it was done; one that can't be done says why.
    """
    monkeypatch.setattr(child, "EVERY", 0.02)
    ada = site.sign_up("ada")
    interest, broken = interest_of(site, ada), interest_of(site, ada)
    lost = crawl_of(site, broken)
    row = comparisons.ask(site.database, 1.0, broken, lost, ["best-first"])
    assert row["id"] == (child.take(site.database, "comparison") or {})["id"]
    assert None is child.take(site.database, "comparison")
    (site.settings.crawl_directory(lost) / "log.sqlite").unlink()
    left = site.settings.data / "comparing" / "of-a-child-that-was-killed"
    left.mkdir(parents=True)
    asked = {"crawl": crawl_of(site, interest), "strategies": ["automatic", "breadth-first"]}
    answer = ada.post(f"{API}/interests/{interest}/comparisons", json=asked)
    assert (202, "queued") == (answer.status_code, answer.json()["state"])
    done(site)
    assert not left.parent.exists()
    failed = ada.get(f"{API}/comparisons/{row['id']}").json()
    assert ("failed", True) == (failed["state"], bool(failed["reason"]))
    told = ada.get(f"{API}/comparisons/{answer.json()['id']}").json()
    assert ("finished", "") == (told["state"], told["reason"])
    assert ["scent", "breadth-first"] == [curve["strategy"] for curve in told["result"]["curves"]]
    assert [told] == ada.get(f"{API}/interests/{interest}/comparisons").json()
    assert 204 == ada.delete(f"{API}/comparisons/{told['id']}").status_code
    assert 404 == ada.get(f"{API}/comparisons/{told['id']}").status_code


def test_bad_wishes_are_refused(site: SiteUnderTest) -> None:
    """Strategies that nobody may choose, crawls of others, too many, too few, too much at once."""
    ada, bob = site.sign_up("ada"), site.sign_up("bob")
    interest, other = interest_of(site, ada), interest_of(site, bob)
    crawl, foreign = crawl_of(site, interest), crawl_of(site, other)
    path = f"{API}/interests/{interest}/comparisons"
    for named, strategies in (
        (crawl, []),
        (crawl, ["oracle"]),
        (crawl, ["rules,file=/etc/passwd"]),
        (crawl, ["no such"]),
        (crawl, ["best-first\0"]),
        (crawl, ["best-first"] * 7),
        (foreign, ["best-first"]),
        ("a\0", ["best-first"]),
    ):
        assert 422 == ada.post(path, json={"crawl": named, "strategies": strategies}).status_code, strategies
    for status in (202, 202, 202, 409):
        assert status == ada.post(path, json={"crawl": crawl, "strategies": ["best-first"]}).status_code


def test_others_see_nothing(site: SiteUnderTest) -> None:
    """A comparison is as visible as its interest: shared to read, it can be read, not deleted."""
    ada, bob = site.sign_up("ada"), site.sign_up("bob")
    interest = interest_of(site, ada)
    row = comparisons.ask(site.database, 1.0, interest, crawl_of(site, interest), ["best-first"])
    path = f"{API}/comparisons/{row['id']}"
    assert (404, 404) == (bob.get(path).status_code, bob.delete(path).status_code)
    assert 200 <= ada.put(f"{API}/interests/{interest}/shares", json={"name": "bob", "mode": "read"}).status_code < 300
    assert (200, 403) == (bob.get(path).status_code, bob.delete(path).status_code)
    assert ["best-first"] == json.loads((site.database.get("comparison", row["id"]) or {})["strategies"])
