"""The address of a cluster as typed by users, and whether it can be reached, without importing Ray."""

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
class Where:
    """Where a crawl runs: `local:4`, `auto`, or a cluster's address; and the number of shards (0: as many as cores)."""

    address: str
    shards: int = 0

    @classmethod
    def read(cls, text: str) -> Where:
        """Parse the value of --cluster.

        >>> Where.read("local:4"), Where.read("ray://head:10001,shards=8")
        (Where(address='local', shards=4), Where(address='ray://head:10001', shards=8))
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
                f"--cluster {text} is not known: say local:4 for four shards on this machine, auto for the cluster "
                f"that this machine belongs to, or an address; and ,shards=N for how many, 1 to {MAX_SHARDS}",
            )
        return cls(name, int(shards or 0))


def check_cluster(where: Where) -> None:
    """Raise for a cluster that is misspelt or unreachable, or if Ray is missing."""
    address = where.address
    if find_spec("ray") is None:
        raise InputError("missing-package", MISSING)
    if address in ("local", "auto"):
        return
    named = re.fullmatch(r"(?:ray://)?\[?([^/\[\]]+)\]?:(\d{1,5})", address)
    if named is None or int(named[2]) > 65_535:
        raise InputError("bad-cluster", f"--cluster {address} is not an address: write it as in 10.0.0.5:6379")
    try:
        socket.create_connection((named[1], int(named[2])), 5.0).close()
    except OSError as error:
        raise InputError("no-cluster", f"there is no cluster at {address}: {error.strerror or error}") from None
