"""Backups of strangers: whatever is in them, nothing outside is touched, and what is restored is a server's data."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from lycosa.core.errors import InputError
from lycosa.people import erasing
from lycosa.people.database import Database, scripts
from lycosa.people.tables import PASSING, Checker
from lycosa.server.backup import Backup
from lycosa.server.restore import restore
from lycosa.server.settings import Settings
from lycosa.server.validation import harmless_directory
from lycosa.store.log import SqliteLog
from made_backups import CRAWL, TAMPERS, Archive, everything, make, tampered
from server_world import make_world

MUTATED = 120
ALWAYS_REFUSED = {"columns", "more_tables", "links", "twice", "options"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a backup."""
    place = tmp_path_factory.mktemp("backup")
    settings, database = make(str(place / "data" / "lycosa.sqlite"), place / "data")
    Backup(settings, database).write(place / "b.tar")
    database.close()
    return (place / "b.tar").read_bytes()


def outside(place: Path) -> dict[str, tuple[int, bytes]]:
    """Everything that is not to be touched."""
    return {
        str(path.relative_to(place)): (path.lstat().st_mode, b"" if path.is_dir() else path.read_bytes())
        for path in sorted(place.rglob("*"))
        if path.relative_to(place).parts[0] != "new"
    }


def check_restored(data: Path) -> None:
    """A server's data: every row fits, every crawl is one that may be opened, and nothing else is there."""
    settings = Settings(data)
    with closing(Database.open(settings.database_address)) as database:
        checker = Checker(scripts())
        for table, rows in everything(database).items():
            for row in rows:
                checker.row(table, row)
        checker.finish()
        assert not any(database.rows(f"SELECT * FROM {table}") for table in PASSING)
        erasing.sweep([settings.crawl_directory(crawl) for crawl in erasing.rubbish(database)])
    assert {path.name for path in data.iterdir()} <= {
        "crawls",
        "models",
        "lycosa.sqlite",
        "lycosa.sqlite-wal",
        "lycosa.sqlite-shm",
    }
    for directory in (data / "crawls").iterdir() if (data / "crawls").exists() else ():
        assert directory.name in checker.ids["crawl"]
        if (directory / "crawl.toml").exists():
            harmless_directory(directory)
        if (directory / "log.sqlite").exists():
            with closing(SqliteLog(directory / "log.sqlite", readonly=True)) as log:
                log.check()
                assert all((directory / "archive" / name).is_file() for name in log.archived())
    assert not any(path.is_symlink() for path in data.rglob("*"))


def test_tampered_backups(whole: bytes, tmp_path: Path) -> None:
    """More than a hundred of them, made by their numbers: each is refused in one line, or what is restored is valid."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "precious").write_text("kept")
    came: Counter[tuple[str, str]] = Counter()
    for seed in range(MUTATED):
        name, content = tampered(whole, seed)
        (tmp_path / "b.tar").write_bytes(content)
        before = outside(tmp_path)
        told = ""
        try:
            restore(tmp_path / "b.tar", tmp_path / "new")
        except InputError as error:
            told = str(error)
        if told:
            assert "\n" not in told, (seed, name)
            assert len(told) < 800, (seed, name)
            assert not (tmp_path / "new").exists(), (seed, name)
        else:
            check_restored(tmp_path / "new")
            shutil.rmtree(tmp_path / "new")
        came[name, "refused" if told else "restored"] += 1
        assert before == outside(tmp_path), (seed, name)
    assert {name for name, what in came if what == "restored"}.isdisjoint(ALWAYS_REFUSED)
    assert set(TAMPERS) == {name for name, _ in came}
    assert MUTATED == came.total()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("models/model-0", b"https://a.example/\tSky\n", "not what its row tells of"),
        ("models/stranger", b"https://a.example/\tSky\n", "which is not a model"),
        ("models/../crawls", b"x", "no backup has a member"),
    ],
)
def test_models_of_strangers(whole: bytes, tmp_path: Path, name: str, content: bytes, why: str) -> None:
    """A file that is not what the row tells of, one without a row, one that leads elsewhere: nothing is restored."""
    archive = Archive.read(whole)
    archive.members = [(info, old) for info, old in archive.members if info.name != name]
    archive.put(name, content)
    (tmp_path / "b.tar").write_bytes(archive.write())
    with pytest.raises(InputError, match=why):
        restore(tmp_path / "b.tar", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_untouched_backup_in_parts_is_restored(whole: bytes, tmp_path: Path) -> None:
    """Taking one to pieces and writing it again is no tampering: what the others are refused for is the change."""
    (tmp_path / "b.tar").write_bytes(Archive.read(whole).write())
    assert 2 == restore(tmp_path / "b.tar", tmp_path / "new").people
    check_restored(tmp_path / "new")


def test_rubbish_of_a_stranger_removes_nothing(tmp_path: Path) -> None:
    """A name that leads out is no crawl, wherever it comes from."""
    settings, database = make("", tmp_path / "data")
    (tmp_path / "victim").mkdir()
    database.insert("rubbish", {"crawl": "../../victim", "at": 1.0})
    with closing(database):
        assert "../../victim" not in erasing.rubbish(database)
    crawls = settings.crawl_directory(CRAWL).parent
    (crawls / "linked").symlink_to(tmp_path / "victim")
    assert [] == erasing.sweep([crawls / "../../victim", crawls / "linked", crawls / ".."])
    assert (tmp_path / "victim").is_dir()
    for name in ("../../victim", "..", "", "a/b", "a.b", "x" * 65):
        with pytest.raises(InputError, match="is not a crawl"):
            settings.crawl_directory(name)


def test_rubbish_in_a_backup_is_refused(whole: bytes, tmp_path: Path) -> None:
    """No backup has a table of the moment: it would say what is to be removed."""
    archive = Archive.read(whole)
    archive.put("database/rubbish.jsonl", b'{"crawl": "../../victim", "at": 1.0}\n')
    (tmp_path / "b.tar").write_bytes(archive.write())
    with pytest.raises(InputError, match="rubbish is of the moment"):
        restore(tmp_path / "b.tar", tmp_path / "new")
    assert ["b.tar"] == [path.name for path in tmp_path.iterdir()]


WRONG: list[tuple[str, str, object, str]] = [
    ("person", "role", "god", "one of"),
    ("person", "password", "$argon2id$v=19$m=99999999,t=1,p=1$c2Fs$aGFz", "no argon2id hash"),
    ("person", "password", "$argon2id$v=19$m=3000000,t=2,p=1$c2Fs$aGFz", "costs too much"),
    ("person", "password", "$argon2id$v=19$m=65536,t=99,p=4$c2Fs$aGFz", "costs too much"),
    ("crawl", "id", "../../victim", "not an id"),
    ("interest", "wishes", '{"words": "x", "seeds": ["https://a.example/"], "strategy": "os:system"}', "strategy"),
    ("interest", "wishes", "[" * 100_000, "nested"),
    (
        "interest",
        "wishes",
        '{"words": "x", "seeds": ["https://a.example/"], "examples": ["/etc/passwd"]}',
        "address",
    ),
    ("feedback", "person", "nobody", "no person"),
    ("crawl", "budget", 10**12, "whole number"),
    ("crawl", "created", 1e300, "a number"),
]


def test_what_is_wrong_is_said(whole: bytes, tmp_path: Path) -> None:
    """The table, the row and the column are named; neither a database nor a directory is made."""
    for table, column, value, why in WRONG:
        archive = Archive.read(whole)
        place = archive.at(f"database/{table}.jsonl")
        first, *others = archive.members[place][1].splitlines()
        archive.change(place, b"\n".join([json.dumps({**json.loads(first), column: value}).encode(), *others]) + b"\n")
        (tmp_path / "b.tar").write_bytes(archive.write())
        with pytest.raises(InputError, match=why) as told:
            restore(tmp_path / "b.tar", tmp_path / "new")
        assert table in str(told.value)
        assert ["b.tar"] == [path.name for path in tmp_path.iterdir()]


def test_a_refused_backup_leaves_the_database_empty(database_address: str, whole: bytes, tmp_path: Path) -> None:
    """Also where the database is elsewhere: rows are looked at before it is."""
    address = database_address if "://" in database_address else ""
    for seed in range(3):
        archive = Archive.read(whole)
        archive.change(archive.at("crawl.toml"), [b'judge = "os:system"', b"[", b'proxy_ca = "/etc/passwd"'][seed])
        (tmp_path / "b.tar").write_bytes(archive.write())
        with pytest.raises(InputError, match="crawl-0"):
            restore(tmp_path / "b.tar", tmp_path / "new", address)
        assert ["b.tar"] == [path.name for path in tmp_path.iterdir()]
    if address:
        with closing(Database.open(address)) as left:
            assert {} == left.tables()


def test_what_a_server_writes_is_restored(database_address: str, tmp_path: Path) -> None:
    """Whatever the API and the crawl process have put into tables and directories fits."""
    world = make_world(database_address, tmp_path / "data")
    site = world.site
    before = everything(site.database)
    assert all(before[table] for table in ("person", "interest", "crawl", "share", "feedback", "seen", "audit"))
    Backup(site.settings, site.database).write(tmp_path / "b.tar")
    told = restore(tmp_path / "b.tar", tmp_path / "new")
    assert [] == told.damaged
    check_restored(tmp_path / "new")
    with closing(Database.open(tmp_path / "new" / "lycosa.sqlite")) as again:
        assert before == everything(again)
    site.close()
