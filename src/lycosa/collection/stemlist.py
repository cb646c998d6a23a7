"""The words of a crawl by number, in little memory: a crawl of ten thousand pages has some hundred thousand."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence


class StemList:
    """Words in the order in which the log met them, as text without separate objects.

    >>> words = StemList()
    >>> words.extend(["coral", "reef"]); words.extend(["polyp"])
    >>> words[2], words.find({"reef", "sea"}), len(words)
    ('polyp', {'reef': 1}, 3)
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._firsts = array("q")
        self._count = 0
        self.size = 0
        """Bytes."""

    def __len__(self) -> int:
        return self._count

    def extend(self, stems: Sequence[str]) -> None:
        """The words that a visit was the first to use."""
        if not stems:
            return
        piece = "\n".join(stems).encode("utf-8", "surrogatepass")
        self._pieces.append(piece)
        self._firsts.append(self._count)
        self._count += len(stems)
        self.size += len(piece) + 49

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < self._count:
            raise IndexError(number)
        at = bisect_right(self._firsts, number) - 1
        return self._words(at)[number - self._firsts[at]]

    def find(self, wanted: Container[str]) -> dict[str, int]:
        """The numbers of some words, of those that are known: a pass over all, 10 ms for a hundred thousand."""
        return {word: number for number, word in enumerate(self) if word in wanted}

    def __iter__(self) -> Iterator[str]:
        for at in range(len(self._pieces)):
            yield from self._words(at)

    def _words(self, at: int) -> list[str]:
        return self._pieces[at].decode("utf-8", "surrogatepass").split("\n")
