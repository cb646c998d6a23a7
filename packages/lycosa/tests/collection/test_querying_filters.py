"""Tests of search filters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.collection.querying import Filters
from lycosa.store.search import NAME, IndexedPage, SearchIndex

MARCH = 1_772_323_200.0  # midnight of 2026-03-01

PAGES = [
    IndexedPage(1, "1", "", "", "example.org", "en", MARCH - 1),
    IndexedPage(2, "2", "", "", "www.example.org", "en-gb", MARCH),
    IndexedPage(3, "3", "", "", "example.org:8080", "de", MARCH + 86_399, changed=60.0),
    IndexedPage(4, "4", "", "", "badexample.org", "", MARCH + 86_400),
    IndexedPage(5, "5", "", "", "[::1]:8080", "fr, en", MARCH + 1, changed=70.0),
    IndexedPage(6, "6", "", "", "", "EN_us", MARCH + 1),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    made = SearchIndex(tmp_path_factory.mktemp("index") / NAME)
    made.add(PAGES, "")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("given", "passing"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"hosts": ["example.org"]}, [1, 2, 3]),
        ({"hosts": ["EXAMPLE.org."]}, []),  # a trailing dot makes another name
        ({"hosts": ["https://example.org/page"]}, [1, 2, 3]),
        ({"hosts": ["*.example.org"]}, [1, 2, 3]),
        ({"hosts": ["www.example.org"]}, [2]),
        ({"hosts": ["example.org:8080"]}, [3]),
        ({"hosts": ["badexample.org", "www.example.org"]}, [2, 4]),
        ({"hosts": ["[::1]"]}, [5]),
        ({"hosts": ["nowhere.test"]}, []),
        ({"languages": ["en"]}, [1, 2, 5, 6]),
        ({"languages": ["en-GB"]}, [2]),
        ({"languages": ["de", "fr"]}, [3, 5]),
        ({"since": "2026-03-01"}, [2, 3, 4, 5, 6]),
        ({"until": "2026-03-01"}, [1, 2, 3, 5, 6]),
        ({"since": "2026-03-01", "until": "2026-03-01"}, [2, 3, 5, 6]),
        ({"since": date(2026, 3, 2)}, [4]),
        ({"since": datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2)))}, [2, 3, 4, 5, 6]),
        ({"until": "9999-12-31"}, [1, 2, 3, 4, 5, 6]),
        ({"changed": 0.0}, [3, 5]),
        ({"changed": 70.0}, [5]),
    ],
)
def test_filters_select_pages(given: dict[str, Any], passing: list[int], index: SearchIndex) -> None:
    assert passing == index.pages(*Filters.of(**given).where(index))["seq"].tolist()


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        ({"since": "yesterday"}, "bad-date", "--since 'yesterday'"),
        ({"until": "2026-02-30"}, "bad-date", "--until '2026-02-30'"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "bad-range", "2026-03-02 .* 2026-03-01"),
        ({"hosts": ["not a host"]}, "bad-host", "'not a host'"),
        ({"hosts": [""]}, "bad-host", "''"),
        ({"languages": [" "]}, "bad-language", "en or pt-br"),
    ],
)
def test_filters_reject_bad_values(given: dict[str, Any], code: str, message: str) -> None:
    with raises_input_error(code, match=message):
        Filters.of(**given)
