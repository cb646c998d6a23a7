"""Where links stand in their documents: the path of tags to each, as the number of a group of links."""

from __future__ import annotations

import re
from zlib import crc32

from lycosa.strategies.scent.trails import IN_PATHS

PATHS = 1 << 16  # hash buckets, and as many for paths without ids and classes: 1 MB in all
_NAMES = re.compile(r"[.#][^ ]*")


class Paths:
    """Paths to groups: of one host those with the same tags, ids and classes, and behind them those with the same tags.

    >>> paths = Paths()
    >>> item, other = paths.groups("a.test", "ul.menu li a"), paths.groups("a.test", "ul.list li a")
    >>> item[0] == other[0], item[1] == other[1], paths.groups("b.test", "ul.menu li a") == item
    (False, True, False)
    >>> paths.groups("a.test", "")
    (0, 0)
    """

    def __init__(self) -> None:
        self._met: dict[tuple[str, str], tuple[int, int]] = {}

    def groups(self, host: str, path: str) -> tuple[int, int]:
        """The group of a path on the pages of a host, and that of its tags alone; 0 for no path."""
        if not path:
            return 0, 0
        groups = self._met.get((host, path))
        if groups is None:
            if len(self._met) >= 10_000:
                self._met.clear()
            whole, tags = f"{host} {path}", f"{host} {_NAMES.sub('', path)}"
            groups = self._met[host, path] = IN_PATHS + _slot(whole), IN_PATHS + PATHS + _slot(tags)
        return groups


def _slot(text: str) -> int:
    return 1 + crc32(text.encode("utf-8", "replace")) % (PATHS - 1)
