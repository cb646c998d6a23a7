from collections.abc import Iterator

import pytest

from lycosa.web.parse_process import WorkerPool


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(1)
    yield pool
    pool.close()
