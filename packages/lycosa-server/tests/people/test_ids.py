"""Random ids."""

from lycosa_server.people.ids import is_id, new_id


def test_new_id_is_unique_and_valid() -> None:
    ids = {new_id() for _ in range(100)}
    assert 100 == len(ids)
    assert all(map(is_id, ids))


def test_is_id_refuses_paths_and_other_types() -> None:
    assert not any(map(is_id, ("", ".", "..", "a/b", "a\\b", "a\0", "x" * 65, "é", None, 7)))
