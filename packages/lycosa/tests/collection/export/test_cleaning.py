"""Text of exports is clean: it can be encoded, and has no control characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lycosa.collection.export.cleaning import clean


@given(st.text(st.characters()))
def test_clean_any_text(text: str) -> None:
    """Cleaned text can be encoded, has no control characters but tabs and newlines, and is clean already."""
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned == clean(cleaned)
    assert not [c for c in cleaned if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 or c in "\ufffe\uffff"]
