"""What is new as an e-mail, by SMTP: one digest for what has come since the last, once a day or so.

A digest that may have got through is sent again under the same Message-ID, by which mail programs know it. What pages
say never reaches a header but as one line of text, and never the HTML part but escaped.
"""

from __future__ import annotations

import asyncio
import ipaddress
import smtplib
import ssl
from contextlib import suppress
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape
from urllib.parse import unquote, urlsplit

from lycosa.core.errors import InputError
from lycosa.refresh.ledger import Told, counts, day_and_time, label, name, plain, story
from lycosa.refresh.telling.outbox import Answer, Delivery, key_of
from lycosa.web.urls import is_http

PASSWORD = "LYCOSA_SMTP_PASSWORD"
"""The environment variable with the password for the mail server."""

DAY = 86_400.0

PORTS = {"smtp": 587, "smtps": 465}


class Server:
    """Where mail is handed in: `smtp://user@host:587` (with STARTTLS, where it is offered), `smtps://user@host`."""

    def __init__(
        self, address: str, password: str = "", *, tls: ssl.SSLContext | None = None, seconds: float = 30.0
    ) -> None:
        try:
            parts = urlsplit(address.strip())
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.password is not None:
            raise InputError(f"--smtp: no password in the address, please: set {PASSWORD} in the environment")
        if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
            raise InputError("--smtp: not a mail server; write it like smtp://user@mail.example.org:587")
        self.host, self.port = parts.hostname, port or PORTS[parts.scheme]
        self.encrypted = parts.scheme == "smtps"
        self.user, self.password = unquote(parts.username or ""), password
        if self.user and not password:
            raise InputError(f"--smtp {self}: set {PASSWORD} in the environment to the password of {self.user}")
        self.seconds = seconds
        self._tls = tls

    def __str__(self) -> str:
        return f"{'smtps' if self.encrypted else 'smtp'}://{self.host}:{self.port}"

    async def hand_in(self, message: EmailMessage) -> Answer:
        """Hand a mail in, without the crawl waiting for it; whatever comes of that is an answer."""
        connections: list[smtplib.SMTP] = []
        try:
            async with asyncio.timeout(4 * self.seconds):
                return await asyncio.to_thread(self._hand_in, message, connections)
        except TimeoutError:
            return Answer(False, f"{self} takes longer than {4 * self.seconds:.0f} s")
        finally:
            for connection in connections:  # a thread can't be cancelled, but it ends with its connection
                connection.close()

    def _hand_in(self, message: EmailMessage, connections: list[smtplib.SMTP]) -> Answer:
        refused: dict[str, tuple[int, bytes]] = {}
        try:
            connection = self._connected()
            connections.append(connection)
            refused = self._talk(connection, message)
            with suppress(smtplib.SMTPException, OSError):
                connection.quit()  # however that goes, the mail is theirs
        except smtplib.SMTPResponseException as error:
            said = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else ""
            return Answer(False, f"{self} said {error.smtp_code} {plain(said, 100)}".strip())
        except smtplib.SMTPRecipientsRefused as error:
            refused = dict(error.recipients)
        except smtplib.SMTPException as error:
            return Answer(False, f"{self}: {plain(str(error), 100) or type(error).__name__}")
        except (OSError, ValueError, AttributeError) as error:  # the last: closed under its hands
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            return Answer(False, f"{self}: {plain(str(why), 100)}")
        for code, reason in refused.values():
            why = plain(reason.decode("utf-8", "replace"), 100)
            return Answer(False, f"{self} refused the recipient: {code} {why}")
        return Answer(True)

    def _connected(self) -> smtplib.SMTP:
        if self.encrypted:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=self.seconds, context=self._context())
        return smtplib.SMTP(self.host, self.port, timeout=self.seconds)

    def _talk(self, connection: smtplib.SMTP, message: EmailMessage) -> dict[str, tuple[int, bytes]]:
        connection.ehlo_or_helo_if_needed()
        if not self.encrypted and connection.has_extn("starttls"):
            connection.starttls(context=self._context())
            connection.ehlo_or_helo_if_needed()
        elif self.user and not self.encrypted and not _on_this_machine(self.host):
            raise smtplib.SMTPException("no encryption is offered, so no password is sent: use smtps://?")
        if self.user:
            connection.login(self.user, self.password)
        return connection.send_message(message)

    def _context(self) -> ssl.SSLContext:
        return self._tls or ssl.create_default_context()


def _on_this_machine(name: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(name).is_loopback
    return name == "localhost"


def mailbox(given: str, option: str) -> Address:
    """A mail address as a person gave it.

    >>> str(mailbox("Reef Watch <reef@example.org>", "--mail-to"))
    'Reef Watch <reef@example.org>'
    """
    message = EmailMessage(SMTP)
    try:
        message["To"] = given.strip()
        [address] = message["To"].addresses
        if message["To"].defects or not address.username or not address.domain or not given.isprintable():
            raise ValueError(given)
    except (ValueError, IndexError, MessageError):
        raise InputError(f"{option} {plain(given)!r} is not a mail address: write it like name@example.org") from None
    checked: Address = address
    return checked


class Mail:
    """A target that gets a digest: one for each recipient, so that one who can't be reached keeps nobody waiting."""

    def __init__(self, to: str, sender: str, server: Server, *, every: float = DAY, most: int = 300) -> None:
        self.to, self.sender = mailbox(to, "--mail-to"), mailbox(sender or to, "--mail-from")
        self.server = server
        self.name = f"mail to {self.to.addr_spec}"
        self.key = key_of("mail", self.to.addr_spec)
        self.every, self.most = every, most

    async def send(self, delivery: Delivery) -> Answer:
        """Send a digest."""
        return await self.server.hand_in(digest(delivery, self.to, self.sender))


def digest(delivery: Delivery, to: Address, sender: Address) -> EmailMessage:
    """The mail that tells of some changes."""
    title = plain(delivery.title, 100)
    message = EmailMessage(SMTP)
    message["Subject"] = plain(f"{counts(delivery.tally)}: {title}" if title else counts(delivery.tally), 200)
    message["From"], message["To"] = sender, to
    message["Date"] = format_datetime(datetime.fromtimestamp(int(delivery.at), UTC))
    message["Message-ID"] = f"<{delivery.id.removeprefix('urn:uuid:')}@{_domain(sender)}>"
    message["List-Id"] = f"<{delivery.crawl.removeprefix('urn:uuid:')}.lycosa.localhost>"
    message["Auto-Submitted"] = "auto-generated"
    message["Precedence"] = "bulk"
    message["X-Auto-Response-Suppress"] = "All"
    message.set_content(_text(delivery, title))
    message.add_alternative(_html(delivery, title), subtype="html")
    return message


def _domain(sender: Address) -> str:
    try:
        return sender.domain.encode("idna").decode()
    except UnicodeError:
        return "lycosa.localhost"


def _more(delivery: Delivery) -> str:
    missing = delivery.tally.total() - len(delivery.changes)
    return f"And {missing:,} more: 'lycosa changes' in the crawl's directory lists them all." if missing > 0 else ""


def _text(delivery: Delivery, title: str) -> str:
    blocks = [f"{title}: {counts(delivery.tally)}" if title else counts(delivery.tally)]
    for item in delivery.changes:
        lines = [name(item), plain(item.url, 2_000), *_story(delivery, item), f"Seen {day_and_time(item.at)}."]
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, *filter(None, [_more(delivery)])]) + "\n"


def _story(delivery: Delivery, item: Told) -> list[str]:
    return [f"  {line}" for line in story(item, delivery.excerpt(item)).split("\n")]


def _html(delivery: Delivery, title: str) -> str:
    items = []
    for item in delivery.changes:
        url, called = escape(plain(item.url, 2_000)), escape(name(item))
        linked = f'<a href="{url}">{called}</a>' if is_http(item.url) else called
        lines = "<br>".join(escape(line.strip()) for line in _story(delivery, item)[1:])
        items.append(
            f"<li style='margin-bottom: .8em'><b>{linked}</b> ({escape(label(item.change))})<br>"
            f"{lines}{'<br>' if lines else ''}<small>{escape(day_and_time(item.at))}</small></li>"
        )
    more = f"<p>{escape(_more(delivery))}</p>" if _more(delivery) else ""
    return (
        "<!DOCTYPE html><html><head><meta charset='utf-8'></head><body>"
        f"<h1 style='font-size: 1.2em'>{escape(title or 'Changes')}: {escape(counts(delivery.tally))}</h1>"
        f"<ul>{''.join(items)}</ul>{more}</body></html>\n"
    )
