"""Passwords and secrets: creation, storage and comparison.

Passwords are stored as argon2id hashes, all other secrets (256 random bits) as SHA-256 digests: a stolen database does
not let anyone sign in.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lycosa.core.errors import InputError, LycosaError

# Limits of a password's length; there are no rules on its characters, because length is what makes guessing hard.
MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 10, 200
# Maximum concurrent hashes, so that many simultaneous sign-ins do not use up the memory: each takes 64 MB.
MAX_CONCURRENT_HASHES = 4
MAX_WAIT_SECONDS = 10.0  # maximum wait for a free slot


class TooManySignIns(LycosaError):
    pass


class Passwords:
    """Argon2id hashes, at argon2-cffi's default cost unless `time_cost`, `memory_cost` or `parallelism` is given.

    Hashes of another cost still verify; `needs_rehash` returns true for them.
    """

    def __init__(self, **cost: int) -> None:
        try:
            import argon2
        except ImportError as error:
            raise InputError("missing-package", "argon2-cffi is missing: pip install lycosa-server") from error
        self._argon2: Any = argon2
        self._hasher: Any = self._argon2.PasswordHasher(**cost)
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT_HASHES)
        self._dummy_hash = self.hash(new_secret())

    def hash(self, password: str) -> str:
        with self._slot():
            return str(self._hasher.hash(password))

    def verify(self, kept: str | None, password: str) -> bool:
        """Return True if the password matches. None, for an unknown name, takes the same time."""
        wrong = (self._argon2.exceptions.VerificationError, self._argon2.exceptions.InvalidHashError)
        try:
            with self._slot():
                self._hasher.verify(kept or self._dummy_hash, password)
        except wrong:
            return False
        return kept is not None

    def needs_rehash(self, kept: str) -> bool:
        return bool(self._hasher.check_needs_rehash(kept))

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=MAX_WAIT_SECONDS):
            raise TooManySignIns("too many people are signing in: try again in a few seconds")
        try:
            yield
        finally:
            self._slots.release()


def check_password(password: str, name: str) -> str:
    if not password.isprintable():
        raise InputError("bad-password", "the password contains a character that is not printable: remove it")
    if len(password) < MIN_PASSWORD_LENGTH:
        raise InputError("bad-password", f"the password is too short: choose at least {MIN_PASSWORD_LENGTH} characters")
    if len(password) > MAX_PASSWORD_LENGTH:
        raise InputError("bad-password", f"the password is too long: the maximum is {MAX_PASSWORD_LENGTH} characters")
    if password.strip().casefold() == name.strip().casefold():
        raise InputError("bad-password", "the password is the name: choose another")
    return password


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def derive_secret(secret: str, purpose: str) -> str:
    return hmac.new(secret.encode("utf-8", "surrogatepass"), purpose.encode(), hashlib.sha256).hexdigest()


def secrets_equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))
