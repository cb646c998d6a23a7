"""Options and progress of `lycosa refresh` and `lycosa watch`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lycosa.cli.refresh import RefreshProgress, refresh
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Visit
from lycosa.revisit.change import Change
from lycosa.store.directory import CONFIG, Directory


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a crawl with many settings."""
    monkeypatch.setenv("REEF_HOOK", "json://127.0.0.1:9")
    kept = Options(
        topic="coral reefs",
        frequently=["/news/"],
        schedule="fixed",
        notify=["$REEF_HOOK"],
        feed_url="https://me.example/",
        notify_every="2d",
        per_hour=30.0,
    )
    (tmp_path / CONFIG).write_text(kept.to_toml())
    return tmp_path


def test_refresh_empty_value_resets_setting(crawl: Path) -> None:
    given: dict[str, Any] = {
        "frequently": [""],
        "schedule": "",
        "notify": [""],
        "feed_url": "",
        "notify_every": "",
        "always": [],
        "detect": None,
    }
    refresh(crawl, quiet=True, **given)
    expected = Options(topic="coral reefs", per_hour=30.0, judge="probability", strategy="scent")
    assert expected == Directory.read_options(crawl)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"requests": -1}, "--requests is -1"),
        ({"notify_every": "nan"}, "'--notify-every' is 'nan'"),
        ({"notify": ["nonsense://secret"]}, "--notify: apprise does not know"),
        ({"feed_url": "nonsense"}, "--feed-url is 'nonsense'"),
    ],
)
def test_refresh_invalid_setting_is_not_kept(crawl: Path, given: dict[str, Any], why: str) -> None:
    before = (crawl / CONFIG).read_bytes()
    with pytest.raises(InputError, match=why):
        refresh(crawl, quiet=True, **given)
    assert (before, [CONFIG]) == ((crawl / CONFIG).read_bytes(), [file.name for file in crawl.iterdir()])


def test_refresh_progress_counts_irrelevant_new_pages() -> None:
    crawl: Any = SimpleNamespace(engine=SimpleNamespace(in_flight=[1]), notes=[])
    told = RefreshProgress(crawl, quiet=True, json=False)
    new = {"change": Change("new").as_data()}
    for arm, data in (("", {}), ("", new), ("moved", {}), ("", {})):
        told.update(Visit("http://a.test/", "page", "ok", pick=1, arm=arm, data=data))
    assert "0 revisits, 0 unchanged, 1 changed, 2 new but not relevant; 1 in flight" == told._headline()
