"""Tests of text cleaning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.export.cleaning import clean


@given(st.text(st.characters()))
def test_clean_is_encodable_and_idempotent(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned == clean(cleaned)
    assert not [c for c in cleaned if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 or c in "\ufffe\uffff"]
