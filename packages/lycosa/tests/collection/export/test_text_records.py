"""Tests of the records export."""

from __future__ import annotations

import io
from types import SimpleNamespace

from lycosa.collection.export.text import write_records


def test_write_records_cleans_titles() -> None:
    records = [["http://a.test/1", "Reefs\x1b[31m of\tthe\nsea\x07"], ["http://a.test/2", "Atolls"]]
    visits = [SimpleNamespace(data={"records": records}), SimpleNamespace(data={"records": records[:1]})]
    out = io.BytesIO()
    done = write_records(SimpleNamespace(pages=lambda: enumerate(visits)), out)  # type: ignore[arg-type]  # all it asks for
    assert (2, []) == (done.pages, done.remarks)
    lines = out.getvalue().decode().splitlines()
    assert ["http://a.test/1", "http://a.test/2"] == [line.split("\t")[0] for line in lines]
    assert [2, 2] == [len(line.split("\t")) for line in lines]
    assert out.getvalue().decode().replace("\n", "").replace("\t", "").isprintable()
