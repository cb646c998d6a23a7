"""Contact address for site operators."""

import io
import sys
from pathlib import Path

import pytest

from input_errors import raises_input_error
from lycosa.cli.contact import NOTE, with_contact
from lycosa.core.options import Options


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_contact_is_requested_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    notes: list[str] = []
    far = Options(seeds=["https://example.org/"])
    for near in (
        Options(seeds=["http://reefs.localhost:8123/", "http://127.0.0.1/", "http://10.1.2.3/"]),
        Options(seeds=["https://example.org/"], proxy="http://127.0.0.1:1"),
        Options(seeds=["https://example.org/"], contact="me@example.org"),
        Options(seeds=["https://example.org/"], user_agent="Mine/1"),
        Options(space="graph,file=x", seeds=["a"]),
    ):
        assert with_contact(near, notes) == near
    assert notes == []
    assert with_contact(far, notes).contact == ""
    assert notes == [NOTE]
    assert with_contact(far, [], quiet=True) == far
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdin", Terminal("bücher\n"))
    with raises_input_error("bad-user-agent", "plain ASCII"):
        with_contact(far, notes)
    monkeypatch.setattr(sys, "stdin", Terminal("mailto:me@example.org\n"))
    assert with_contact(far, notes).contact == "mailto:me@example.org"
    monkeypatch.setattr(sys, "stdin", Terminal("somebody else\n"))
    assert with_contact(far, notes).contact == "mailto:me@example.org"
