from __future__ import annotations

import pytest

from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index


@pytest.fixture(scope="session")
def web_pages() -> list[RecordedPage]:
    return list(embedded(7, pages=400, hosts=10))


@pytest.fixture(scope="session")
def web(web_pages: list[RecordedPage], tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    return write_index(web_pages, tmp_path_factory.mktemp("web") / "index", source="embedded")
