"""The export API, and deletion of accounts."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient

from lycosa.core.errors import LycosaError
from lycosa_server.api.export_routes import _copy
from lycosa_server.people.ids import new_id
from revisited_crawl import EPOCH, Revisited, html
from site_maker import API, PASSWORD, SiteUnderTest

REEFS = {"name": "Reefs / Riffe", "settings": {"words": "coral", "seeds": ["https://reefs.example/"]}}
PAGE = "https://reefs.example/a"


def _crawled(site: SiteUnderTest, client: TestClient) -> tuple[str, str, Revisited]:
    """Create an interest with a crawl whose files are still open."""
    interest, crawl = client.post(f"{API}/interests", json=REEFS).json()["id"], new_id()
    site.database.insert(
        "crawl",
        {
            "id": crawl, "interest": interest, "number": 1, "task": "crawl", "wanted": "run", "state": "running",
            "budget": 50, "created": EPOCH, "queued": EPOCH,
        },
    )  # fmt: skip
    directory = site.settings.crawl_directory(crawl)
    directory.parent.mkdir(exist_ok=True)
    made = Revisited(directory)
    made.seed("https://reefs.example/")
    made.page("https://reefs.example/", html("Reefs", "coral reefs"), links=[PAGE])
    made.page(PAGE, html("Her page", "coral and kelp"), 1.0)
    made.changed(PAGE, html("Her page", "coral and bleached kelp"), 2.0)
    return interest, crawl, made


def test_export_everything_is_zip_of_rows_and_pages(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    interest, _, made = _crawled(site, ada)
    archive = next((made.path / "archive").glob("*.warc.gz*"))
    with open(archive, "ab") as file:
        file.write(b"half a record")  # incomplete, as during a crawl
    answer = ada.get(f"{API}/me/export")
    made.close()
    assert (200, "application/zip") == (answer.status_code, answer.headers["content-type"])
    with ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.testzip() is None
        folder = f"interests/reefs-riffe-{interest[:6]}/crawl-1"
        names = packed.namelist()
        assert ["account.json", f"{folder}/pages.jsonl"] == names[:2]
        body = json.loads(packed.read("account.json"))
        assert ("Ada", ["coral"]) == (body["account"]["name"], [one["settings"]["words"] for one in body["interests"]])
        pages = [json.loads(line) for line in packed.read(names[1]).splitlines()]
        assert [("https://reefs.example/", 1), (PAGE, 1), (PAGE, 2)] == [(one["url"], one["version"]) for one in pages]
        assert "coral and bleached kelp" in pages[2]["text"]
        warc = gzip.decompress(packed.read(names[2]))  # fails for truncated records
        assert 3 == warc.count(b"WARC-Type: response")
    assert "account exported" in [row["action"] for row in site.database.rows("SELECT action FROM audit")]


def test_export_interest_is_for_owner_only(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    interest, crawl, made = _crawled(site, ada)
    made.close()
    ada.put(f"{API}/interests/{interest}/shares", json={"name": "Bob", "mode": "read"})
    assert 403 == bob.get(f"{API}/interests/{interest}/export").status_code
    with ZipFile(io.BytesIO(ada.get(f"{API}/interests/{interest}/export").content)) as packed:
        assert "Reefs / Riffe" == json.loads(packed.read("account.json"))["name"]
        assert 3 == len(packed.namelist())
    lines = bob.get(f"{API}/crawls/{crawl}/export").text.splitlines()
    assert ["https://reefs.example/", PAGE] == [json.loads(line)["url"] for line in lines]
    table = list(csv.reader(io.StringIO(bob.get(f"{API}/crawls/{crawl}/export?form=csv").text)))
    assert 3 == len(table)
    warc = bob.get(f"{API}/crawls/{crawl}/export?form=warc")
    assert 3 == gzip.decompress(warc.content).count(b"WARC-Type: response")
    assert f'filename="reefs-riffe-{interest[:6]}-crawl-1.warc.gz"' in warc.headers["content-disposition"]
    wacz = bob.get(f"{API}/crawls/{crawl}/export?form=wacz")
    with ZipFile(io.BytesIO(wacz.content)) as packed:
        assert packed.testzip() is None
        assert 3 == gzip.decompress(packed.read("archive/data.warc.gz")).count(b"WARC-Type: response")
    assert ("application/wacz", True) == (wacz.headers["content-type"], ".wacz" in wacz.headers["content-disposition"])
    assert 422 == bob.get(f"{API}/crawls/{crawl}/export?form=exe").status_code


def test_export_of_crawl_that_has_not_started_has_no_files(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    interest, crawl, made = _crawled(site, ada)
    made.close()
    site.database.run("UPDATE crawl SET id = 'elsewhere' WHERE id = :crawl", crawl=crawl)
    assert 404 == ada.get(f"{API}/crawls/elsewhere/export").status_code
    with ZipFile(io.BytesIO(ada.get(f"{API}/interests/{interest}/export").content)) as packed:
        assert ["account.json"] == packed.namelist()


def test_export_lists_damaged_crawl(site: SiteUnderTest, tmp_path: Path) -> None:
    ada = site.sign_up("Ada")
    _, _, made = _crawled(site, ada)
    made.close()
    (made.path / "crawl.sqlite").write_bytes(b"no database" * 1_000)
    with ZipFile(io.BytesIO(ada.get(f"{API}/me/export").content)) as packed:
        problem = next(name for name in packed.namelist() if name.endswith("problem.txt"))
        assert b"damaged" in packed.read(problem)
        assert str(tmp_path).encode() not in packed.read(problem)


def test_delete_account_leaves_no_trace(site: SiteUnderTest) -> None:
    site.sign_up("Root", "admin")
    ada, bob = site.sign_up("Ada Lovelace"), site.sign_up("Bob")
    me = site.id_of(ada)
    interest, crawl, made = _crawled(site, ada)
    made.close()
    ada.put(f"{API}/interests/{interest}/shares", json={"name": "Bob", "mode": "read"})
    site.token(ada, ["read"])
    ada.post(f"{API}/interests/{interest}/feed")
    answer = ada.request("DELETE", f"{API}/me", json={"password": PASSWORD})
    assert 204 == answer.status_code, answer.text
    left = [
        (table, column, row["value"])
        for table, columns in site.database.tables().items()
        if table != "audit"
        for column in columns
        for row in site.database.rows(f"SELECT {column} AS value FROM {table}")
        if any(word in str(row["value"]).lower() for word in (me, interest, "lovelace"))
    ]
    assert [] == left
    assert [] == bob.get(f"{API}/interests").json()
    assert not site.settings.crawl_directory(crawl).exists()
    assert [{"crawl": crawl}] == site.database.rows(
        "SELECT crawl FROM deleted_crawl"
    )  # wait until the crawl process has removed the directory


def test_export_quota_is_per_person(site: SiteUnderTest) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    writers = site.app.state.site.writers
    with writers.one(site.id_of(ada)), writers.one(site.id_of(ada)):
        refused = ada.get(f"{API}/me/export")
        assert (429, "30") == (refused.status_code, refused.headers["retry-after"])
        assert 200 == bob.get(f"{API}/me/export").status_code
    assert [200] * 3 == [ada.get(f"{API}/me/export").status_code for _ in range(3)]


def test_copy_distinguishes_disconnects_from_read_errors(tmp_path: Path) -> None:
    class Gone(io.BytesIO):
        def write(self, data: object) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    (tmp_path / "a.warc.gz").write_bytes(b"record")
    with pytest.raises(BrokenPipeError):
        _copy(tmp_path / "a.warc.gz", Gone(), 6)
    with pytest.raises(LycosaError, match=r"cannot read b\.warc\.gz"):
        _copy(tmp_path / "b.warc.gz", io.BytesIO(), 6)
