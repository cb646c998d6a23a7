"""Plain files of archives that may lie about everything."""

from __future__ import annotations

import io
import tarfile

import pytest

from lycosa.store.unpacking import ARCHIVE_ERRORS, ArchiveTooLarge, iter_files


def read(packed: bytes, largest: int = 1_000_000, most: int = 100) -> dict[str, bytes]:
    return {str(name): content.read() for name, content in iter_files(io.BytesIO(packed), largest, most)}


def tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def test_only_plain_files_count() -> None:
    """Links, devices, sparse files and directories are skipped."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            member = tarfile.TarInfo("dict/data.noun")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        sparse = tarfile.TarInfo("dict/data.verb")
        sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 0
        archive.addfile(sparse)
        plain = tarfile.TarInfo("../escape/data.adj")
        plain.size = 3
        archive.addfile(plain, io.BytesIO(b"abc"))
    assert read(packed.getvalue()) == {"../escape/data.adj": b"abc"}


@pytest.mark.parametrize("packed", [b"", b"noise" * 1_000, tar({"a": b"x" * 50_000})[:-30_000]])
def test_damaged_archives(packed: bytes) -> None:
    """Damage is one of the errors that callers expect."""
    with pytest.raises(ARCHIVE_ERRORS):
        read(packed)


def test_a_bomb() -> None:
    """An archive that holds more than the limit is given up, before its content is read."""
    with pytest.raises(ArchiveTooLarge, match="it holds more than 1,000,000 bytes"):
        read(tar({"a": bytes(2_000_000)}))


def test_archives_of_headers() -> None:
    """Headers without end, one before the other or one after the other, are damage, not a crash or a long wait."""
    announced = tarfile.TarInfo("././@PaxHeader")
    announced.type = tarfile.XHDTYPE
    with pytest.raises((ArchiveTooLarge, *ARCHIVE_ERRORS)):
        read(announced.tobuf() * 5000, largest=400_000_000)
    with pytest.raises(ArchiveTooLarge, match="it holds more than 100 files"):
        read(tarfile.TarInfo("x").tobuf() * 101)
