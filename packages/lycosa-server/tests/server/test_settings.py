"""Settings of a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa_server.settings import Settings


def test_settings_are_passed_by_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = Settings(tmp_path, "postgresql://me:hush@h/d", allow_network=("10.0.0.0/8",), delay=0.5)
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)
    assert settings == Settings.from_environment()


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"allow_network": ("everything",)}, "bad-value"),
        ({"trusted_proxies": ("proxy.example",)}, "bad-value"),
        ({"url": "lycosa.example"}, "bad-url"),
        ({"crawls": 0}, "out-of-range"),
        ({"delay": float("nan")}, "out-of-range"),
        ({"render": "always"}, "bad-value"),
        ({"contact": "a@b.example\x00"}, "bad-value"),
    ],
)
def test_check_refuses_invalid_values(tmp_path: Path, given: dict[str, Any], code: str) -> None:
    with raises_input_error(code):
        Settings(tmp_path, **given).check()


def test_crawl_directory_refuses_paths(tmp_path: Path) -> None:
    assert tmp_path / "crawls" / "abc" == Settings(tmp_path).crawl_directory("abc")
    for text in ("../abc", "a/b", "", "."):
        with raises_input_error("bad-id"):
            Settings(tmp_path).crawl_directory(text)
        with raises_input_error("bad-id"):
            Settings(tmp_path).model_file(text)


def test_proxies_include_mapped_ipv4_networks(tmp_path: Path) -> None:
    settings = Settings(tmp_path, trusted_proxies=("10.0.0.0/8", "::1"))
    assert ["10.0.0.0/8", "::1/128", "::ffff:10.0.0.0/104"] == settings.proxies
