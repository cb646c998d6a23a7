"""Benchmark corpora, pinned by the digests of their files and the checksums of their topics."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.training.record import NEGATIVE_LABELS
from lycosa_lab.corpora.loading import open_corpus
from lycosa_lab.corpus_index import FACTS, CorpusIndex

DEVELOPMENT, REPORT = "development", "report"  # halves of the topics: one for development, one for reports

# minimum and maximum number of pages of a topic
MIN_TOPIC_PAGES, MAX_TOPIC_PAGES = 25, 600
MAX_TOPIC_SHARE = 1 / 3  # maximum share of the corpus; a larger class is a catch-all instead of a topic

EMBEDDED, LARGE, SMALL = "embedded", "embedded-large", "embedded-small"


@dataclass(frozen=True)
class BenchmarkCorpus:
    """Source files, labels and checksums of a benchmark corpus."""

    source: str  # a file in the directory of corpora, or a source of `lycosa lab index`
    labels: str = ""
    sha256: tuple[str, ...] = ()  # digests of source and labels; empty for generated corpora
    topics: int = 8  # default number of topics
    halves: dict[str, str] = field(default_factory=dict, hash=False)  # checksums of the topic names in each half


CORPORA = {
    # Wikipedia for Schools, 2007, without the lines that print a page's classes
    "wikispeedia-blind": BenchmarkCorpus(
        "wikispeedia-blind.warc.gz", "wikispeedia.labels.tsv",
        (
            "f610b50392255b44b481c9dec2b1dedbe326d665650f8e87ad9815c2b3f32784",
            "82568c6b53ddfce21731d7df426f02463dcb58d99c67b09b5225c51e6e3f22db",
        ),
        12, {DEVELOPMENT: "c5d3f96e501df971", REPORT: "b22cf261bde940b7"},
    ),
    # computer science departments, 1996, hundreds of hosts
    "webkb": BenchmarkCorpus(
        "webkb.warc.gz", "webkb.labels.tsv",
        (
            "bba9596552201167bc218057d89c7f3d3a1bded0e16bd7e58204daee2bf87cf6",
            "bb529e6d7c215fc4e65ab437995e93862025cae759f5f5735a7cbaf6d8d0ec7d",
        ),
        3, {DEVELOPMENT: "01b56d5d37b74ad3", REPORT: "c6f5f8152503258e"},
    ),
    # Mozilla's archived developer documentation, by authors' tags
    "mdn": BenchmarkCorpus(
        "mdn.warc.gz", "mdn.labels.tsv",
        (
            "aa001ea103e8a00f2aca4b77988f612bca6e6b1072633717602f1717670ead5e",
            "68fc8085de2ca51e127c0891188c97a2df08f7b30d47ffaa60a6c6804baa483a",
        ),
        7, {DEVELOPMENT: "a809cea3b90739cf", REPORT: "620fd2ec79f7ee1f"},
    ),
    EMBEDDED: BenchmarkCorpus(
        "embedded:pages=3000,seed=1", halves={DEVELOPMENT: "dc374c976e0bf236", REPORT: "716e0ab638ed4ffe"}
    ),
    LARGE: BenchmarkCorpus("embedded:pages=15000,seed=1"),  # for budgets of 5,000 pages, with --full
    SMALL: BenchmarkCorpus("embedded:pages=600,seed=1", topics=2),  # for --quick
}  # fmt: skip


@dataclass
class AvailableCorpus:
    """An opened benchmark corpus with the topics of one half."""

    name: str
    index: CorpusIndex
    topics: list[str]  # topics of the half, in order of use
    files: dict[str, str] = field(default_factory=dict)  # digests of its source files
    usual: int = 8

    def facts(self, topics_used: Sequence[str]) -> dict[str, Any]:
        return {
            "source": self.index.facts.get("source"), "files": self.files, "fingerprint": self.index.fingerprint,
            "pages": len(self.index), "links": self.index.facts.get("links"), "topics": list(topics_used),
            "topics of the half": len(self.topics), "checksum of the half": checksum(self.topics),
        }  # fmt: skip


def open_corpora(
    names: Sequence[str],
    corpora: Path | None,
    half: str,
    keep: Path,
    *,
    quick: bool,
    full: bool,
    progress: ProgressCallback = no_progress,
) -> list[AvailableCorpus]:
    """Open the named corpora, or all available ones; missing indexes are built under `keep`."""
    if not names and quick and corpora is None:
        names = [SMALL]
    elif not names:
        names = [name for name, one in CORPORA.items() if corpora and one.sha256 and (corpora / one.source).is_file()]
        if corpora and not names:
            files = ", ".join(one.source for one in CORPORA.values() if one.sha256)
            raise InputError("missing-file", f"{corpora} contains no benchmark corpus ({files}): omit --corpora")
        names = [*names, *([] if quick else [EMBEDDED]), *([LARGE] if full else [])]
    return [
        _open_known(name, corpora, half, keep, progress) if name in CORPORA else _open_user_index(name, half)
        for name in names
    ]


def _open_known(name: str, corpora: Path | None, half: str, keep: Path, progress: ProgressCallback) -> AvailableCorpus:
    corpus, files = CORPORA[name], {}
    source, labels = corpus.source, ""
    if corpus.sha256:
        if corpora is None:
            raise InputError("missing-option", f"corpus {name} needs {source}: give its directory with --corpora DIR")
        source, labels = str(corpora / source), str(corpora / corpus.labels)
        for path, known in zip((source, labels), corpus.sha256, strict=True):
            try:
                with open(path, "rb") as file:
                    digest = files[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error
            if digest != known:
                raise InputError(
                    "wrong-file",
                    f"{path} is not the file of the benchmark: its SHA-256 begins with {digest[:12]}, not "
                    f"{known[:12]}; to use it anyway, index it and give the index with --corpus",
                )
    index = open_corpus(source, keep, progress, labels=labels)
    return AvailableCorpus(
        name, index, pinned_topics(index, half, name, corpus.halves.get(half, "")), files, corpus.topics
    )


def _open_user_index(name: str, half: str) -> AvailableCorpus:
    """Open an index of the user, with topics chosen by the rule of the benchmark."""
    if not (Path(name) / FACTS).is_file():
        raise InputError("unknown-name", f"unknown corpus {name!r}: give an index or one of {', '.join(CORPORA)}")
    index = CorpusIndex.open(name)
    if not index.has_text or not index.classes:
        raise InputError("no-text", f"{name} has no text or no classes: the benchmark needs both")
    return AvailableCorpus(
        Path(name).resolve().name.removesuffix(".index"), index, pinned_topics(index, half, name, "")
    )


def half_of(name: str) -> str:
    """Return the half a topic belongs to, by the last bit of its checksum: the same in every corpus."""
    return REPORT if zlib.crc32(name.encode()) % 2 else DEVELOPMENT


def is_within(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}/")


def topics_of_half(index: CorpusIndex, half: str) -> list[str]:
    """Return the disjoint topics of a half in hash order: those of a fitting size first, then larger ones."""
    sizes = {
        name: size
        for name, size in index.sizes().items()
        if name.casefold() not in NEGATIVE_LABELS and half_of(name) == half
    }
    order = sorted(sizes, key=lambda name: (zlib.crc32(name[::-1].encode()), name))
    fitting = [name for name in order if MIN_TOPIC_PAGES <= sizes[name] <= MAX_TOPIC_PAGES]
    larger = [name for name in order if MAX_TOPIC_PAGES < sizes[name] <= MAX_TOPIC_SHARE * len(index)]
    chosen: list[str] = []
    for name in [*fitting, *larger]:
        if not any(is_within(name, other) or is_within(other, name) for other in chosen):
            chosen.append(name)
    return chosen


def checksum(names: Sequence[str]) -> str:
    """Return a checksum of a set of names.

    >>> checksum(["b", "a"]) == checksum(["a", "b"]), checksum(["a"]) == checksum(["a", "b"]), len(checksum([]))
    (True, False, 16)
    """
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]


def pinned_topics(index: CorpusIndex, half: str, name: str, pinned: str) -> list[str]:
    names = topics_of_half(index, half)
    if not names:
        raise InputError("too-few-pages", f"no class in the {half} half of {name} has {MIN_TOPIC_PAGES} pages or more")
    if pinned and checksum(names) != pinned:
        raise InputError(
            "wrong-file",
            f"the topics of {name}, {half} half, differ from the benchmark's: their checksum is "
            f"{checksum(names)}, not {pinned}; to use this corpus anyway, give its index with --corpus",
        )
    return names
