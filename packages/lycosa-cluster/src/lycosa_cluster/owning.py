"""The shard of a node, by its registered domain, so that hosts with shared politeness stay together."""

from __future__ import annotations

from functools import lru_cache

import xxhash

from lycosa.web.urls import is_http, site


class Owners:
    """Rendezvous hashing of nodes: the shard with the largest hash of shard and domain owns a node.

    Adding a shard moves only the domains that it gets.

    >>> owners = Owners(4)
    >>> owners.of("https://www.reef.test/a") == owners.of("http://blog.reef.test/b?c")
    True
    >>> moved = [n for n in range(200) if Owners(5).of(f"http://{n}.test/") != owners.of(f"http://{n}.test/")]
    >>> all(Owners(5).of(f"http://{n}.test/") == 4 for n in moved), 20 < len(moved) < 60
    (True, True)
    """

    def __init__(self, shards: int) -> None:
        self.shards = shards
        self._of: dict[str, int] = {}  # cache by origin, as `of` is called for every link

    def of(self, node: str) -> int:
        """Return the number of the shard that fetches a node."""
        end = node.find("/", 8)  # the same as `origin`
        name = node if end < 0 else node[:end]
        owner = self._of.get(name)
        if owner is not None:
            return owner
        if not is_http(node):
            return _best(node, self.shards)
        if len(self._of) >= 100_000:
            self._of.clear()
        owner = self._of[name] = _best(site(node), self.shards)
        return owner


@lru_cache(maxsize=65_536)
def _best(name: str, shards: int) -> int:
    key = name.encode("utf-8", "surrogatepass")
    return max(range(shards), key=lambda shard: (xxhash.xxh3_64_intdigest(key, seed=shard), shard))
