"""Signed requests: HTTP message signatures (RFC 9421) as in Web Bot Auth.

An operator has an *identity*: an Ed25519 key, and the URL of a public key directory. Each request names the authority
it is for, the directory and an expiry time, and is signed:

    Signature-Agent: sig1="https://crawler.example.org"
    Signature-Input: sig1=("@authority" "signature-agent";key="sig1");created=...;expires=...;keyid="...";
                     alg="ed25519";nonce="...";tag="web-bot-auth"
    Signature: sig1=:...:

The directory is a JWK set at `/.well-known/http-message-signatures-directory` of that URL; a key's id is its thumbprint
(RFC 7638, RFC 8037). Drafts: draft-meunier-web-bot-auth-architecture, in the form with a dictionary in Signature-Agent,
and draft-meunier-http-message-signatures-directory.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write, read_input
from lycosa.web.urls import canonical, host_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

WELL_KNOWN = "/.well-known/http-message-signatures-directory"  # path of a site's key directory
MEDIA_TYPE = "application/http-message-signatures-directory+json"
VALID_SECONDS = 60.0  # enough for a slow connection and clock differences
NEW_IDENTITY = "create one with 'lycosa identity FILE --new SITE'"
_LABEL = "sig1"
_AGENT = re.compile(r"https://[\x21\x23-\x5b\x5d-\x7e]{1,500}", re.ASCII)


@dataclass(frozen=True)
class Identity:
    """An Ed25519 private key and the site of its key directory."""

    secret: bytes  # 32 bytes, as in RFC 8032
    agent: str  # site of the key directory

    @classmethod
    def new(cls, agent: str) -> Identity:
        return cls(os.urandom(32), directory_site(agent))

    @classmethod
    def load(cls, path: Path) -> Identity:
        """Read an identity file; it must be readable by its owner only."""
        text = read_input(path, 10_000, "the identity in")
        if path.stat().st_mode & 0o077:
            raise InputError("unsafe-file", f"{path} has a private key that others can read: run 'chmod 600 {path}'")
        try:
            values = json.loads(text)
            secret = base64.urlsafe_b64decode(values["d"] + "=" * (-len(values["d"]) % 4))
            agent = directory_site(values["agent"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError("bad-file", f"{path} is not an identity file: {NEW_IDENTITY}") from error
        if len(secret) != 32 or values.get("crv") != "Ed25519":
            raise InputError("bad-file", f"{path} has no Ed25519 key: {NEW_IDENTITY}")
        return cls(secret, agent)

    def save(self, path: Path) -> None:
        """Write the identity with mode 600; an existing file is never overwritten."""
        if path.exists():
            raise InputError("file-exists", f"{path} exists: identities are not overwritten, choose another file")
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {**self.public, "d": _base64(self.secret), "agent": self.agent}
        with atomic_write(path, 0o600) as file:
            file.write(json.dumps(values, indent=2).encode() + b"\n")

    @property
    def key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # slow import, rarely used

        return Ed25519PrivateKey.from_private_bytes(self.secret)

    @property
    def public(self) -> dict[str, str]:
        return {"kty": "OKP", "crv": "Ed25519", "x": _base64(self.key.public_key().public_bytes_raw())}

    @property
    def id(self) -> str:
        return thumbprint(self.public)

    def directory(self) -> dict[str, Any]:
        """Return the JSON that the site must serve at `WELL_KNOWN`."""
        return {"keys": [{**self.public, "kid": self.id, "use": "sig", "alg": "EdDSA"}]}


class Signer:
    def __init__(self, identity: Identity) -> None:
        self._key, self._id, self._agent = identity.key, identity.id, f'"{identity.agent}"'

    def headers(self, url: str, now: float, nonce: bytes | None = None) -> tuple[tuple[str, str], ...]:
        token = base64.b64encode(os.urandom(32) if nonce is None else nonce).decode()
        parameters = (
            f";created={int(now)};expires={int(now + VALID_SECONDS)};"
            f'keyid="{self._id}";alg="ed25519";nonce="{token}";tag="web-bot-auth"'
        )
        covered = (('"@authority"', host_key(url)), (f'"signature-agent";key="{_LABEL}"', self._agent))
        described, base = signature_base(covered, parameters)
        return (
            ("Signature-Agent", f"{_LABEL}={self._agent}"),
            ("Signature-Input", f"{_LABEL}={described}"),
            ("Signature", f"{_LABEL}=:{base64.b64encode(self._key.sign(base)).decode()}:"),
        )


def signature_base(covered: Iterable[tuple[str, str]], parameters: str) -> tuple[str, bytes]:
    """Return the signature input and the signature base of components and parameters (RFC 9421, section 2.5)."""
    parts = list(covered)
    described = f"({' '.join(name for name, _ in parts)}){parameters}"
    lines = [f"{name}: {value}" for name, value in parts]
    return described, "\n".join([*lines, f'"@signature-params": {described}']).encode("ascii")


def thumbprint(key: dict[str, str]) -> str:
    """Return the thumbprint of a JSON Web Key (RFC 7638), used as its id."""
    needed = {name: key[name] for name in ("crv", "kty", "x")}
    return _base64(hashlib.sha256(json.dumps(needed, separators=(",", ":")).encode()).digest())


def directory_site(text: object) -> str:
    """Validate the site of a key directory, and return it without the trailing slash."""
    url = canonical(text) if isinstance(text, str) else None
    if url is None or not _AGENT.fullmatch(url) or url.count("/") > 3 or not url.endswith("/"):
        raise InputError("bad-url", f"{text!r} is not the URL of a site: give one like https://crawler.example.org")
    return url.rstrip("/")


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
