"""Fingerprints of the text (text/fingerprint.py): pages that differ in a few words differ in few of 64 bits.

Up to NEAR bits are what a new date or a sentence does; more is another text. Cheap, as the log keeps the fingerprints,
and no archive is needed; small changes escape it. Texts without anything in common differ in 32 bits on average, so
the magnitude is distance / 32, and 1 from there on.
"""

from __future__ import annotations

from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot
from lycosa.text.fingerprint import NEAR, distance


def compare(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Whether the fingerprints are far apart.

    >>> compare(Snapshot("a", simhash=0b1111), Snapshot("a", simhash=0b11110000))
    Verdict(changed=True, kind='text', magnitude=0.25, says='8 of 64 bits of the fingerprint')
    """
    if old.simhash and new.simhash:
        before, after = old.simhash, new.simhash
    elif old.text and new.text:  # one formula for both: a stored one may go by another language's stems
        before, after = old.text_print, new.text_print
    else:
        before, after = old.simhash or old.text_print, new.simhash or new.text_print
        if not before or not after:
            return None
    apart = distance(before, after)
    says = f"{apart} of 64 bits of the fingerprint" if apart else ""
    return Verdict(apart > NEAR, "text" if apart > NEAR else "cosmetic", min(1.0, apart / 32), says)
