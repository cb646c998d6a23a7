"""Import of seeds from files."""

from __future__ import annotations

import gzip
from pathlib import Path

from fastapi.testclient import TestClient

from lycosa_server.api import interest_routes as imports
from site_maker import API, SiteUnderTest

BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<DL><p><DT><H3>Reefs</H3><DL><p>
<DT><A HREF="https://reefs.example/a?utm_source=x">Why corals bleach</A>
<DT><A HREF="javascript:alert(1)">A bookmarklet</A>
</DL></DL>"""
OPML = b"""<opml><body><outline text="Seas" htmlUrl="https://seas.example/" xmlUrl="https://seas.example/feed"/></body></opml>"""


def _send(client: TestClient, body: bytes, name: str = "file") -> dict[str, object]:
    answer = client.post(f"{API}/imports", files={"file": (name, body)})
    assert 200 == answer.status_code, answer.text
    data: dict[str, object] = answer.json()
    return data


def test_read_file_reads_all_formats(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    reef = {"url": "https://reefs.example/a", "title": "Why corals bleach"}
    assert {"form": "bookmarks", "urls": [reef], "skipped": 1, "note": ""} == _send(ada, BOOKMARKS)
    assert [reef] == _send(ada, gzip.compress(BOOKMARKS))["urls"]
    opml = _send(ada, OPML, "subscriptions.opml")
    assert ("opml", [{"url": "https://seas.example/", "title": "Seas"}]) == (opml["form"], opml["urls"])
    assert "1 files that it links to" in str(opml["note"])
    typed = _send(ada, b"# mine\nreefs.example/b\nnot an address\nhttps://seas.example/\n")
    assert ("list", 1) == (typed["form"], typed["skipped"])
    assert ["https://reefs.example/b", "https://seas.example/"] == [one["url"] for one in typed["urls"]]  # type: ignore[attr-defined]


def test_read_file_truncates_long_lists(site: SiteUnderTest) -> None:
    data = _send(site.sign_up("Ada"), b"\n".join(b"https://a.example/%d" % n for n in range(imports.MAX_URLS + 7)))
    assert (imports.MAX_URLS, 7) == (len(data["urls"]), data["skipped"])  # type: ignore[arg-type]


def test_read_file_refuses_empty_and_large_files(site: SiteUnderTest, tmp_path: Path) -> None:
    ada = site.sign_up("Ada")
    for body, status in ((b"", 422), (b"\x00\xff\xfe binary", 422), (b"<p>no links", 422), (b"x" * 5_000_001, 413)):
        answer = ada.post(f"{API}/imports", files={"file": ("../../etc/mine\x00.html", body)})
        assert status == answer.status_code, answer.text
        assert str(tmp_path) not in answer.text
