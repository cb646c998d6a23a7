"""The paper's checksum: the sum of all code points of the page's source, divided by the number of distinct characters.

    Checksum(P) = ASCIISumOfPageContent / DistinctCharacterCount

0 for an empty page. It is the same for any two pages with the same characters in another order, and for many others:
`compare` calls a page unchanged that says the opposite. Kept for comparison with the paper; `digest` is its heir.

We compute with fractions, so that two checksums are equal only if they are. The source is decoded first ("ASCII" is
read as code points): another charset for the same characters is no change. The magnitude is how far the checksums are
apart, as a share of the larger.

Paper: Trivedi et al. 2014, III, Change Detection.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from lycosa.refresh.change import Verdict
from lycosa.refresh.snapshot import Snapshot


def checksum(text: str) -> Fraction:
    """The checksum of a page's source.

    >>> checksum("abba"), checksum("")  # (97 + 98 + 98 + 97) / 2
    (Fraction(195, 1), Fraction(0, 1))
    >>> checksum("not all reefs live") == checksum("all reefs live not")
    True
    """
    counts = Counter(text)
    return Fraction(sum(ord(letter) * n for letter, n in counts.items()), len(counts) or 1)


def compare(old: Snapshot, new: Snapshot) -> Verdict | None:
    """Whether the checksums differ.

    >>> round(compare(Snapshot("a", b"ab"), Snapshot("a", b"aa")).magnitude, 3)  # 97.5 and 194
    0.497
    """
    if not old.body or not new.body:
        return None
    before, after = checksum(old.source), checksum(new.source)
    if before == after:
        return Verdict(False)
    apart = float(abs(before - after) / max(before, after))
    return Verdict(True, "text", apart, f"checksum {float(before):.2f}, now {float(after):.2f}")
