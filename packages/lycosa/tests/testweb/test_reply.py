"""Responses: content coding and conditional requests."""

from email.utils import formatdate

from lycosa.testweb import Web
from lycosa.testweb.reply import ServedDocument, finish


def test_finish_uses_accepted_codings(clean: Web, wild: Web) -> None:
    def seen(web: Web, accept: str) -> set[str | None]:
        pages = list(web.urls())[::20]
        return {web.response(u, headers={"Accept-Encoding": accept}).header("Content-Encoding") for u in pages}

    assert seen(clean, "gzip, br, zstd, deflate") == {"gzip", None}
    assert seen(wild, "gzip, br, zstd, deflate") == {"gzip", "br", "zstd", "deflate"}
    assert seen(wild, "gzip, br;q=0") == {"gzip"}
    assert seen(wild, "") == {None}


def test_finish_answers_conditional_requests(wild: Web) -> None:
    tagged = dated = 0
    for url in list(wild.urls())[::100]:
        response = wild.response(url)
        tag, modified = response.header("ETag"), response.header("Last-Modified")
        if tag:
            tagged += 1
            again = wild.response(url, headers={"If-None-Match": tag})
            assert (again.status, again.body, again.header("ETag")) == (304, b"", tag)
            assert wild.response(url, headers={"If-None-Match": '"other"'}).status == 200
        if modified:
            dated += 1
            assert wild.response(url, headers={"If-Modified-Since": modified}).status == 304
            stale = {"If-Modified-Since": formatdate(0, usegmt=True)}
            assert wild.response(url, headers=stale).status == 200
    assert tagged > 10
    assert dated > 10


def test_finish_prefers_gzip_over_plain_if_codec_is_refused() -> None:
    document = ServedDocument(b"text", codec="br")
    assert finish(document, {"accept-encoding": "br"}).header("Content-Encoding") == "br"
    assert finish(document, {"Accept-Encoding": "gzip, deflate"}).header("Content-Encoding") == "gzip"
    assert finish(document, {"Accept-Encoding": "*"}).header("Content-Encoding") == "br"
    assert finish(document, {"Accept-Encoding": "deflate"}).body == b"text"


def test_finish_tag_depends_on_codec_and_weakness() -> None:
    document = ServedDocument(b"text", tag="v1", weak=True)
    assert finish(document, {}).header("ETag") == 'W/"v1"'
    assert finish(document, {"Accept-Encoding": "gzip"}).header("ETag") == 'W/"v1-gzip"'
    assert finish(document, {"If-None-Match": '"v0", W/"v1-gzip"'}).status == 304


def test_finish_if_none_match_takes_precedence() -> None:
    document = ServedDocument(b"text", tag="v1", modified=1000)
    since = formatdate(2000, usegmt=True)
    assert finish(document, {"If-Modified-Since": since}).status == 304
    assert finish(document, {"If-Modified-Since": since, "If-None-Match": '"v0"'}).status == 200
    assert finish(document, {"If-Modified-Since": "yesterday"}).status == 200


def test_finish_errors_are_not_compressed() -> None:
    response = finish(ServedDocument(b"missing", status=404), {"Accept-Encoding": "gzip"})
    assert (response.status, response.body, response.header("content-encoding")) == (404, b"missing", None)
