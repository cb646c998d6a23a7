"""What `lycosa refresh` and `lycosa watch` make of what they are told."""

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
    """A crawl that was told a lot before."""
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


def test_an_empty_value_takes_a_setting_back(crawl: Path) -> None:
    """Lists are empty then, the rest is as by default; what was not named stays."""
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
        ({"notify_every": "nan"}, "--notify-every is 'nan'"),
        ({"notify": ["nonsense://secret"]}, "--notify: apprise does not know"),
        ({"feed_url": "nonsense"}, "--feed-url is 'nonsense'"),
    ],
)
def test_what_can_not_work_is_not_kept(crawl: Path, given: dict[str, Any], why: str) -> None:
    """Not even where nothing needs it yet: the next run would stumble over it."""
    before = (crawl / CONFIG).read_bytes()
    with pytest.raises(InputError, match=why):
        refresh(crawl, quiet=True, **given)
    assert (before, [CONFIG]) == ((crawl / CONFIG).read_bytes(), [file.name for file in crawl.iterdir()])


def test_new_pages_off_the_topic_are_counted() -> None:
    """Who gave a share to exploring sees what came of it; where a page moved to is not explored."""
    crawl: Any = SimpleNamespace(engine=SimpleNamespace(in_flight=[1]), notes=[])
    told = RefreshProgress(crawl, quiet=True, json=False)
    new = {"change": Change("new").as_data()}
    for arm, data in (("", {}), ("", new), ("moved", {}), ("", {})):
        told.update(Visit("http://a.test/", "page", "ok", pick=1, arm=arm, data=data))
    assert "0 looks, 0 unchanged, 1 with news, 2 new but not relevant; 1 under way" == told._headline()
