"""What the tests of exports share."""

from pathlib import Path

import pytest

from synthetic_crawl import real


@pytest.fixture(scope="session")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of the embedded web, made once."""
    return real(tmp_path_factory.mktemp("crawl") / "reefs")
