"""Address of a cluster as typed by users, and a check that it can be reached, without importing Ray."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from importlib.util import find_spec

from lycosa.core.errors import InputError
from lycosa.core.spec import parse_spec

MAX_SHARDS = 999

MISSING = "a cluster needs Ray, which is not installed: pip install lycosa-cluster"


@dataclass(frozen=True)
class ClusterTarget:
    """Target of a crawl: `local`, `auto` or a cluster's address, and the number of shards (0: one per core)."""

    address: str
    shards: int = 0

    @classmethod
    def parse(cls, text: str) -> ClusterTarget:
        """Parse the value of --cluster.

        >>> ClusterTarget.parse("local:4"), ClusterTarget.parse("ray://head:10001,shards=8")
        (ClusterTarget(address='local', shards=4), ClusterTarget(address='ray://head:10001', shards=8))
        """
        name, given = parse_spec(text)
        shards = given.pop("shards", "")
        if local := re.fullmatch(r"local(?::(\d+))?", name):
            name, shards = "local", local[1] or shards
        if (
            given
            or not name
            or name.startswith("local:")
            or not (shards or "0").isdigit()
            or not 0 < int(shards or 1) <= MAX_SHARDS
        ):
            raise InputError(
                "bad-cluster",
                f"unknown cluster {text!r}: write local:4 for four shards on this machine, auto for this machine's "
                f"cluster, or an address; add ,shards=N for 1 to {MAX_SHARDS} shards",
            )
        return cls(name, int(shards or 0))


def check_cluster(target: ClusterTarget) -> None:
    """Raise InputError if the cluster is misspelt or unreachable, or if Ray is missing."""
    address = target.address
    if find_spec("ray") is None:
        raise InputError("missing-package", MISSING)
    if address in ("local", "auto"):
        return
    named = re.fullmatch(r"(?:ray://)?\[?([^/\[\]]+)\]?:(\d{1,5})", address)
    if named is None or int(named[2]) > 65_535:
        raise InputError("bad-cluster", f"--cluster {address} is not a network address: write it like 10.0.0.5:6379")
    try:
        socket.create_connection((named[1], int(named[2])), 5.0).close()
    except OSError as error:
        raise InputError("no-cluster", f"no cluster responds at {address}: {error.strerror or error}") from None
