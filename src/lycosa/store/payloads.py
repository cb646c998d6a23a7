"""Which record of an archive has a payload: an array for each column, as a large crawl has hundreds of thousands."""

from __future__ import annotations

import numpy as np

from lycosa.core.columns import fit
from lycosa.core.nodes import Fingerprints, Nodes
from lycosa.core.state import State, Untold

DIGEST = 32
"""Bytes of a digest: SHA-256."""


class Payloads:
    """The address and the moment of the first record with a payload, by its digest.

    >>> some = Payloads(); some.add(b"1" * 32, "http://a.test/", 5.0); some.add(b"1" * 32, "http://b.test/", 6.0)
    >>> some.get(b"1" * 32), some.get(b"2" * 32), len(some)
    (('http://a.test/', 5.0), None, 1)
    """

    def __init__(self) -> None:
        self._row = Fingerprints()
        self._digests = np.zeros((0, DIGEST), np.uint8)
        self._nodes = Nodes()
        self._started = np.zeros(0)

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, digest: bytes, node: str, started: float) -> None:
        """One more, unless the payload is known. Of two that begin alike only the first is: the other is kept twice."""
        row, key = len(self), _key(digest)
        if len(digest) != DIGEST or self._row.one(key) >= 0:
            return
        self._digests, self._started = fit(self._digests, row + 1), fit(self._started, row + 1)
        self._digests[row], self._started[row] = np.frombuffer(digest, np.uint8), started
        self._nodes.append(node)
        self._row.put(key, row)

    def get(self, digest: bytes) -> tuple[str, float] | None:
        """Where it is."""
        row = self._row.one(_key(digest))
        if row < 0 or self._digests[row].tobytes() != digest:
            return None
        return self._nodes[row], self._started.item(row)

    def state(self) -> State:
        """All of them."""
        count = len(self)
        return {"digests": self._digests[:count], "nodes": self._nodes.state(), "started": self._started[:count]}

    def restore(self, state: State) -> None:
        """Know those."""
        self._nodes.restore(state["nodes"])
        digests, started = state["digests"], state["started"]
        if digests.shape != (len(self), DIGEST) or digests.dtype != np.uint8 or started.shape != (len(self),):
            raise Untold("payloads do not fit")
        self._digests, self._started = digests, started
        keys = np.ascontiguousarray(digests[:, :8]).view("<u8").ravel()
        self._row.put_all(keys.astype(np.uint64), np.arange(len(self), dtype=np.int32))


def _key(digest: bytes) -> int:
    """How a digest is looked up: nobody can aim at its first bytes."""
    return int.from_bytes(digest[:8], "little")
