"""`lycosa wordnet`: where it is, what it says of words, and how it is got."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import tiny_wordnet
from commands import Command
from lycosa.cli import wordnet as command
from lycosa.store import unpacking
from lycosa.store.unpacking import BadArchive, unpack
from lycosa.text import wordnet as reader
from lycosa.text.wordnet import FILES, find_wordnet


@pytest.fixture
def run(command: Command) -> Command:
    """`lycosa wordnet`."""
    return command.of("wordnet")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return tiny_wordnet.write(tmp_path / "tiny")


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without WordNet, and a user's data directory that is ours."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("LYCOSA_WORDNET", raising=False)
    monkeypatch.setattr(reader, "usual_places", lambda: iter([reader.home()]))


# -- looking -----------------------------------------------------------------------------------------------------


def test_there_is_none(run: Command) -> None:
    """Without WordNet: one line that says how to get it, and exit code 2."""
    told = "lycosa: WordNet is not on this machine; get it with 'lycosa wordnet --fetch', "
    for words in ((), ("--json",), ("dog",), ("dog", "cat")):
        assert run.complaint(*words).startswith(told)


def test_where_it_is(run: Command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where, which version, how many words and synsets."""
    assert f"WordNet 9.9 in {tiny}: 28 words for 23 concepts" == run.out("--ontology", tiny).splitlines()[0]
    monkeypatch.setenv("LYCOSA_WORDNET", str(tiny))
    told = run.json()
    assert (f"WordNet 9.9 in {tiny}", 28, 23, []) == tuple(
        told[key] for key in ("source", "words", "concepts", "notes")
    )


@pytest.mark.paper("batsakis-figure-2")
def test_one_word(run: Command, tiny: Path) -> None:
    """Each sense with its words, its depth and what is above it."""
    assert [
        "Dogs: 2 senses",
        "  dog.n.01, depth 2: dog, domestic dog, Canis familiaris",
        "    < animal.n.01 < entity.n.01",
        "  dog.n.02, depth 1: dog, frump",
        "    < entity.n.01",
    ] == run.out("Dogs", "--ontology", tiny).splitlines()
    (sense,) = run.json("laika", "--ontology", tiny)["senses"]
    assert {"name": "Laika.n.01", "words": ["Laika"], "depth": 3} == {k: sense[k] for k in ("name", "words", "depth")}
    assert ["dog.n.01", "animal.n.01", "entity.n.01"] == sense["above"]


def test_two_words(run: Command, tiny: Path) -> None:
    """The shortest way, L and H, and every measure: Laika < dog < animal > cat, L = 3, H = 1."""
    assert [
        "Laika and cat",
        "  Laika.n.01 < dog.n.01 < animal.n.01 > cat.n.01",
        "  L = 3 links between them, H = 1, the depth of animal.n.01",
        "  ehrig   0.1250",  # .5 ** 3
        "  li      0.2947",  # exp(-.6) tanh(.6) = .5488 * .5370
        "  path    0.2500",  # 1 / 4
        "  depth   0.4000",  # 2 / (3 + 2)
        "  any-1   0.0000",
        "  is-a-2  0.0000",
    ] == run.out("Laika", "cat", "--ontology", tiny).splitlines()
    told = run.json("dog", "domestic dogs", "--ontology", tiny)
    assert (0, 2, ["dog.n.01"]) == (told["L"], told["H"], told["path"])
    assert 1.0 == told["similarity"]["ehrig"]


def test_words_with_nothing_in_common(run: Command, tiny: Path) -> None:
    """A noun and an adverb have no way between them, and every measure is 0."""
    lines = run.out("cat", "well", "--ontology", tiny).splitlines()
    assert "  nothing is above both" == lines[1]
    assert {"0.0000"} == {line.split()[1] for line in lines[2:]}
    assert run.json("cat", "well", "--ontology", tiny)["L"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["unicorn"], "does not know 'unicorn': try its base form, or a more general word"),
        (["dog", "unicorn"], "does not know 'unicorn'"),
        (["a", "b", "c"], "3 words: give one to look it up, or two to compare them; quote a phrase"),
        (["--from", "x"], "--from and --to need --fetch"),
        (["--to", "x"], "--from and --to need --fetch"),
        (["dog", "--fetch"], "--fetch downloads WordNet and does not look up words"),
    ],
)
def test_what_cannot_be_done(run: Command, tiny: Path, words: list[str], told: str) -> None:
    """Bad input is one line and exit code 2."""
    assert told in run.complaint(*words, "--ontology", tiny)


# -- archives ----------------------------------------------------------------------------------------------------


def tar(files: dict[str, bytes]) -> bytes:
    """A tar archive of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def ar(members: dict[str, bytes]) -> bytes:
    """An ar archive, as Debian's packages are."""
    packed = b"!<arch>\n"
    for name, content in members.items():
        packed += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        packed += b"\n" * (len(content) % 2)
    return packed


def files_of(directory: Path, below: str = "./usr/share/wordnet") -> dict[str, bytes]:
    return {f"{below}/{name}": (directory / name).read_bytes() for name in FILES}


def package(directory: Path, suffix: str = "xz") -> bytes:
    """A Debian package of a directory of WordNet's files."""
    pack = {"xz": __import__("lzma").compress, "gz": gzip.compress, "zst": zstandard.compress, "": bytes}[suffix]
    data = pack(tar({"./usr/share/doc/README": b"odd", **files_of(directory)}))
    return ar({"debian-binary": b"2.0\n", "control.tar.xz": b"x", f"data.tar.{suffix}".rstrip("."): data})


@pytest.mark.parametrize("suffix", ["xz", "gz", "zst", ""])
def test_packages_of_all_kinds(tiny: Path, suffix: str) -> None:
    """A package's files come out, however its data is packed."""
    assert {name: (tiny / name).read_bytes() for name in FILES} == unpack(package(tiny, suffix), FILES)


def test_nothing_is_written_by_an_archives_names(tmp_path: Path, tiny: Path) -> None:
    """Names that lead elsewhere, links, devices, sparse files and directories do nothing: only plain files count."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            member = tarfile.TarInfo("dict/data.noun")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        sparse = tarfile.TarInfo("dict/data.verb")
        sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 0
        archive.addfile(sparse)
        escape = tarfile.TarInfo("../../../escape/data.adj")
        escape.size = 3
        archive.addfile(escape, io.BytesIO(b"abc"))
    assert {"data.adj": b"abc"} == unpack(packed.getvalue(), FILES)
    assert not list(tmp_path.rglob("escape"))


def test_the_fullest_directory_is_taken() -> None:
    """Files of two directories are not mixed."""
    assert {"data.noun": b"1", "data.verb": b"2"} == unpack(
        tar({"old/data.noun": b"0", "dict/data.noun": b"1", "dict/data.verb": b"2"}), FILES
    )


@pytest.mark.parametrize(
    ("packed", "told"),
    [
        (b"", "empty file"),
        (b"noise" * 1_000, "invalid header"),
        (b"!<arch>\n", "it has no data.tar"),
        (b"!<arch>\n" + b"x" * 60, "byte 8 begins no member"),
        (ar({"data.tar.gz": b"1" * 100})[:-50], "it is cut short"),
        (ar({"control.tar": b""}), "it has no data.tar"),
        (gzip.compress(tar({"data.noun": b"x" * 50_000}))[:-30], "end-of-stream"),
        (tar({"data.noun": b"x" * 50_000})[:-30_000], "unexpected end of data"),
    ],
)
def test_damaged_archives(packed: bytes, told: str) -> None:
    """What is no archive, or half of one, is told."""
    with pytest.raises(BadArchive, match=told):
        unpack(packed, FILES)


def test_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that unpacks to more than the limit is given up, whether the file is wanted or not."""
    monkeypatch.setattr(unpacking, "LARGEST_UNPACKED", 1_000_000)
    for name in ("data.noun", "something else"):
        with pytest.raises(BadArchive, match="it holds more than 1,000,000 bytes"):
            unpack(gzip.compress(tar({name: bytes(2_000_000)})), FILES)


def test_archives_of_headers() -> None:
    """Headers without end, one before the other or one after the other, are damage, not a crash or a long wait."""
    announced = tarfile.TarInfo("././@PaxHeader")
    announced.type = tarfile.XHDTYPE
    with pytest.raises(BadArchive):
        unpack(announced.tobuf() * 5000, FILES)
    with pytest.raises(BadArchive, match="it holds more than 10,000 files"):
        unpack(tarfile.TarInfo("x").tobuf() * 10_001, FILES)


# -- getting it --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["deb", "tar.gz", "directory", "distribution"])
def test_from_what_the_user_has(run: Command, tmp_path: Path, tiny: Path, form: str) -> None:
    """From a package, an archive, a directory or an unpacked distribution, into the user's data directory."""
    source = tmp_path / f"wordnet.{form}"
    if form == "deb":
        source.write_bytes(package(tiny))
    elif form == "tar.gz":
        source.write_bytes(gzip.compress(tar(files_of(tiny, "WordNet-9.9/dict"))))
    elif form == "directory":
        source = tiny
    else:
        source.mkdir()
        tiny.rename(source / "dict")
    code, out, err = run("--fetch", "--from", source)
    assert (0, "") == (code, err)
    place = tmp_path / "data" / "lycosa" / "wordnet"
    assert [
        f"WordNet 9.9 in {place}: 28 words for 23 concepts.",
    ] == out.splitlines()
    assert place == find_wordnet()
    assert sorted(FILES) == sorted(os.listdir(place))
    assert ["wordnet"] == os.listdir(place.parent)


def test_again_and_elsewhere(run: Command, tmp_path: Path, tiny: Path) -> None:
    """What was there before is replaced whole; a place that nobody looks at is told with how to use it."""
    to = tmp_path / "my words"
    tiny_wordnet.write(to)
    (to / "data.noun").write_text("damaged")
    run.out("--fetch", "--from", tiny, "--to", to)
    assert (tiny / "data.noun").read_bytes() == (to / "data.noun").read_bytes()
    assert {"data", "my words", "tiny"} >= set(os.listdir(tmp_path))
    run("--fetch", "--from", tiny)
    out = run.out("--fetch", "--from", tiny, "--to", to)
    assert f"To use this one: export LYCOSA_WORDNET='{to}'" == out.splitlines()[-1]
    told = run.json("--fetch", "--from", tiny, "--to", to)
    assert (str(to), 23) == (told["directory"], told["concepts"])


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        (lambda source: source.write_bytes(b"noise"), "is not a package or archive that can be unpacked"),
        (lambda source: source.write_bytes(tar({"data.noun": b"x"})), "has not all of WordNet's files: index.noun"),
        (lambda source: source.write_bytes(tar({f"d/{n}": b"x\n" for n in FILES})), "WordNet is damaged"),
        (lambda source: source.mkdir(), "has not all of WordNet's files"),
        (lambda source: os.mkfifo(source), "it is a pipe or a device"),
        (lambda source: None, "cannot read"),
    ],
)
def test_bad_sources(run: Command, tmp_path: Path, prepare: Callable[[Path], None], told: str) -> None:
    """Whatever the source is, a line says what is wrong, and nothing is left behind."""
    source, to = tmp_path / "source", tmp_path / "to"
    prepare(source)
    assert told in run.complaint("--fetch", "--from", source, "--to", to)
    assert {"source", "data"} >= set(os.listdir(tmp_path))
    assert not to.exists()


def test_places_that_are_not_ours(run: Command, tmp_path: Path, tiny: Path) -> None:
    """A directory with other things, a file, a link and a place that can't be made are refused and left as they are."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "diary.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tiny)
    for to, told in [
        (other, "contains other files, such as 'diary.txt': choose an empty directory"),
        (tmp_path / "file", "is a link or a file, not a directory"),
        (tmp_path / "link", "is a link or a file, not a directory"),
        (tmp_path / "file" / "below", "cannot put WordNet into"),
    ]:
        assert told in run.complaint("--fetch", "--from", tiny, "--to", to)
    assert "mine" == (other / "diary.txt").read_text() == (tmp_path / "file").read_text()
    assert (tmp_path / "link").is_symlink()


# -- from Debian -------------------------------------------------------------------------------------------------


def fake_apt(directory: Path, script: str) -> str:
    """An apt-get that does this; a PATH with nothing but it and the shell's own tools."""
    tools = directory / "bin"
    tools.mkdir()
    (tools / "apt-get").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "apt-get").chmod(0o755)
    return f"{tools}:/usr/bin:/bin"


def test_apt_downloads_the_package(run: Command, tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """apt-get is asked to download wordnet-base into a directory that is gone afterwards."""
    (tmp_path / "the.deb").write_bytes(package(tiny))
    script = f'echo "$PWD $@" >> {tmp_path}/asked; cp {tmp_path}/the.deb wordnet-base_9.9_all.deb'
    monkeypatch.setenv("PATH", fake_apt(tmp_path, script))
    run.out("--fetch", "--to", tmp_path / "to")
    where, *asked = (tmp_path / "asked").read_text().split()
    assert ["download", "wordnet-base"] == asked
    assert not Path(where).exists()


def test_apt_without_lists(run: Command, tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system knows no packages, lists are fetched into a directory of our own, which needs no rights."""
    (tmp_path / "the.deb").write_bytes(package(tiny))
    script = f"""echo "$@" >> {tmp_path}/asked
case "$*" in
    *update) touch "$PWD/lists/known" ;;
    *) [ -e "$PWD/lists/known" ] || {{ echo "W: odd" >&2; echo "E: Unable to locate package" >&2; exit 100; }}
       cp {tmp_path}/the.deb one.deb ;;
esac"""
    monkeypatch.setenv("PATH", fake_apt(tmp_path, script))
    run.out("--fetch", "--to", tmp_path / "to")
    first, update, again = (tmp_path / "asked").read_text().splitlines()
    assert "download wordnet-base" == first
    assert "Dir::State::lists=" in update
    assert update.endswith("update")
    assert "Dir::State::lists=" in again
    assert again.endswith("download wordnet-base")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            'echo "E: no network" >&2; exit 100',
            "apt-get could not download wordnet-base (E: no network): name a package",
        ),
        ("exit 7", "apt-get could not download wordnet-base (exit code 7): name a package"),
        ("exit 0", "apt-get could not download wordnet-base (it left no file): name a package"),
        ("kill -9 $$", "apt-get could not download wordnet-base (exit code -9)"),
        (None, "there is no apt-get here to download wordnet-base with: name a package or an archive"),
    ],
)
def test_apt_fails(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, told: str
) -> None:
    """Why apt-get could not, and what else can be done."""
    monkeypatch.setenv("PATH", fake_apt(tmp_path, script) if script else str(tmp_path))
    assert told in run.complaint("--fetch", "--to", tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_apt_hangs(run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package manager that never ends is given up."""
    monkeypatch.setattr(command, "SECONDS", 0.2)
    monkeypatch.setenv("PATH", fake_apt(tmp_path, "exec sleep 600"))
    assert "it was not done after 0.2 s" in run.complaint("--fetch", "--to", tmp_path / "to")
