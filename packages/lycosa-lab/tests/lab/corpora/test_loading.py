from __future__ import annotations

from collections import Counter
from pathlib import Path

from input_errors import raises_input_error
from lycosa.training.corpus import Account
from lycosa_lab.corpora.loading import kind_of, make_index, read_labels
from lycosa_lab.corpus_index import CorpusIndex
from replay_helpers import http_answer, record, write


def test_read_labels_accepts_all_formats(tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    rows = [
        "http://A.test:80/x#top\tart\tcornell",
        "http://a.test/x\tScience / Physics\ttexas",
        "http://a.test/x\tart\ttexas",
        "http://a.test/y\ta\u2028b\x85c\ttexas",
        "http://a.test/z\t\ttexas",
        "not an address\tart",
    ]
    account = Account()
    for titles in ("", "url\tclass\tuniversity\n"):
        file.write_bytes((titles + "\n".join(rows) + "\n").encode())
        found = read_labels(file, account)
        assert ["art", "Science/Physics"] == found["http://a.test/x"]
        assert 2 == len(found)
    assert {"rows without a URL or a class in the labels": 2 + 2} == account.left_out
    assert ["cornell", "texas"] == read_labels(file, Account(), "university")["http://a.test/x"]
    assert ["cornell", "texas"] == read_labels(file, Account(), "3")["http://a.test/x"]
    with raises_input_error("unknown-name", "class, university"):
        read_labels(file, Account(), "category")


def html(*links: str, text: str = "coral reefs") -> bytes:
    return http_answer(f"<p>{text} {' '.join(f'<a href={link}>x</a>' for link in links)}".encode())


PAGES = [
    record("http://a.test/1", html("/2", "/old")),
    record("http://a.test/2", html("/1")),
    record("http://a.test/3", html("/2")),
]


def left_out(index: CorpusIndex) -> dict[str, int]:
    return dict(index.facts["left_out"])


def test_make_index_excluded_pages_are_counted(tmp_path: Path) -> None:
    file = str(write(tmp_path / "x.warc", *PAGES))
    index = make_index([file], tmp_path / "x", exclude=["/2"])
    assert (["http://a.test/1", "http://a.test/3"], 3) == (list(index.names), index.facts["dead"])
    assert {"excluded by '/2'": 1} == left_out(index)
    assert ["http://a.test/3"] == list(make_index([file], tmp_path / "y", exclude=["http://*/[12]"]).names)
    with raises_input_error("bad-pattern", "--exclude ''"):
        make_index([file], tmp_path / "z", exclude=[""])


def test_kind_of_recognises_each_source(tmp_path: Path) -> None:
    write(tmp_path / "a.warc.gz", *PAGES)
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "crawl.toml").write_text("")
    (tmp_path / "tree").mkdir()
    for name in ("edges.tsv", "web.txt.gz", "what.pdf"):
        (tmp_path / name).write_bytes(b"")
    found = {name: kind_of(str(tmp_path / name)) for name in ("", "a.warc.gz", "crawl", "tree", "edges.tsv")}
    assert {"": "archive", "a.warc.gz": "archive", "crawl": "crawl", "tree": "tree", "edges.tsv": "graph"} == found
    assert "graph" == kind_of(str(tmp_path / "web.txt.gz"))
    assert "embedded" == kind_of("embedded:pages=30") == kind_of("embedded")
    for wrong, code in (("what.pdf", "unknown-format"), ("nothing", "missing-file")):
        with raises_input_error(code):
            kind_of(str(tmp_path / wrong))


def test_make_index_passes_parameters_to_embedded_web(tmp_path: Path) -> None:
    index = make_index(["embedded:pages=40,seed=3,hosts=4"], tmp_path / "x")
    assert 40 == len(index)
    assert index.fingerprint != make_index(["embedded:pages=40,seed=4,hosts=4"], tmp_path / "y").fingerprint
    with raises_input_error("unknown-option"):
        make_index(["embedded:sites=3"], tmp_path / "z")
    joined = make_index(["embedded:pages=40,seed=3,hosts=4", str(write(tmp_path / "x.warc", *PAGES))], tmp_path / "j")
    assert Counter({True: 40, False: 3}) == Counter("localhost" in name for name in joined.names)


def test_make_index_rejects_conflicting_options(tmp_path: Path) -> None:
    warc, edges = write(tmp_path / "x.warc", *PAGES), tmp_path / "e.tsv"
    edges.write_text("1\t2\n")
    for sources, more, code, match in (
        ([warc], {"scores": edges}, "conflicting-options", "--scores"),
        ([edges], {"labels": edges}, "conflicting-options", "--labels"),
        ([edges, warc], {}, "conflicting-options", "only source"),
        ([warc], {"column": "class"}, "missing-option", "--column"),
    ):
        with raises_input_error(code, match):
            make_index([str(one) for one in sources], tmp_path / "x", **more)  # type: ignore[arg-type]
