"""Crawls and WARC files as datasets of Ray Data, read in parallel on one machine or a cluster.

    import lycosa_cluster.datasets

    pages = lycosa_cluster.datasets.read_crawl("reefs")                  # the relevant pages, a row each
    responses = lycosa_cluster.datasets.read_warc("archive/*.warc.gz")   # any WARC files, a row per response

On a cluster the files must be on a shared file system.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.collection.opened import Collection
from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.replay.places import archives
from lycosa.replay.recording import Recording, Spot
from lycosa.replay.records import Damaged
from lycosa.training.page_loading import page_in
from lycosa.web import html
from lycosa.web.inflate import BadEncoding, inflate

MISSING = "this needs Ray Data, which is not installed: pip install lycosa-cluster"

PAGES = 500  # default number of a crawl's pages per task
MAX_BODY_BYTES = 64 << 20  # maximum unpacked bytes of a body


def _data() -> Any:
    try:
        import ray.data
    except ImportError as error:
        raise InputError("missing-package", MISSING) from error
    return ray.data


def read_crawl(
    directory: str | Path,
    *,
    everything: bool = False,
    copies: bool = False,
    threshold: float | None = None,
    whole_text: bool = False,
    text: bool = True,
    parallelism: int = 0,
) -> Any:
    """Return the relevant pages of a crawl, or all with `everything`, as a `ray.data.Dataset`.

    The columns are those of `lycosa.open(directory)`: url, title, text, relevance_now, relevant, language, fetched ...
    Without `text` the archive is not read. `parallelism` is the number of tasks.
    """
    data = _data()
    path = Path(directory).absolute()
    collection = Collection(path, threshold=threshold, whole_text=whole_text)
    count = collection.count(everything=everything, copies=copies)
    tasks = parallelism or max(1, -(-count // PAGES))
    how = {"everything": everything, "copies": copies, "text": text}
    given = {"threshold": threshold, "whole_text": whole_text}
    parts = [{"path": str(path), "part": part, "of": tasks} for part in range(tasks)]
    return data.from_items(parts, override_num_blocks=tasks).flat_map(_Pages(given, how))


class _Pages:
    """Reader of some pages of a crawl in a task of Ray Data."""

    def __init__(self, given: dict[str, Any], how: dict[str, Any]) -> None:
        self.given, self.how = given, how

    def __call__(self, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        collection = Collection(Path(row["path"]), **self.given)
        for page in collection.pages(**self.how, part=(int(row["part"]), int(row["of"]))):
            yield page.as_dict()


def read_warc(paths: str | Path | Sequence[str | Path], *, text: bool = True) -> Any:
    """Return the responses in WARC files of any origin as a `ray.data.Dataset`, with a task per file.

    `paths` are files, directories or patterns. Columns: url, date, status, content_type, body (unpacked), revisit,
    warc_file; and for HTML, with `text`, title, language and text. Damaged records are skipped. A revisit of a record
    in another file has no body.
    """
    data = _data()
    named = [paths] if isinstance(paths, str | Path) else list(paths)
    files: list[Path] = []
    for name in map(str, named):
        found = sorted(glob.glob(name)) if glob.has_magic(name) and not Path(name).exists() else [name]
        files += archives([Path(one).absolute() for one in found])
    if not files:
        raise InputError("missing-file", f"no such WARC file: {', '.join(map(str, named))}")
    rows = [{"path": str(file)} for file in dict.fromkeys(files)]
    return data.from_items(rows, override_num_blocks=len(rows)).flat_map(_Responses(text))


class _Responses:
    """Reader of a WARC file in a task of Ray Data."""

    def __init__(self, text: bool) -> None:
        self.text = text

    def __call__(self, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        with Recording([Path(row["path"])]) as recording:
            for held in recording.archives:
                for at in np.argsort(held.index.columns["offset"], kind="stable").tolist():
                    try:
                        response = held.read(at)
                        if response.revisit:
                            response = recording.response(response.url, [Spot(held, at)]) or response
                    except Damaged:
                        continue
                    yield self._row(response, held.path.name)

    def _row(self, response: Any, file: str) -> dict[str, Any]:
        kind = response.header(b"content-type")
        try:
            body, _ = inflate(response.body, response.header(b"content-encoding"), MAX_BODY_BYTES)
        except BadEncoding:
            body = b""
        page = Page("ok")
        if self.text and body and kind.partition(";")[0].strip().lower() in html.HTML:
            page = page_in(response, response.url)
        return {
            "url": response.url, "date": datetime.fromtimestamp(response.date / 1e6, UTC), "status": response.status,
            "content_type": kind, "body": bytes(body), "revisit": response.revisit, "warc_file": file,
            "title": page.title, "language": page.language, "text": page.main or page.text,
        }  # fmt: skip
