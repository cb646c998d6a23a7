"""Fixtures of the document tests."""

from collections.abc import Iterator

import pytest

from lycosa.web.parse_process import WorkerPool


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    """One worker process; a dead one is replaced."""
    pool = WorkerPool(1)
    yield pool
    pool.close()
