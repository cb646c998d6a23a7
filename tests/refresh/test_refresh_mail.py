"""Digests by mail, handed in at a small mail server on loopback."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.refresh.change import Change
from lycosa.refresh.ledger import Told
from lycosa.refresh.telling.herald import targets_of
from lycosa.refresh.telling.mail import PASSWORD, Mail, Server, digest, mailbox
from lycosa.refresh.telling.outbox import Answer, Delivery
from lycosa.replay.certificates import Authority
from made_changes import REEF, START, VANISHED, text

TOLD = Told(7, "urn:uuid:7", REEF, START, "Coral reefs", 0.5, text())
DELIVERY = Delivery(
    "urn:uuid:11111111-1111-5111-8111-111111111111",
    "urn:uuid:22222222-2222-5222-8222-222222222222",
    "coral reefs",
    [TOLD, replace(TOLD, seq=8, change=VANISHED)],
    START,
    Counter(changed=1, vanished=1),
)


@dataclass
class Post:
    """A mail server that takes what it is given, and answers as it is told to."""

    login: str = ""
    """What it wants to hear, if it wants a login."""
    answers: dict[str, str] = field(default_factory=dict)
    starttls: ssl.SSLContext | None = None
    said: list[str] = field(default_factory=list)
    mails: list[bytes] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    """Of each command."""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One conversation."""
        try:
            writer.write(b"220 mail.example ESMTP\r\n")
            while line := (await reader.readline()).decode().strip():
                self.said.append(line)
                self.encrypted.append(writer.get_extra_info("sslcontext") is not None)
                verb = line.split()[0].upper()
                writer.write(f"{self.answers.get(verb) or self._answer(verb)}\r\n".encode())
                if verb == "STARTTLS" and self.starttls:
                    await writer.drain()
                    await writer.start_tls(self.starttls)
                if verb == "DATA" and verb not in self.answers:
                    self.mails.append((await reader.readuntil(b"\r\n.\r\n"))[:-5] + b"\r\n")
                    writer.write(f"{self.answers.get('.') or '250 taken'}\r\n".encode())
                if verb == "QUIT":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _answer(self, verb: str) -> str:
        if verb == "EHLO":
            offers = ["mail.example", *(["AUTH PLAIN"] if self.login else []), *(["STARTTLS"] if self.starttls else [])]
            return "\r\n".join(f"250{'-' if offer != offers[-1] else ' '}{offer}" for offer in offers)
        if verb == "AUTH":
            given = base64.b64decode(self.said[-1].split()[2]).decode().replace("\0", ":")[1:]
            return "235 welcome" if given == self.login else "535 wrong"
        return {"DATA": "354 go on", "STARTTLS": "220 ready", "QUIT": "221 bye"}.get(verb, "250 fine")


def send(
    post: Post,
    make: Callable[[int], Server] = lambda port: Server(f"smtp://127.0.0.1:{port}"),
    tls: ssl.SSLContext | None = None,
    delivery: Delivery = DELIVERY,
) -> Answer:
    """Send a digest through a server."""

    async def run() -> Answer:
        server = await asyncio.start_server(post.talk, "127.0.0.1", 0, ssl=tls)
        async with server:
            mail = Mail("Reader <to@example.org>", "from@example.org", make(server.sockets[0].getsockname()[1]))
            return await mail.send(delivery)

    return asyncio.run(run())


def read(mail: bytes) -> EmailMessage:
    found = message_from_bytes(mail, policy=default)
    assert isinstance(found, EmailMessage)
    return found


def test_a_digest_arrives() -> None:
    """One mail, as text and as HTML, from and to whom it should be, and known as made by a machine."""
    post = Post()
    assert Answer(True) == send(post)
    [mail] = [read(mail) for mail in post.mails]
    assert {"MAIL FROM:<from@example.org>", "RCPT TO:<to@example.org>"} == {
        line.replace("mail ", "MAIL ").replace("rcpt ", "RCPT ") for line in post.said if "@" in line
    }
    assert {
        "Subject": "1 changed, 1 vanished: coral reefs",
        "From": "from@example.org",
        "To": "Reader <to@example.org>",
        "Date": "Tue, 14 Nov 2023 22:13:20 +0000",
        "Message-ID": "<11111111-1111-5111-8111-111111111111@example.org>",
        "List-Id": "<22222222-2222-5222-8222-222222222222.lycosa.localhost>",
        "Auto-Submitted": "auto-generated",
    } == {
        name: str(mail[name]) for name in ("Subject", "From", "To", "Date", "Message-ID", "List-Id", "Auto-Submitted")
    }
    plain, html = (part.get_content().replace("\r\n", "\n") for part in mail.iter_parts())
    assert "multipart/alternative" == mail.get_content_type()
    assert f"Coral reefs\n{REEF}\n  Text changed, 25 %.\n  main-text: 12 of 48 words are others\n" in plain
    assert "  Vanished.\n  404 Not Found\n" in plain
    assert f'<a href="{REEF}">Coral reefs</a></b> (text changed, 25 %)' in html


def test_a_digest_that_is_sent_again_is_known() -> None:
    """Another attempt of the same delivery has the same Message-ID."""
    post = Post()
    send(post)
    send(post, delivery=replace(DELIVERY, at=START + 600))
    first, second = (read(mail) for mail in post.mails)
    assert first["Message-ID"] == second["Message-ID"]
    assert first["Date"] != second["Date"]


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r", "\x0b", "\x85", "\u2028", "\0"])
def test_no_title_writes_headers(ending: str) -> None:
    """Whatever a page or a topic is called, it adds no header, no part and no recipient."""
    nasty = f"Reefs{ending}Bcc: all@example.org{ending}{ending}<script>alert(1)</script>"
    delivery = replace(
        DELIVERY,
        title=nasty,
        changes=[replace(TOLD, title=nasty, change=Change("changed", "text", 1.0, [nasty], [nasty]))],
    )
    post = Post()
    assert Answer(True) == send(post, delivery=delivery)
    mail = read(post.mails[0])
    assert None is mail["Bcc"]
    assert 1 == sum(line.upper().startswith("RCPT") for line in post.said)
    assert "1 changed, 1 vanished: Reefs Bcc: all@example.org <script>alert(1)</script>" == str(mail["Subject"]).strip()
    assert "<script>" not in list(mail.iter_parts())[1].get_content()


def test_any_text_can_be_sent() -> None:
    """Halves of characters, other scripts, very long words and lines of a single dot."""
    delivery = replace(
        DELIVERY, title="サンゴ礁 \ud800", changes=[replace(TOLD, title="." * 5_000, url="." * 3_000 + "\ud800")],
        excerpt=lambda told: ".\r\n.\r\n" + "é" * 5_000,
    )  # fmt: skip
    post = Post()
    assert Answer(True) == send(post, delivery=delivery)
    mail = read(post.mails[0])
    assert "1 changed, 1 vanished: サンゴ礁" == mail["Subject"]
    assert max(map(len, post.mails[0].split(b"\r\n"))) <= 998


def test_more_than_a_mail_holds() -> None:
    """What there is no room for is counted, and the way to it told."""
    message = digest(
        replace(DELIVERY, tally=Counter(changed=1_500)), mailbox("a@b.example", ""), mailbox("c@d.example", "")
    )
    assert "1,500 changed: coral reefs" == message["Subject"]
    plain, html = (part.get_content() for part in message.iter_parts())
    assert "And 1,498 more:" in plain
    assert "And 1,498 more:" in html


def test_logging_in() -> None:
    """The user is in the address, the password is not."""
    post = Post(login="reef@example.org:pearl")
    assert Answer(True) == send(post, lambda port: Server(f"smtp://reef%40example.org@127.0.0.1:{port}", "pearl"))
    wrong = send(post, lambda port: Server(f"smtp://reef%40example.org@127.0.0.1:{port}", "shell"))
    assert (False, True) == (wrong.taken, "said 535 wrong" in wrong.says)


def test_tls_from_the_start(tmp_path: Path) -> None:
    """smtps:// encrypts everything, and takes no certificate but one that is vouched for."""
    authority = Authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(next(tmp_path.glob("*.pem"))))
    post = Post(login="me:pearl")
    theirs = authority.context("localhost")
    address = "smtps://me@localhost:{}"
    assert Answer(True) == send(post, lambda port: Server(address.format(port), "pearl", tls=trusting), theirs)
    assert {True} == set(post.encrypted)
    doubtful = Post()
    answer = send(doubtful, lambda port: Server(address.format(port), "pearl"), theirs)
    assert (False, []) == (answer.taken, doubtful.said)
    assert "certificate" in answer.says.lower()


def test_starttls(tmp_path: Path) -> None:
    """smtp:// turns to encryption where it is offered, before the password and the mail."""
    authority = Authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(next(tmp_path.glob("*.pem"))))
    post = Post(login="me:pearl", starttls=authority.context("localhost"))
    assert Answer(True) == send(post, lambda port: Server(f"smtp://me@localhost:{port}", "pearl", tls=trusting))
    clear = [
        line.split()[0].upper() for line, encrypted in zip(post.said, post.encrypted, strict=True) if not encrypted
    ]
    assert ["EHLO", "STARTTLS"] == clear


def test_no_password_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server elsewhere that offers no encryption gets no password."""
    monkeypatch.setattr("lycosa.refresh.telling.mail._on_this_machine", lambda name: False)
    post = Post(login="me:pearl")
    answer = send(post, lambda port: Server(f"smtp://me@127.0.0.1:{port}", "pearl"))
    assert (False, True) == (answer.taken, "no password is sent" in answer.says)
    assert [] == [line for line in post.said if line.upper().startswith("AUTH")]


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"RCPT": "550 no such reader"}, "refused the recipient: 550 no such reader"),
        ({"MAIL": "451 later"}, "451 later"),
        ({"DATA": "554 no"}, "said 554 no"),
        ({".": "452 full"}, "said 452 full"),
        ({"EHLO": "421 closing", "HELO": "421 closing"}, "421 closing"),
    ],
)
def test_refusals(answers: dict[str, str], says: str) -> None:
    """Whatever the server does not like is told in its own words, and tried again."""
    answer = send(Post(answers=answers))
    assert (False, False, True) == (answer.taken, answer.stop, says in answer.says), answer


def test_a_mail_that_was_taken_is_taken() -> None:
    """A server that hangs up without a farewell has the mail nevertheless."""
    assert Answer(True) == send(Post(answers={"QUIT": "500 what?"}))


def test_no_server() -> None:
    """Nobody listens: an answer like others."""
    mail = Mail("a@b.example", "", Server("smtp://127.0.0.1:1"))
    answer = asyncio.run(mail.send(DELIVERY))
    assert Answer(False, "smtp://127.0.0.1:1: Connection refused") == answer


def test_a_server_that_says_nothing() -> None:
    """It is given up after a while."""

    async def run() -> Answer:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await Mail("a@b.example", "", Server(f"smtp://127.0.0.1:{port}", seconds=0.1)).send(DELIVERY)

    answer = asyncio.run(run())
    assert (False, True) == (answer.taken, "timed out" in answer.says or "takes longer" in answer.says)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("smtp://me:pass@mail.example", PASSWORD),
        ("smtp://me@mail.example", PASSWORD),
        ("http://mail.example", "write it like"),
        ("mail.example:25", "write it like"),
        ("smtp://mail.example:port", "write it like"),
        ("smtp://mail.example/box", "write it like"),
    ],
)
def test_wrong_servers(address: str, why: str) -> None:
    """What is wrong is said, without repeating a password."""
    with pytest.raises(InputError, match=why) as caught:
        Server(address)
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize(
    "given", ["", "reader", "a@b.example\nBcc: c@d.example", "a@b.example, c@d.example", "@b", "a@"]
)
def test_wrong_recipients(given: str) -> None:
    """One address each, and nothing but that."""
    with pytest.raises(InputError, match="is not a mail address"):
        mailbox(given, "--mail-to")


def test_mail_needs_a_server() -> None:
    """A recipient without a server is refused; with one, each recipient is a target, once."""
    with pytest.raises(InputError, match="--smtp"):
        targets_of(Options(mail_to=["a@b.example"]), {})
    recipients = ["a@b.example", "c@d.example", "a@b.example"]
    made = targets_of(Options(mail_to=recipients, smtp="smtp://127.0.0.1", digest_every="12h"), {})
    assert [("mail to a@b.example", 43_200.0), ("mail to c@d.example", 43_200.0)] == [
        (target.name, target.every) for target in made
    ]
