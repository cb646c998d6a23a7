"""Fixtures of the document tests."""

from collections.abc import Iterator

import pytest

from lycosa.web.parse_process import WorkerPool


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    """Return a pool of one worker process, which is replaced if it dies."""
    pool = WorkerPool(1)
    yield pool
    pool.close()
