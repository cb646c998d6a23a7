"""Tests of archive file names."""

import socket
from datetime import UTC, datetime

import pytest

from lycosa.store.naming import file_name, host_name, serial_number


@pytest.mark.parametrize("serial", [1, 99_999, 123_456])
@pytest.mark.parametrize("prefix", ["reefs", "a-20261117151336005-00007-b"])
def test_serial_number_is_that_of_file_name(prefix: str, serial: int) -> None:
    assert serial == serial_number(file_name(prefix, serial))


@pytest.mark.parametrize("name", ["x.warc.gz", "reefs-20261117-00007-host-token.warc.gz", ""])
def test_serial_number_of_foreign_names_is_0(name: str) -> None:
    assert 0 == serial_number(name)


def test_file_name_is_unique_and_sorts_by_time() -> None:
    earlier, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert file_name("a", 9, earlier) < file_name("a", 1, later)
    assert file_name("a", 1, earlier) != file_name("a", 1, earlier)


@pytest.mark.parametrize(
    ("host", "expected"), [("web-1.example.org", "web-1.example.org"), ("a b/../c", "a-b-..-c"), ("☃", "localhost")]
)
def test_host_name_is_safe(monkeypatch: pytest.MonkeyPatch, host: str, expected: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    assert expected == host_name()


def test_host_name_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "a" * 39 + ".example.org")
    assert "a" * 39 == host_name()
