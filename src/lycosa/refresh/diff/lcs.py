"""The longest common subsequence of two short sequences, exactly, many cells at a time.

With `L[i, j]` the length for the first i of `a` and the first j of `b`, a column of the table rises by 0 or 1 from each
cell to the next. So a column is one whole number with a bit for each i, set where it does not rise, and the next
column follows from it by an addition (U are the places of b's j-th element in a, among the set bits of V):

    U = V & M[b_j],    V' = (V + U) | (V - U)

Python adds numbers of thousands of bits in a fraction of a microsecond. All columns are kept to walk back.

Paper: Crochemore et al. 2001 (A fast and practical bit-vector algorithm for the longest common subsequence problem),
in Hyyrö's form (2004, Bit-parallel LCS-length computation revisited).
"""

from __future__ import annotations

from collections.abc import Sequence


def common(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence in both, ascending.

    Takes len(a) * len(b) bits; the loop runs over the shorter one.

    >>> common([1, 2, 3, 4], [2, 9, 4])
    [(1, 0), (3, 2)]
    """
    if len(b) > len(a):
        return [(i, j) for j, i in common(b, a)]
    wanted = set(b)
    kept_a = [i for i, value in enumerate(a) if value in wanted]
    masks: dict[int, int] = {}
    for bit, i in enumerate(kept_a):
        masks[a[i]] = masks.get(a[i], 0) | (1 << bit)
    kept_b = [j for j, value in enumerate(b) if value in masks]
    full = (1 << len(kept_a)) - 1
    column = full
    columns = [column]
    for j in kept_b:
        rising = column & masks[b[j]]
        column = ((column + rising) | (column - rising)) & full
        columns.append(column)
    found = []
    left = len(kept_a)
    for at in range(len(kept_b), 0, -1):
        # The last place so far where the column rises; a match, unless the column before rises there, too.
        left = ((columns[at] ^ full) & ((1 << left) - 1)).bit_length()
        if not left:
            break
        if columns[at - 1] >> (left - 1) & 1:
            left -= 1
            found.append((kept_a[left], kept_b[at - 1]))
    found.reverse()
    return found
