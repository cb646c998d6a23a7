"""Tests of reading untrusted tar archives."""

from __future__ import annotations

import io
import tarfile

import pytest

from lycosa.store.unpacking import ARCHIVE_ERRORS, ArchiveTooLarge, iter_files


def read(packed: bytes, max_bytes: int = 1_000_000, max_files: int = 100) -> dict[str, bytes]:
    return {str(name): content.read() for name, content in iter_files(io.BytesIO(packed), max_bytes, max_files)}


def tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def test_iter_files_yields_regular_files() -> None:
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
def test_damaged_archives_raise_archive_errors(packed: bytes) -> None:
    with pytest.raises(ARCHIVE_ERRORS):
        read(packed)


def test_iter_files_limits_size() -> None:
    with pytest.raises(ArchiveTooLarge, match="more than 1,000,000 bytes"):
        read(tar({"a": bytes(2_000_000)}))


def test_iter_files_limits_members() -> None:
    announced = tarfile.TarInfo("././@PaxHeader")
    announced.type = tarfile.XHDTYPE
    with pytest.raises((ArchiveTooLarge, *ARCHIVE_ERRORS)):
        read(announced.tobuf() * 5000, max_bytes=400_000_000)
    with pytest.raises(ArchiveTooLarge, match="more than 100 files"):
        read(tarfile.TarInfo("x").tobuf() * 101)
