"""Any difference at all, by SHA-256 of the inflated body: a server that compresses otherwise has changed nothing.

It finds every change, and takes every counter for one. It cannot tell how much differs: the magnitude is 1.
"""

from __future__ import annotations

from hashlib import sha256

from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot


def compare(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Whether the bodies are the same, byte by byte.

    >>> compare(Snapshot("a", b"coral"), Snapshot("a", b"reefs")).says
    'sha256 f39fd907, now b4eba69b'
    """
    if not old.body or not new.body:
        return None
    before, after = sha256(old.body).hexdigest(), sha256(new.body).hexdigest()
    if before == after:
        return Verdict(False)
    return Verdict(True, "text", 1.0, f"sha256 {before[:8]}, now {after[:8]}")
