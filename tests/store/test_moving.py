"""Files elsewhere: moved to a real S3 (moto's server) when they are full, safe at any moment, and read from there."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from moto.server import ThreadedMotoServer

import lycosa
from lycosa.collection.export import export
from lycosa.collection.reading import Collection
from lycosa.core.errors import InputError, StoreError
from lycosa.replay.recording import Recording
from lycosa.store import moving
from lycosa.testing import Server, Web, serve

TOPIC = "marine biology/coral reefs"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An empty bucket, and an environment that leads to it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server._server.server_port}")  # type: ignore[union-attr]
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir("archive")
        yield "s3://archive"
        fsspec.filesystem("s3").clear_instance_cache()
    server.stop()


def crawl(server: Server, out: Path, budget: int = 25, **options: Any) -> lycosa.crawling.Crawl:
    """A crawl of the embedded web, in files of 25 kB."""
    fast = {"delay": 0.0, "per_host": 4, "allow_network": ["127.0.0.0/8"], "strategy": "breadth-first"}
    seeds = server.web.seeds(TOPIC)
    return lycosa.crawl(server.web.query(TOPIC), seeds, out=out, budget=budget, rotate=25_000, **fast, **options)


def bodies(path: Path) -> dict[str, bytes]:
    """What can be read of all that was archived."""
    with Collection(path) as collection:
        found = {}
        for visit in collection.log.visits("file != ''"):
            exchange = collection.exchange(visit)
            assert exchange is not None
            found[visit.node] = exchange.body
        return found


def test_files_are_moved_and_read_from_there(bucket: str, tmp_path: Path) -> None:
    """No WARC file is left here; pages, exports, replay and a resumed crawl work as if they all were."""
    with serve(Web(pages=500), record=False) as server:
        for _ in crawl(server, tmp_path / "here"):
            pass
        made = crawl(server, tmp_path / "there", archive_to=f"{bucket}/reefs")
        for _ in made:
            pass
        assert [] == made.notes
        archive = tmp_path / "there" / "archive"
        assert [] == list(archive.glob("*.warc.gz"))
        assert len(moving.manifest(archive)) > 2
        store = fsspec.filesystem("s3")
        names = {Path(name).name for name in store.ls("archive/reefs")}
        assert names == {
            name.replace(".warc.gz", end) for name in moving.manifest(archive) for end in (".warc.gz", ".cdxj")
        }
        here, there = bodies(tmp_path / "here"), bodies(tmp_path / "there")
        assert len(there) > 25
        assert all(here[url] == there[url] for url in here.keys() & there.keys())
        for name in ("p.warc.gz", "p.wacz", "p.jsonl", "p.cdxj"):
            assert export(tmp_path / "there", tmp_path / name, everything=True).pages >= 25
        with Recording([tmp_path / "there"]) as recording:
            for url in [url for url in there if there[url]][:5]:
                answer = recording.find(url)
                assert answer is not None
                assert there[url] == answer.body
        for _ in lycosa.resume(tmp_path / "there", budget=32):
            pass
        assert len(bodies(tmp_path / "there")) >= 32
        for _ in crawl(server, tmp_path / "later", dedupe=[str(tmp_path / "there")]):
            pass
        assert all(body or url.endswith("robots.txt") for url, body in bodies(tmp_path / "later").items())
        moved = next(iter(moving.manifest(archive).values()))
        store.rm(moved["url"].removeprefix("s3://"))
        with pytest.raises(StoreError, match=r"cannot read s3://archive/reefs/.*, where lycosa-.* was moved"):
            bodies(tmp_path / "there")


DYING = """
import os, signal, sys
from lycosa.store import moving
from lycosa.cli import main
point, number = sys.argv.pop(1), 2
def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)
def dying(name):
    original, left = getattr(moving, name), [number]
    def wrapped(*args, **kw):
        left[0] -= 1
        if not left[0]:
            if point == "sending":  # half of the file is there
                store, path, target = args
                data = path.read_bytes()
                with store.open(target, "wb") as out:
                    out.write(data[: len(data) // 2])
            die()
        return original(*args, **kw)
    setattr(moving, name, wrapped)
if point == "sending": dying("_send")
if point == "sent": dying("replacing")
if point == "noted":
    original = moving.Path.unlink
    moving.Path.unlink = lambda path, *a, **k: die() if path.name.endswith(".warc.gz") else original(path, *a, **k)
sys.argv[0] = "lycosa"
main()
"""


@pytest.mark.parametrize("point", ["sending", "sent", "noted"])
def test_killed_while_moving(bucket: str, tmp_path: Path, point: str) -> None:
    """Killed when a file is half there, there and not noted, or noted and not deleted: all is moved, nothing lost."""
    out, address = tmp_path / "crawl", f"{bucket}/{point}"
    with serve(Web(pages=500), record=False) as server:
        seeds = [part for url in server.web.seeds(TOPIC) for part in ("--seed", url)]
        words = ["crawl", server.web.query(TOPIC), *seeds, "--out", str(out), "--budget", "22", "--delay", "0"]
        words += ["--per-host", "4", "--allow-network", "127.0.0.0/8", "--rotate", "25000", "--archive", address, "-q"]
        ended = subprocess.run([sys.executable, "-c", DYING, point, *words], env=os.environ, capture_output=True)
        assert -signal.SIGKILL == ended.returncode, ended.stderr.decode()
        assert list((out / "archive").glob("*.warc.gz"))
        assert all(body or "robots" in url for url, body in bodies(out).items())
        for _ in lycosa.resume(out, budget=30):
            pass
    assert [] == list((out / "archive").glob("*.warc.gz"))
    found = bodies(out)
    assert len(found) >= 30
    store = fsspec.filesystem("s3")
    store.invalidate_cache()
    for name, about in moving.manifest(out / "archive").items():
        assert about["size"] == store.info(f"archive/{point}/{name}")["size"]


def test_a_store_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files stay here and the crawl says so; the next run moves them. Passwords and nonsense are refused."""
    with serve(Web(pages=500), record=False) as server:
        (tmp_path / "wall").touch()
        made = crawl(server, tmp_path / "c", archive_to=f"file://{tmp_path}/wall/x")
        for _ in made:
            pass
        assert ["it stays here, and the next run tries again" in note for note in made.notes] == [True]
        assert len(list((tmp_path / "c" / "archive").glob("*.warc.gz"))) > 2
        before = bodies(tmp_path / "c")
        (tmp_path / "wall").unlink()
        for _ in lycosa.resume(tmp_path / "c"):
            pass
        assert [] == list((tmp_path / "c" / "archive").glob("*.warc.gz"))
        assert before == bodies(tmp_path / "c")
        for address, why in [
            ("ftp://me:secret@a.test/x", "a password"), ("bucket/x", "is not an address"),
            ("s3://", "is not an address"), ("s3:///", "is not an address"),
            ("nosuch://x/y", "cannot use"),
        ]:  # fmt: skip
            with pytest.raises(InputError, match=why):
                crawl(server, tmp_path / "d", archive_to=address)


@pytest.mark.parametrize(("address", "extra"), [("s3://bucket/x", "s3"), ("sftp://host/x", "remote")])
def test_without_fsspec_it_names_the_extra_that_is_enough(
    address: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match=rf"needs fsspec: pip install 'lycosa\[{extra}\]'"):
        moving.check_address(address)
