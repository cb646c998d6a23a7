"""HTML pages and static files, without a browser."""

from __future__ import annotations

import mimetypes
import re
from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

import pytest

from lycosa_server.people.database import DatabaseUnavailable
from site_maker import API, SiteUnderTest

HTML = {"Accept": "text/html,application/xhtml+xml"}
SETTINGS = {"words": "coral reefs", "seeds": ["https://example.org/"]}
SHELLS = files("lycosa_server")


def test_pages_redirect_to_sign_in_and_back(site: SiteUnderTest) -> None:
    client = site.client()
    for path in ("/", "/interests/new", "/interests/abc", "/interests/abc/edit", "/account", "/admin"):
        answer = client.get(path + "?a=1&b=2", headers=HTML, follow_redirects=False)
        target = urlsplit(answer.headers["location"])
        back = parse_qs(target.query)["next"]
        assert (303, "", "", "/sign-in") == (answer.status_code, target.scheme, target.netloc, target.path)
        assert [path + "?a=1&b=2"] == back
    for path in ("/sign-in", "/join", "/privacy"):
        answer = client.get(path, headers=HTML)
        assert (200, "text/html; charset=utf-8") == (answer.status_code, answer.headers["content-type"])


def test_sign_in_redirects_within_site(site: SiteUnderTest) -> None:
    client, nobody = site.sign_up("ada"), site.client()
    for wanted in (
        "//evil.test/", "/\\evil.test", "https://evil.test", "javascript:alert(1)", "/\r\nX: y", "/sign-in", "evil", "",
    ):  # fmt: skip
        answer = client.get("/sign-in", params={"next": wanted}, headers=HTML, follow_redirects=False)
        assert (303, "/") == (answer.status_code, answer.headers["location"]), wanted
        assert 'data-next="/"' in nobody.get("/sign-in", params={"next": wanted}, headers=HTML).text
    answer = client.get("/sign-in?next=/account", headers=HTML, follow_redirects=False)
    assert (303, "/account") == (answer.status_code, answer.headers["location"])


def test_pages_follow_roles(site: SiteUnderTest) -> None:
    wanted = {"reader": [200, 403, 200, 403], "member": [200, 200, 200, 403], "admin": [200, 200, 200, 200]}
    got = {}
    for role in wanted:
        client = site.sign_up(role + " one", role)
        got[role] = [
            client.get(path, headers=HTML).status_code for path in ("/", "/interests/new", "/account", "/admin")
        ]
    assert wanted == got


def test_interest_pages_follow_shares(site: SiteUnderTest) -> None:
    owner, friend, other = site.sign_up("owner"), site.sign_up("friend"), site.sign_up("other")
    made = owner.post(f"{API}/interests", json={"name": "<b>Reefs</b>", "settings": SETTINGS, "revisit_every": ""})
    assert 201 == made.status_code, made.text
    interest = made.json()["id"]
    shared = owner.put(f"{API}/interests/{interest}/shares", json={"name": "friend", "mode": "read"})
    assert shared.is_success, shared.text

    def statuses(path: str) -> list[int]:
        return [client.get(path, headers=HTML).status_code for client in (owner, friend, other)]

    assert [200, 200, 404] == statuses(f"/interests/{interest}")
    assert [200, 403, 404] == statuses(f"/interests/{interest}/edit")
    assert [404, 404, 404] == statuses(f"/interests/{interest}/nonsense")
    assert "<b>Reefs" not in owner.get(f"/interests/{interest}/edit", headers=HTML).text


def test_unknown_pages_are_html_or_json(site: SiteUnderTest) -> None:
    client = site.client()
    page = client.get("/nothing", headers=HTML)
    assert (404, True) == (page.status_code, "<h1>Nothing here</h1>" in page.text)
    for answer in (client.get("/nothing"), client.get(f"{API}/nothing", headers=HTML)):
        assert (404, {"detail": "Not Found"}) == (answer.status_code, answer.json())


def test_pages_are_503_during_database_outage(site: SiteUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.sign_up("ada")

    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("the database cannot be reached")

    monkeypatch.setattr(type(site.database), "row", away)
    answer = client.get("/account", headers=HTML, follow_redirects=False)
    assert (503, True) == (answer.status_code, "<h1>One moment</h1>" in answer.text)


def test_pages_contain_theme(site: SiteUnderTest) -> None:
    client = site.sign_up("ada")
    assert '<html lang="en">' in client.get("/", headers=HTML).text
    client.patch(f"{API}/me", json={"preferences": {"theme": "dark"}})
    assert '<html lang="en" data-theme="dark">' in client.get("/", headers=HTML).text


def test_static_files_are_compressed_and_revalidated(site: SiteUnderTest) -> None:
    client = site.client()
    for name, kind in (
        ("site.css", "text/css; charset=utf-8"),
        ("api.js", mimetypes.guess_type("api.js")[0]),
        ("favicon.svg", "image/svg+xml"),
    ):
        answer = client.get(f"/static/{name}", headers={"Accept-Encoding": "identity"})
        assert (200, True, "no-cache") == (
            answer.status_code,
            answer.headers["content-type"].startswith(str(kind)),
            answer.headers["cache-control"],
        )
        packed = client.get(f"/static/{name}", headers={"Accept-Encoding": "gzip"})
        assert answer.content == packed.content
        assert ("gzip" if len(answer.content) > 1000 else None) == packed.headers.get("content-encoding")
        again = client.get(f"/static/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (304, b"") == (again.status_code, again.content)


def test_static_files_of_build_are_immutable(site: SiteUnderTest) -> None:
    client = site.client()
    sheet = re.findall(r'href="(/static/[0-9a-f]{12}/site\.css)"', client.get("/sign-in", headers=HTML).text)[0]
    assert "public, max-age=31536000, immutable" == client.get(sheet).headers["cache-control"]
    assert "no-cache" == client.get("/static/000000000000/site.css").headers["cache-control"]


def test_static_refuses_other_files(site: SiteUnderTest) -> None:
    client = site.client()
    for name in ("../pages.py", "..%2fpages.py", "%2e%2e/templates/base.html", "base.html", "", "no.css", "%00"):
        assert client.get(f"/static/{name}").status_code in (404, 422), name


def test_linked_files_exist(site: SiteUnderTest) -> None:
    client = site.sign_up("ada", "admin")
    asked = set()
    for path in ("/", "/interests/new", "/account", "/admin", "/privacy"):
        asked |= set(re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get(path, headers=HTML).text))
    for script in [file for file in SHELLS.joinpath("static").iterdir() if file.name.endswith(".js")]:
        asked |= {f"/static/{name}" for name in re.findall(r'from "\./([^"]+)"', script.read_text("utf-8"))}
    assert [] == [path for path in sorted(asked) if client.get(path).status_code != 200]


def test_templates_and_scripts_follow_policy() -> None:
    found = []
    for file in [*SHELLS.joinpath("templates").iterdir(), *SHELLS.joinpath("static").iterdir()]:
        text = file.read_text("utf-8")
        if file.name.endswith(".html"):
            refused = r"<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|(?:src|href)=\"(?:https?:)?//|\|\s*safe"
        elif file.name.endswith(".js"):
            refused = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
        else:
            refused = r"url\(|@import"
        found += [f"{file.name}: {hit}" for hit in re.findall(refused, text)]
    assert [] == found


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXT = [
    (ink, ground)
    for ink in ("ink", "muted", "accent", "other", "bad", "good", "warn")
    for ground in ("paper", "raised", "soft")
]
ON = [
    *(
        ("on-accent", "accent"),
        ("on-accent", "accent-strong"),
        ("accent-strong", "mark"),
        ("ink", "mark"),
        ("paper", "ink"),
    ),
    *(("good", "good-soft"), ("warn", "warn-soft"), ("bad", "bad-soft"), ("paper", "bad")),
    *(("ink", "good-soft"), ("ink", "warn-soft"), ("ink", "bad-soft")),
]


@pytest.mark.parametrize("theme", ["light", "dark", "chosen dark"])
def test_contrast_meets_wcag_aa(theme: str) -> None:
    sheet = SHELLS.joinpath("static", "site.css").read_text("utf-8")
    selector = {
        "light": ":root {",
        "dark": ':root:not([data-theme="light"]) {',
        "chosen dark": ':root[data-theme="dark"] {',
    }[theme]
    block = sheet.split(selector, 1)[1].split("}", 1)[0]
    tokens = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
    poor = [(ink, ground) for ink, ground in TEXT + ON if _contrast(tokens[ink], tokens[ground]) < 4.5]
    poor += [("field", ground) for ground in ("paper", "raised") if _contrast(tokens["field"], tokens[ground]) < 3]
    assert [] == poor
