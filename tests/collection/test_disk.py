"""What a crawl takes on the disk: all of it, part by part."""

from pathlib import Path

from handmade import FRONT, crawl, html, star

from lycosa.collection.disk import LARGE, measure


def test_every_file_is_counted(tmp_path: Path) -> None:
    """The parts add up to what is in the directory, whatever that is; what is large has a name of its own."""
    crawl(tmp_path / "reefs", star({f"{FRONT}reef": html("Reef", "coral polyps")}), budget=2)
    (tmp_path / "reefs" / "cold").write_bytes(bytes(LARGE))
    for place in ("shards/000", "archive/aside"):
        (tmp_path / "reefs" / place).mkdir(parents=True)
        (tmp_path / "reefs" / place / "more").write_bytes(bytes(2 * LARGE))
    (tmp_path / "reefs" / "archive" / "linked").symlink_to(tmp_path / "reefs" / "shards" / "000" / "more")
    files = [path for path in (tmp_path / "reefs").rglob("*") if path.is_file() and not path.is_symlink()]
    found = measure(tmp_path / "reefs")
    sizes = {part.name: part.size for part in found.parts if not part.of}
    assert found.size == sum(path.stat().st_size for path in files)
    assert (sizes["cold"], sizes["shards"], sizes["archive"] > 2 * LARGE) == (LARGE, 2 * LARGE, True)
    assert 0 < sizes["log"] == sum(path.stat().st_size for path in files if path.name.startswith("log.sqlite"))
