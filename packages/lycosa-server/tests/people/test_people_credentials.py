"""Passwords and secrets."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa_server.people import credentials
from lycosa_server.people.credentials import Passwords, check_password, derive_secret, digest, new_secret, secrets_equal
from site_maker import CHEAP


def test_a_password_is_kept_as_argon2id_and_not_readable() -> None:
    """What is kept names the method and does not have the password in it; two hashes of one password differ."""
    one, other = CHEAP.hash("a long password"), CHEAP.hash("a long password")
    assert (True, False, False) == (one.startswith("$argon2id$"), "a long password" in one, one == other)


def test_the_default_cost_is_the_librarys() -> None:
    """Without an argument passwords cost what argon2-cffi recommends."""
    import argon2

    assert not argon2.PasswordHasher().check_needs_rehash(Passwords().hash("a long password"))


def test_for_a_name_that_nobody_has_a_hash_is_computed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time taken cannot tell whether there is such a person: the verifier works once in either case."""
    passwords = Passwords(time_cost=1, memory_cost=8, parallelism=1)
    work: list[str] = []

    class Counting:
        def verify(self, kept: str, password: str) -> bool:
            work.append(kept.split("$")[3])
            return bool(CHEAP._hasher.verify(kept, password))

    kept: Any = passwords.hash("a long password")
    monkeypatch.setattr(passwords, "_hasher", Counting())
    answers = [passwords.verify(given, password) for given in (kept, None) for password in ("a long password", "no")]
    assert ([True, False, False, False], ["m=8,t=1,p=1"] * 4) == (answers, work)


def test_only_some_hashes_are_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits in vain is told to come again."""
    monkeypatch.setattr(credentials, "PATIENCE", 0.01)
    passwords = Passwords(time_cost=1, memory_cost=8, parallelism=1)
    with ExitStack() as others:
        for _ in range(credentials.MAX_CONCURRENT_HASHES):
            others.enter_context(passwords._turn())
        with pytest.raises(credentials.TooManySignIns):
            passwords.hash("a long password")
    assert passwords.verify(passwords.hash("a long password"), "a long password")


def test_a_damaged_hash_fits_nothing() -> None:
    """What is no hash at all is a wrong password, not an error."""
    assert not CHEAP.verify("nonsense", "a long password")


def test_passwords_that_are_refused() -> None:
    """Too short, too long, the name itself, or characters that are no text; length is all else that is asked for."""
    for password in ("too short", "x" * 201, "Ada Lovelace", "ten letters\0", "ten letters\ud800"):
        with pytest.raises(InputError):
            check_password(password, "ada lovelace")
    for password in ("aaaaaaaaaa", "пароль пароль", "x" * 200):
        assert password == check_password(password, "ada")


def test_secrets_have_256_bits_and_are_kept_as_digests() -> None:
    """Two are never the same, and a digest is not the secret."""
    one, other = new_secret(), new_secret()
    assert (43, False, 64, False) == (len(one), one == other, len(digest(one)), one in digest(one))


def test_a_derived_secret_depends_on_the_secret_and_the_purpose() -> None:
    """And is compared whatever characters are given."""
    made = derive_secret("a", "csrf")
    assert [True, False, False, False] == [
        secrets_equal(made, given)
        for given in (derive_secret("a", "csrf"), derive_secret("b", "csrf"), derive_secret("a", "feed"), "é\ud800")
    ]
