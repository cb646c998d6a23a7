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

# Characters of a password. There are no rules on which: length is what makes guessing hard.
SHORTEST, LONGEST = 10, 200
# Concurrent hashes. Each takes 64 MB, so many simultaneous sign-ins must not use up the memory.
AT_ONCE = 4
PATIENCE = 10.0  # seconds to wait for a free slot


class Busy(LycosaError):
    """Too many concurrent sign-ins."""


class Passwords:
    """Hashes passwords with argon2id, at argon2-cffi's default cost unless `time_cost`, `memory_cost` or `parallelism`
    is given.

    Hashes of another cost still verify, and are `stale`.

    >>> cheap = Passwords(time_cost=1, memory_cost=8, parallelism=1)
    >>> kept = cheap.hash("a long password")
    >>> cheap.fits(kept, "a long password"), cheap.fits(kept, "another password")
    (True, False)
    >>> cheap.stale(kept), Passwords(time_cost=2, memory_cost=8, parallelism=1).stale(kept)
    (False, True)
    """

    def __init__(self, **cost: int) -> None:
        try:
            import argon2
        except ImportError as error:
            raise InputError("accounts need argon2-cffi: install Lycosa with pip install lycosa-server") from error
        self._argon2: Any = argon2
        self._hasher: Any = self._argon2.PasswordHasher(**cost)
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        self._nobody = self.hash(new_secret())

    def hash(self, password: str) -> str:
        with self._turn():
            return str(self._hasher.hash(password))

    def fits(self, kept: str | None, password: str) -> bool:
        """Return True if the password matches. None, for an unknown name, takes the same time."""
        wrong = (self._argon2.exceptions.VerificationError, self._argon2.exceptions.InvalidHashError)
        try:
            with self._turn():
                self._hasher.verify(kept or self._nobody, password)
        except wrong:
            return False
        return kept is not None

    def stale(self, kept: str) -> bool:
        """Return True if the hash was made at another cost."""
        return bool(self._hasher.check_needs_rehash(kept))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=PATIENCE):
            raise Busy("too many people sign in at this moment: try again in some seconds")
        try:
            yield
        finally:
            self._turns.release()


def check_password(password: str, name: str) -> str:
    """Return the password if it is acceptable; raise `InputError` otherwise.

    >>> check_password("secret", "ada")
    Traceback (most recent call last):
    lycosa.core.errors.InputError: the password has 6 characters: choose one of at least 10, such as four or five words
    """
    if not password.isprintable():
        raise InputError("the password has a character that is not text: leave it out")
    if len(password) < SHORTEST:
        raise InputError(
            f"the password has {len(password)} characters: choose one of at least {SHORTEST}, "
            "such as four or five words"
        )
    if len(password) > LONGEST:
        raise InputError(f"the password has {len(password)} characters: {LONGEST} are the most")
    if password.strip().casefold() == name.strip().casefold():
        raise InputError("the password is the name: choose another")
    return password


def new_secret() -> str:
    """Return 256 random bits as URL- and cookie-safe text."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return the digest of a secret, for storage.

    >>> digest("a")[:16]
    'ca978112ca1bbdca'
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def derived(secret: str, purpose: str) -> str:
    """Derive a secret for another purpose; it does not reveal the first."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), purpose.encode(), hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))
