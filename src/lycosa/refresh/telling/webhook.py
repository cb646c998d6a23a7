"""Changes as POST requests, signed.

The body is JSON: `id` of the delivery, `crawl`, `title`, and up to a hundred `changes`, in the order of the log. The
header `Lycosa-Delivery` repeats the id, which stays the same however often a delivery has to be sent: who has had it
answers 2xx and drops it. `Lycosa-Signature: t=UNIX,v1=HEX` is the HMAC-SHA256 of `t.body` by a secret that both sides
know; `verify` checks one, and needs nothing but the standard library.

    2xx             taken
    410             no more, please: the target is left alone
    429, 503        later; Retry-After says when
    anything else   later: a redirect is not followed, it would take the changes to someone whom nobody named
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping

import aiohttp
from yarl import URL

from lycosa.core.errors import InputError
from lycosa.refresh.ledger import facts, plain
from lycosa.refresh.telling.outbox import Answer, Delivery, key_of
from lycosa.version import SOFTWARE
from lycosa.web.dates import retry_after

SECRET = "LYCOSA_WEBHOOK_SECRET"
"""The environment variable with the secret that deliveries are signed with."""

TOLERANCE = 300.0
"""Seconds that the clocks of both sides may differ by, and an attempt may take."""

_READ = 2_048  # bytes of an answer: a word on why is all that anyone will read


def sign(secret: str, body: bytes, at: float) -> str:
    """The signature of a body, as the header has it.

    >>> sign("reef", b"{}", 1_700_000_000)[:30]
    't=1700000000,v1=56c7d7813fc460'
    """
    moment = str(int(at))
    return f"t={moment},v1={_hmac(secret, moment, body)}"


def verify(secret: str, header: str, body: bytes, now: float, tolerance: float = TOLERANCE) -> bool:
    """Whether a signature is of this body, by this secret, and from about now: for those who receive.

    >>> header = sign("reef", b"{}", 1_700_000_000)
    >>> verify("reef", header, b"{}", 1_700_000_100), verify("reef", header, b"[]", 1_700_000_100)
    (True, False)
    """
    parts = [part.strip().partition("=") for part in header.split(",")]
    moment = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch(r"[0-9]{1,15}", moment) or abs(now - int(moment)) > tolerance:
        return False
    expected = _hmac(secret, moment, body).encode()
    given = [value.encode("utf-8", "replace") for name, _, value in parts if name == "v1"]
    return any(hmac.compare_digest(expected, value) for value in given)


def _hmac(secret: str, moment: str, body: bytes) -> str:
    return hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()


def masked(address: str) -> str:
    """A target's address as it may be shown: path and query are often as secret as a password.

    >>> masked("https://me:pass@hooks.example:8443/services/T0/secret?key=1")
    'https://hooks.example:8443/...'
    """
    url = URL(address)
    port = "" if url.is_default_port() or url.port is None else f":{url.port}"
    rest = "/..." if url.path not in ("", "/") or url.query_string else "/"
    return f"{url.scheme}://{url.host_subcomponent}{port}{rest}"


def body_of(delivery: Delivery) -> bytes:
    """What is posted: the same bytes at each attempt."""
    changes = []
    for item in delivery.changes:
        excerpt = plain(delivery.excerpt(item), 1_000)
        changes.append({**facts(item), **({"excerpt": excerpt} if excerpt else {})})
    about = {"id": delivery.id, "crawl": delivery.crawl, "title": plain(delivery.title), "changes": changes}
    return json.dumps(about).encode()


class Webhook:
    """A target that is posted to. The operator named it, so it may be anywhere, this machine included."""

    def __init__(self, address: str, secret: str = "", *, seconds: float = 30.0) -> None:
        try:
            url = URL(address.strip())
            known = url.scheme in ("http", "https") and bool(url.host) and bool(url.port)
        except ValueError:
            known = False
        if not known:
            # Not repeated here: it may have a password in it.
            raise InputError("--webhook: not an address to post to; write it like https://example.org/hook")
        if not secret:
            raise InputError(
                f"--webhook {masked(str(url))}: set {SECRET} in the environment to a secret that the target knows, too"
            )
        self.name = f"webhook {masked(str(url))}"
        self.key = key_of("webhook", str(url.with_user(None).with_fragment(None)))  # a new password, the same target
        self.most = 100
        self.every = 0.0
        self._url, self._secret, self._seconds = url.with_fragment(None), secret, seconds

    async def send(self, delivery: Delivery) -> Answer:
        """POST a delivery; whatever comes of it is an answer."""
        body = body_of(delivery)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": SOFTWARE,
            "Lycosa-Delivery": delivery.id,
            "Lycosa-Signature": sign(self._secret, body, delivery.at),
        }
        try:
            # A connection for each: they are few and far between, and one that was kept may be dead by then.
            async with (
                aiohttp.ClientSession(
                    cookie_jar=aiohttp.DummyCookieJar(),
                    timeout=aiohttp.ClientTimeout(total=self._seconds),
                    auto_decompress=False,
                    trust_env=False,
                ) as session,
                session.post(self._url, data=body, headers=headers, allow_redirects=False) as answer,
            ):
                said = b""
                if answer.status >= 300:
                    said = await _some(answer)
                answer.close()
                return judged(answer.status, answer.headers, said, delivery.at)
        except TimeoutError:
            return Answer(False, f"no answer within {self._seconds:.0f} s")
        except aiohttp.ClientConnectorCertificateError:
            return Answer(False, "its certificate is not to be trusted")
        except aiohttp.ClientConnectorError as error:
            return Answer(False, f"cannot connect: {plain(error.os_error.strerror or 'no such host', 100)}")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Answer(False, f"the connection failed ({type(error).__name__})")  # its text may have the address


async def _some(answer: aiohttp.ClientResponse) -> bytes:
    """The beginning of what an answer says, if that can be read."""
    try:
        return await answer.content.read(_READ)
    except (aiohttp.ClientError, OSError):
        return b""


def judged(status: int, headers: Mapping[str, str], said: bytes, now: float) -> Answer:
    """What an answer means.

    >>> judged(204, {}, b"", 0.0).taken, judged(410, {}, b"", 0.0).stop, judged(503, {"Retry-After": "90"}, b"", 0.0)
    (True, True, Answer(taken=False, says='503', wait=90.0, stop=False))
    """
    if 200 <= status < 300:
        return Answer(True, str(status))
    says = f"{status} {plain(said.decode('utf-8', 'replace'), 100)}".strip()
    if 300 <= status < 400:
        says = f"{status}: it has moved, and redirects are not followed; name its new address"
    wait = retry_after(headers.get("Retry-After", ""), now) if status in (429, 503) else 0.0
    return Answer(False, says, wait, stop=status == 410)
