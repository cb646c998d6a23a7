"""The live state of a crawl in its directory."""

from pathlib import Path

from lycosa_server.crawler.live import FILE_NAME, MAX_LISTED, LiveHost, LiveState


def test_read_returns_written_state(tmp_path: Path) -> None:
    state = LiveState(at=100.0, frontier=3, hosts=[LiveHost(host="a.test", waiting=2)])
    state.write(tmp_path)
    assert state == LiveState.read(tmp_path, 105.0)
    assert [FILE_NAME] == [path.name for path in tmp_path.iterdir()]


def test_read_ignores_missing_old_and_damaged_files(tmp_path: Path) -> None:
    assert LiveState() == LiveState.read(tmp_path, 0.0)
    LiveState(at=100.0).write(tmp_path)
    assert LiveState() == LiveState.read(tmp_path, 111.0)
    (tmp_path / FILE_NAME).write_text('{"at": "soon"}')
    assert LiveState() == LiveState.read(tmp_path, 100.0)


def test_merged_adds_up_shards_and_lists_busiest_hosts() -> None:
    parts = [
        LiveState(at=1.0, frontier=2, hosts=[LiveHost(host=f"{n}.test", waiting=n) for n in range(MAX_LISTED)]),
        LiveState(at=5.0, frontier=3, hosts=[LiveHost(host="busy.test", in_flight=1)]),
    ]
    merged = LiveState.merged(parts)
    assert (5.0, 5, MAX_LISTED) == (merged.at, merged.frontier, len(merged.hosts))
    assert ("busy.test", "99.test") == (merged.hosts[0].host, merged.hosts[1].host)
