"""Notifications for the operator."""

from __future__ import annotations

import pytest

from lycosa.revisit.notify import Channel
from lycosa.testweb.simulation import run_virtual
from lycosa_server.crawler.operator import OperatorNotifier


def test_send_retries_failed_lines_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    answers = ["down", "", ""]

    async def send(self: Channel, title: str, body: str) -> str:
        sent.append(body)
        return answers.pop(0)

    monkeypatch.setattr(Channel, "send", send)
    messages = OperatorNotifier(["json://127.0.0.1:1"])
    for lines in (["a", "b"], ["c"], [], ["d"]):
        for line in lines:
            messages.add(line)
        run_virtual(messages.send())
    assert ["a\nb", "a\nb\nc", "d"] == sent
