"""Owners of nodes."""

from collections import Counter

from lycosa_cluster.owning import Owners


def test_owners_keep_registered_domain_together() -> None:
    owners = Owners(7)
    for number in range(50):
        names = [f"{sub}site{number}.co.uk" for sub in ("", "www.", "a.b.")]
        assert len({owners.of(f"{scheme}://{name}:81/x") for name in names for scheme in ("http", "https")}) == 1


def test_owners_spread_domains_evenly() -> None:
    owners = Owners(4)
    counts = Counter(owners.of(f"http://site{number}.test/") for number in range(4000))
    assert set(counts) == {0, 1, 2, 3}
    assert min(counts.values()) > 850


def test_owners_accept_other_nodes() -> None:
    owners = Owners(3)
    assert {owners.of(f"192.0.2.{number}") for number in range(50)} == {0, 1, 2}
    assert owners.of("\udc80") in {0, 1, 2}
    assert {Owners(1).of(node) for node in ("http://a.test/", "a", "")} == {0}
