"""Addresses of clusters."""

import socket

import pytest

from input_errors import raises_input_error
from lycosa_cluster import reaching
from lycosa_cluster.reaching import MAX_SHARDS, ClusterTarget, check_cluster


@pytest.mark.parametrize(
    ("text", "address", "shards"),
    [
        ("local", "local", 0),
        ("local,shards=3", "local", 3),
        ("auto,shards=2", "auto", 2),
        ("10.0.0.5:6379", "10.0.0.5:6379", 0),
    ],
)
def test_parse_returns_address_and_shards(text: str, address: str, shards: int) -> None:
    assert ClusterTarget.parse(text) == ClusterTarget(address, shards)


@pytest.mark.parametrize("text", ["local:0", "local:x", f"auto,shards={MAX_SHARDS + 1}", "auto,cores=2", ""])
def test_parse_rejects_invalid_targets(text: str) -> None:
    with raises_input_error("bad-cluster"):
        ClusterTarget.parse(text)


def test_check_cluster_raises_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "find_spec", lambda name: None)
    with raises_input_error("missing-package"):
        check_cluster(ClusterTarget("local", 2))


@pytest.mark.parametrize("address", ["head", "head:99999", "http://head:1/x"])
def test_check_cluster_rejects_unreachable_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "find_spec", lambda name: name)
    with raises_input_error("bad-cluster"):
        check_cluster(ClusterTarget(address))


def test_check_cluster_connects_to_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "find_spec", lambda name: name)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_cluster(ClusterTarget(f"ray://127.0.0.1:{port}"))
    with raises_input_error("no-cluster", "refused"):
        check_cluster(ClusterTarget(f"127.0.0.1:{port}"))
