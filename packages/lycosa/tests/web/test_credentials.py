"""The user's headers and cookies."""

from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.web.credentials import Credentials
from tables import each


def cookie_file(directory: Path, *rows: str) -> str:
    path = directory / "cookies.txt"
    path.write_text("# Netscape HTTP Cookie File\n\n" + "".join(row.replace(" ", "\t") + "\n" for row in rows))
    return str(path)


def test_fields_are_those_of_host_and_port() -> None:
    credentials = Credentials(["a.example X-A: 1", "a.example:8080 X-B: 2", "a.example:8080 X-A: 3"])
    assert {"X-A": "1"} == credentials.fields("http://a.example/")
    assert {"X-A": "3", "X-B": "2"} == credentials.fields("http://a.example:8080/")
    assert {} == credentials.fields("http://www.a.example/")


def test_header_replaces_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "reef")
    assert {"X-A": "reef-reefs"} == Credentials(["a.example X-A: $TOKEN-${TOKEN}s"]).fields("http://a.example/")
    monkeypatch.delenv("TOKEN")
    with raises_input_error("missing-variable", match="TOKEN"):
        Credentials(["a.example X-A: $TOKEN"])


@each(["a.example", "a.example X-A", "a.example X A: 1", "a.example User-Agent: x", "a.example X-A: \u00e9"])
def test_header_rejects_malformed_and_reserved(text: str) -> None:
    with raises_input_error("bad-value"):
        Credentials([text])


def test_cookie_matches_domain_path_scheme_and_time(tmp_path: Path) -> None:
    now = [100.0]
    cookies = cookie_file(
        tmp_path,
        "a.example FALSE / FALSE 0 all 1",
        "#HttpOnly_.a.example TRUE /reefs FALSE 0 below 2",
        "a.example FALSE / TRUE 0 secure 3",
        "a.example FALSE / FALSE 200 expiring 4",
    )
    credentials = Credentials(cookies=cookies, clock=lambda: now[0])
    assert {"Cookie": "all=1; expiring=4"} == credentials.fields("http://a.example/x")
    assert {"Cookie": "all=1; below=2; secure=3; expiring=4"} == credentials.fields("https://a.example/reefs/x")
    assert {"Cookie": "below=2"} == credentials.fields("http://www.a.example/reefs?x")
    assert {} == credentials.fields("http://www.a.example/reefsx")
    assert {} == credentials.fields("http://nota.example/")
    now[0] = 200.0
    assert {"Cookie": "all=1"} == credentials.fields("http://a.example/x")


@pytest.mark.parametrize("row", ["a.example FALSE / FALSE 0 name", "a.example FALSE / FALSE soon name value"])
def test_cookie_file_rejects_malformed_rows(tmp_path: Path, row: str) -> None:
    with raises_input_error("bad-file", match="line 3"):
        Credentials(cookies=cookie_file(tmp_path, row))
