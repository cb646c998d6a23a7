"""Messages to the operator: what is sent, and what is retried."""

from __future__ import annotations

import pytest

from lycosa.revisit.notify import Channel
from lycosa.testweb.simulation import run_virtual
from lycosa_server.crawler.operator import OperatorNotifier


def test_operator_messages_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was added goes into one message; what failed becomes part of the next; nothing is sent twice."""
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
