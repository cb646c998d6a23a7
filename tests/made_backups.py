"""A server's data to back up, and backups that were tampered with in a few hundred ways, the same each time."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from lycosa.core.types import Place, Visit
from lycosa.people.database import Database, Row, migrate
from lycosa.people.tables import PASSING
from lycosa.server.settings import Settings
from lycosa.store.log import SqliteLog
from people_rows import fill

CRAWL = "crawl-0"
MANIFEST = "manifest.json"


def make(address: str, data: Path) -> tuple[Settings, Database]:
    """A server's data: rows everywhere, and one crawl whose archive is longer than its log knows."""
    settings = Settings(data, address if "://" in address else "")
    data.mkdir(exist_ok=True)
    database = Database.open(settings.database_address)
    migrate(database)
    fill(database)
    directory = settings.crawl_directory(CRAWL)
    (directory / "archive").mkdir(parents=True)
    (directory / "crawl.toml").write_text('topic = "reefs"\n')
    (directory / "live.json").write_text("{}")
    (directory / "working-on").write_bytes(b"\0\0\0\x12https://a.example/")
    (directory / "archive" / "a.warc.gz").write_bytes(b"x" * 150)
    content = b"https://a.example/\tSea/Reefs\n"
    settings.model_file("model-0").parent.mkdir()
    settings.model_file("model-0").write_bytes(content)
    about = {"kind": "directory", "state": "ready", "size": len(content), "digest": sha256(content).hexdigest()}
    database.update("model", "model-0", about)
    log = SqliteLog(directory / "log.sqlite")
    log.append(Visit("https://a.example/", "page", "ok", 1, place=Place("a.warc.gz", 0, 100)))
    log.close()
    return settings, database


def everything(database: Database) -> dict[str, list[Row]]:
    """All rows that a backup has."""
    return {
        table: sorted(database.rows(f"SELECT * FROM {table}"), key=str)
        for table in database.tables()
        if table not in PASSING | {"migration"}
    }


# -- tampering -------------------------------------------------------------------------------------------------


@dataclass
class Archive:
    """A backup in parts. `write` makes a file of it; its manifest agrees with the rest, unless it was tampered with."""

    members: list[tuple[tarfile.TarInfo, bytes]]
    manifest: dict[str, Any]
    honest: bool = True
    """Whether the manifest's sizes and digests are made to fit what is there now."""

    @classmethod
    def read(cls, whole: bytes) -> Archive:
        members = []
        with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
            for member in tar:
                content = tar.extractfile(member)
                assert content is not None
                members.append((member, content.read()))
        (_, told) = members.pop()
        return cls(members, json.loads(told))

    def write(self) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            told = self.manifest["members"] if isinstance(self.manifest.get("members"), dict) else {}
            if self.honest:
                told.clear()
            for info, content in self.members:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
                if self.honest:
                    told[info.name] = {"size": len(content), "sha256": sha256(content).hexdigest()}
            text = json.dumps(self.manifest).encode()
            info = tarfile.TarInfo(MANIFEST)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
        return out.getvalue()

    def at(self, ending: str) -> int:
        return next(place for place, (info, _) in enumerate(self.members) if info.name.endswith(ending))

    def put(self, name: str, content: bytes, kind: bytes = tarfile.REGTYPE, link: str = "") -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        self.members.append((info, content))

    def change(self, place: int, content: bytes) -> None:
        self.members[place] = (self.members[place][0], content)


Tamper = Callable[[Random, Archive], bytes]

DEEP = "[" * 100_000
NASTY: list[Any] = [
    "../../victim", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "god", "\0", "\ud800", "ä" * 300, "x" * 200_000, DEEP,
    '{"a":' * 100_000, "null", "[]", "{}", "\u202e", "\n", "os:system", None, True, False, -1, 0, 1, 2**31, 10**30,
    1.5, -0.0, 1e300, float("nan"), float("inf"), [], {}, ["a"], {"a": 1},
]  # fmt: skip
PATHS = [
    "../victim/x", "/tmp/lycosa-out", "crawls/../../victim/x", "crawls/crawl-0/../../../victim/x", "other/x", "x", ".",
    "crawls/crawl-0/a/b/c", "crawls/crawl-0/lock", "crawls/crawl-0/live.json", "crawls/crawl-0/search.sqlite",
    "crawls/crawl-0/working-on", "crawls/crawl-0/log.sqlite-wal", "crawls/crawl-0/log.sqlite.new",
    "crawls/crawl-9/crawl.toml", "crawls/.x/y",
    "crawls/crawl-0/.hidden", "crawls//x", "database/../x.jsonl", "database/x/y.jsonl", "database/rubbish.jsonl",
    "crawls/crawl-0/" + "n" * 300, "crawls/crawl-0/ä.toml", "crawls/crawl-0/a\nb", "crawls/crawl-0/x\0y",
]  # fmt: skip
OPTIONS = [
    'judge = "os:system"', 'strategy = "random:Random"', 'strategy = "rules,file=/etc/passwd"', 'space = "os:popen"',
    'model = "/etc/passwd"', 'terms = "/etc/passwd"', 'background = "/etc/passwd"', 'ontology = "/etc/passwd"',
    'examples = ["/etc/passwd"]', 'seeds = ["file:///etc/passwd"]', 'seed_files = ["/etc/passwd"]', 'regex = "(a+)+$"',
    'exclude = ["(a+)+$"]', 'include = ["x"]', 'proxy = "http://127.0.0.1:1"', 'proxy_ca = "/etc/passwd"',
    'webhooks = ["http://127.0.0.1/"]', 'smtp = "smtp://127.0.0.1"', 'user_agent = "x"', "max_body = 1", "x = 1",
    "topic = 1", "budget = -1", "budget = nan", "topic = 'half", "a = " + "[" * 5_000, "\xff", "frequently = ['(']",
]  # fmt: skip
HOSTILE_SQL = [
    "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TABLE other (x)",
    "CREATE VIRTUAL TABLE f USING fts5(x)",
    "DROP INDEX event_node; DROP TABLE event",
    "UPDATE event SET file = '../../../../../etc/passwd'",
    "UPDATE event SET file = '/etc/passwd', length = 100000000",
    "UPDATE event SET start = -5",
    "UPDATE event SET length = 9223372036854775807",
    "UPDATE event SET kind = 'pagf'",
    "UPDATE event SET outcome = 'godlike'",
    "UPDATE event SET node = CAST(x'ff' AS TEXT)",
    "UPDATE event SET beta = 9e999",
    "UPDATE event SET body = 'text'",
    "PRAGMA user_version = 99",
]


def _table(chance: Random, archive: Archive) -> tuple[int, list[Any]]:
    tables = [place for place, (info, _) in enumerate(archive.members) if info.name.startswith("database/")]
    place = chance.choice(tables)
    return place, [json.loads(line) for line in archive.members[place][1].splitlines()]


def _rewrite(archive: Archive, place: int, rows: list[Any]) -> bytes:
    archive.change(place, "".join(json.dumps(row) + "\n" for row in rows).encode())
    return archive.write()


def value(chance: Random, archive: Archive) -> bytes:
    """A column says something else."""
    place, rows = _table(chance, archive)
    row = chance.choice(rows)
    row[chance.choice(sorted(row))] = chance.choice(NASTY)
    return _rewrite(archive, place, rows)


def columns(chance: Random, archive: Archive) -> bytes:
    """A column more or less."""
    place, rows = _table(chance, archive)
    row = chance.choice(rows)
    if chance.random() < 0.5:
        del row[chance.choice(sorted(row))]
    else:
        row[chance.choice(["id) VALUES (1); --", "god", "", "ä", "rowid"])] = chance.choice(NASTY)
    return _rewrite(archive, place, rows)


def rows(chance: Random, archive: Archive) -> bytes:
    """Rows twice, rows missing that others refer to, lines that are no rows."""
    place, told = _table(chance, archive)
    what = chance.randrange(4)
    if what == 0:
        return _rewrite(archive, place, [*told, chance.choice(told)])
    if what == 1:
        archive.change(archive.at(f"{chance.choice(['person', 'interest', 'crawl'])}.jsonl"), b"")
        return archive.write()
    if what == 2:
        return _rewrite(archive, place, [*told, chance.choice(NASTY)])
    garbage = [b"\xff\xfe", b"{", b"", DEEP.encode(), b'{"a":' * 50_000, b"9" * 9_000, b"{}" * 3, b"x" * 9_000_000]
    archive.change(place, archive.members[place][1] + chance.choice(garbage) + b"\n")
    return archive.write()


def more_tables(chance: Random, archive: Archive) -> bytes:
    """Tables of the moment, unknown ones, one missing."""
    if chance.random() < 0.3:
        del archive.members[_table(chance, archive)[0]]
        return archive.write()
    name = chance.choice([*sorted(PASSING), "migration", "sqlite_master", "x"])
    row = chance.choice([{"crawl": "../../victim", "at": 1.0}, {"number": 99, "applied": 1.0}, {}])
    archive.put(f"database/{name}.jsonl", json.dumps(row).encode() + b"\n")
    return archive.write()


def names(chance: Random, archive: Archive) -> bytes:
    """A member is called something else."""
    info, _ = chance.choice(archive.members)
    info.name = chance.choice(PATHS)
    info.pax_headers = {}
    return archive.write()


def links(chance: Random, archive: Archive) -> bytes:
    """Links, devices, directories, and a file that is reached through a link."""
    kinds = [
        tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE,
        tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE, b"Z",
    ]  # fmt: skip
    name = chance.choice(["crawls/crawl-0/link", "crawls/crawl-1", "crawls/crawl-0/archive", "database"])
    archive.put(name, b"", chance.choice(kinds), chance.choice(["/etc/passwd", "../../../victim", "."]))
    if chance.random() < 0.5:
        archive.put(f"{name}/x", b"out")
    chance.shuffle(archive.members)
    return archive.write()


def manifests(chance: Random, archive: Archive) -> bytes:
    """The manifest says something else."""
    if chance.random() < 0.5:
        archive.honest = False
        members = archive.manifest["members"]
        name = chance.choice(sorted(members))
        what = chance.randrange(4)
        if what == 0:
            members[name][chance.choice(["size", "sha256"])] = chance.choice(NASTY)
        elif what == 1:
            members[name] = chance.choice(NASTY)
        elif what == 2:
            del members[name]
        else:
            members[chance.choice(PATHS)] = {"size": 0, "sha256": sha256(b"").hexdigest()}
        return archive.write()
    key = chance.choice([key for key in sorted(archive.manifest) if key not in ("at", "version")])
    if chance.random() < 0.2:
        del archive.manifest[key]
    else:
        archive.manifest[key] = chance.choice([*NASTY, 1, 2, 3, 99, ["../../x"], [CRAWL], ["x"] * 3])
    archive.honest = key != "members"
    return archive.write()


def twice(chance: Random, archive: Archive) -> bytes:
    """A member or the manifest is there twice, or something comes after the end."""
    if chance.random() < 0.5:
        info, content = chance.choice(archive.members)
        archive.members.insert(chance.randrange(len(archive.members)), (info, content))
        return archive.write()
    archive.put(MANIFEST, json.dumps(archive.manifest).encode())
    chance.shuffle(archive.members)
    return archive.write()


def sizes(chance: Random, archive: Archive) -> bytes:
    """A header lies about its size, and its checksum agrees."""
    whole = bytearray(archive.write())
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        at = chance.choice([member.offset for member in tar])
    size = chance.choice([b"%011o\0" % number for number in (0, 1, 511, 10**6, 8**11 - 1)] + [b"\x80" + b"\xff" * 11])
    whole[at + 124 : at + 136] = size
    whole[at + 148 : at + 156] = b" " * 8
    whole[at + 148 : at + 156] = b"%06o\0 " % sum(whole[at : at + 512])
    return bytes(whole)


def headers(chance: Random, archive: Archive) -> bytes:
    """Extended headers: another name, another size, sparse, endless, one after the other."""
    what = chance.randrange(5)
    info, _ = chance.choice(archive.members)
    if what < 3:
        told = [
            {"path": chance.choice(PATHS)},
            {"size": chance.choice(["0", "-1", "99999999999", "x"])},
            {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x", "GNU.sparse.realsize": "9" * 12},
        ]
        info.pax_headers = told[what]
        return archive.write()
    if what == 3:
        info.pax_headers = {"comment": "x" * 3_000_000}
        return archive.write()
    return _pax_header() * 3_000 + archive.write()


def _pax_header() -> bytes:
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "x"}
    return info.tobuf(tarfile.PAX_FORMAT)[:1024]


def bytes_of_it(chance: Random, archive: Archive) -> bytes:
    """Cut short, flipped, overwritten, moved."""
    whole = bytearray(archive.write())
    what = chance.randrange(4)
    at = chance.randrange(len(whole))
    if what == 0:
        return bytes(whole[:at])
    if what == 1:
        whole[at] ^= 1 << chance.randrange(8)
    elif what == 2:
        whole[at : at + chance.randrange(2_000)] = chance.randbytes(chance.randrange(2_000))
    else:
        start = at // 512 * 512
        whole[start : start + 512] = whole[:512]
    return bytes(whole)


def options(chance: Random, archive: Archive) -> bytes:
    """The settings of a crawl name a file, a class, a network."""
    archive.change(archive.at("crawl.toml"), chance.choice(OPTIONS).encode("latin-1"))
    return archive.write()


def logs(chance: Random, archive: Archive) -> bytes:
    """The log of a crawl is another database, or leads elsewhere."""
    place = archive.at("log.sqlite")
    if chance.random() < 0.2:
        archive.change(place, chance.choice([b"", b"x", b"SQLite format 3\0" + b"\0" * 2_000, chance.randbytes(5_000)]))
        return archive.write()
    with tempfile.TemporaryDirectory() as beside:
        path = Path(beside) / "log.sqlite"
        path.write_bytes(archive.members[place][1])
        with closing(sqlite3.connect(path)) as database:
            database.executescript(chance.choice(HOSTILE_SQL))
        archive.change(place, path.read_bytes())
    return archive.write()


TAMPERS: dict[str, Tamper] = {
    made.__name__: made
    for made in (
        value, value, value, columns, rows, more_tables, names, links, manifests, twice, sizes, headers, bytes_of_it,
        options, logs,
    )
}  # fmt: skip


def tampered(whole: bytes, seed: int) -> tuple[str, bytes]:
    """The backup of a number: how it was tampered with, and its bytes."""
    chance = Random(seed)
    name = [*TAMPERS, "value", "value", "value"][seed % (len(TAMPERS) + 3)]
    return name, TAMPERS[name](chance, Archive.read(whole))
