"""Passwords and secrets."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa_server.people import credentials
from lycosa_server.people.credentials import Passwords, check_password, derive_secret, digest, new_secret, secrets_equal
from site_maker import CHEAP


def test_hash_is_salted_argon2id() -> None:
    one, other = CHEAP.hash("a long password"), CHEAP.hash("a long password")
    assert (True, False, False) == (one.startswith("$argon2id$"), "a long password" in one, one == other)


def test_passwords_default_to_library_cost() -> None:
    import argon2

    assert not argon2.PasswordHasher().check_needs_rehash(Passwords().hash("a long password"))


def test_verify_hashes_for_unknown_names_too(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_hash_limits_concurrency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "MAX_WAIT_SECONDS", 0.01)
    passwords = Passwords(time_cost=1, memory_cost=8, parallelism=1)
    with ExitStack() as others:
        for _ in range(credentials.MAX_CONCURRENT_HASHES):
            others.enter_context(passwords._slot())
        with pytest.raises(credentials.TooManySignIns):
            passwords.hash("a long password")
    assert passwords.verify(passwords.hash("a long password"), "a long password")


def test_verify_of_damaged_hash_is_false() -> None:
    assert not CHEAP.verify("nonsense", "a long password")


def test_check_password_refuses_short_long_and_unprintable() -> None:
    for password in ("too short", "x" * 201, "Ada Lovelace", "ten letters\0", "ten letters\ud800"):
        with raises_input_error("bad-password"):
            check_password(password, "ada lovelace")
    for password in ("aaaaaaaaaa", "пароль пароль", "x" * 200):
        assert password == check_password(password, "ada")


def test_new_secret_has_256_bits_and_digest_hides_it() -> None:
    one, other = new_secret(), new_secret()
    assert (43, False, 64, False) == (len(one), one == other, len(digest(one)), one in digest(one))


def test_derive_secret_depends_on_secret_and_purpose() -> None:
    made = derive_secret("a", "csrf")
    assert [True, False, False, False] == [
        secrets_equal(made, given)
        for given in (derive_secret("a", "csrf"), derive_secret("b", "csrf"), derive_secret("a", "feed"), "é\ud800")
    ]
