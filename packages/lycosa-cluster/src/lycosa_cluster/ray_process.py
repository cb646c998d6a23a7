"""Ray itself: imported on demand, joined where it runs, or started on this machine.

Anyone who can reach Ray's ports can run arbitrary code. So a local Ray listens on loopback only and, if it is known in
advance that it is started here, requires a random token.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from lycosa.core.errors import InputError, StoreError
from lycosa_cluster.reaching import MISSING

START_SECONDS, SLOW_START_SECONDS = 120.0, 600.0  # timeouts of starting all shards: with too few cores, and with enough


def load(address: str = "") -> Any:
    """Import Ray; `address` must be `local` if it is started here, because some settings are read only once."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # disables Ray's telemetry
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address == "local" and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    try:
        import ray
    except ImportError:
        raise InputError("missing-package", MISSING) from None
    return ray


def join_ray(address: str, cpus: int, notes: list[str]) -> bool:
    """Join the cluster at an address (`auto`: that of this machine, if any), or start a local one with `cpus` cores.

    Return whether it has to be left again.
    """
    ray = load(address)
    if ray.is_initialized():
        return False
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "namespace": "lycosa"}
    if address != "local":
        try:
            ray.init(address=address, **quiet)
            return True
        except (ConnectionError, ValueError, RuntimeError) as error:
            if address != "auto":
                raise InputError("no-cluster", f"no cluster responds at {address}: {short(error)}") from None
            notes.append("no cluster is running here: the crawl runs on this machine alone")
    _close(ray)
    for left in reversed(range(3)):
        try:
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=80_000_000, **quiet)
            return True
        except Exception as error:  # Ray raises no more specific error; on a busy machine it gives up after 30 seconds
            ray.shutdown()
            if not left:
                raise StoreError(
                    f"Ray did not start on this machine: {short(error)}; resume the crawl later"
                ) from error
    return True


def keep_signals() -> None:
    """Restore our SIGTERM handler, which Ray replaces by one that prints its stack."""
    handler = signal.getsignal(signal.SIGTERM)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def _close(ray: Any) -> None:
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # use the loopback address on any system
    ray._private.ray_constants.ENABLE_RAY_CLUSTER = False  # as if set before Ray was imported


def await_all(ray: Any, ready: list[Any], shards: int, go_on: Callable[[], bool] = lambda: True) -> str:
    """Wait until all actors have responded; return the Ray processes that died meanwhile.

    Raises if the cluster has too few cores for all actors, or if `go_on` returns false.
    """
    begun, unready = time.monotonic(), ready
    while unready and go_on():
        if time.monotonic() - begun >= (START_SECONDS if cores(ray) < shards else SLOW_START_SECONDS):
            break
        _, unready = ray.wait(ready, num_returns=len(ready), timeout=1.0)
        if unready and (dead := dead_processes(ray)):
            return dead
    if unready and not go_on():
        raise StoreError("stopped before all shards were started")
    if unready:
        raise StoreError(
            f"the cluster has cores for only {max(0, shards - len(unready))} of {shards} shards: use fewer (shards=N), "
            "or add machines"
        )
    return ""


def cores(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def dead_processes(ray: Any) -> str:
    """Return which essential process of a local Ray has died, or an empty string.

    Ray itself would wait a minute and then kill this process.
    """
    node = ray._private.worker._global_node
    dead = {name for name, _ in node.dead_processes()} if node is not None else set()
    dead_core = sorted(dead & {"gcs_server", "raylet"})
    return f"{' and '.join(dead_core)} {'has' if len(dead_core) == 1 else 'have'} ended" if dead_core else ""


def short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
