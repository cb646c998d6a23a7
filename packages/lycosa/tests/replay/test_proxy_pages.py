"""The proxy's own pages."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa.replay.proxy_pages import (
    SHOWN,
    browsing,
    damaged,
    how_to,
    not_recorded,
    only_get,
    out_of_reach,
    page,
    start,
)

MARKUP = "http://a.example/<script>"


def proxy(**more: Any) -> Any:
    authority = SimpleNamespace(path=Path("/tmp/my ca.pem"), pin="PIN=")
    return SimpleNamespace(
        server="http://127.0.0.1:9",
        address="http://u:p@127.0.0.1:9",
        login="",
        authority=authority,
        token="secret",
        **more,
    )


@pytest.mark.parametrize(
    "content",
    [not_recorded(MARKUP), damaged(MARKUP, "<b>torn"), only_get("<POST>"), out_of_reach(MARKUP, "<b>refused")],
)
def test_error_pages_escape_text(content: bytes) -> None:
    assert b"<script>" not in content
    assert b"<b>" not in content
    assert b"<POST>" not in content


def test_page_escapes_title_only() -> None:
    assert b"<title>a &lt; b</title>" in page("a < b", "<p>text")
    assert b"<p>text" in page("a < b", "<p>text")


def test_browsing_lists_newest_first_with_label_buttons() -> None:
    opened = [
        SimpleNamespace(url=f"http://a.example/{n}", title="<b>" if n else "", relevant=None) for n in range(SHOWN + 2)
    ]
    opened[-1].relevant = True
    html = browsing(proxy(recorder=SimpleNamespace(path=Path("my record"), opened=opened))).decode()
    assert html.index(f"/{SHOWN + 1}<") < html.index(f"/{SHOWN}<")
    assert "http://a.example/1<" not in html
    assert f'action="/label/secret/{SHOWN + 1}/yes"><button disabled>yes ✓' in html
    assert f'action="/label/secret/{SHOWN}/no"><button>no<' in html
    assert "lycosa train browse &#x27;my record&#x27;" in html


def test_start_counts_hosts_beyond_limit() -> None:
    class Hosts(list[Any]):
        def hosts(self) -> list[Any]:
            return [
                SimpleNamespace(pages=2, name=f"h{n}.example", start=f"http://h{n}.example/") for n in range(SHOWN + 3)
            ]

    html = start(proxy(recording=Hosts(range(7)))).decode()
    assert "7 responses, 206 pages of 103 hosts" in html
    assert "and 3 more hosts" in html
    assert html.count("<tr><td>2</td>") == SHOWN


def test_how_to_quotes_arguments_and_hides_password() -> None:
    commands = how_to(proxy(), "http://a.example/?x='1'")
    assert "--cacert '/tmp/my ca.pem'" in commands["curl"]
    assert commands["Lycosa"].startswith("lycosa crawl")
    assert "--allow-network" in how_to(proxy(), "http://a.localhost/")["Lycosa"]
    secured = proxy()
    secured.login = "user:password"
    assert how_to(secured, "http://a.example/")["Lycosa"].startswith("LYCOSA_PROXY_AUTH=user:password lycosa crawl")
