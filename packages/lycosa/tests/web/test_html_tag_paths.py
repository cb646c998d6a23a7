"""Tag paths of links, and their bounds."""

from lycosa.core.types import Links
from lycosa.web.html import MAX_PATH, MAX_PATH_CHARS_PER_BYTE, MAX_PATH_TAGS, extract
from tables import each


def paths(html: str) -> list[str]:
    return extract(html.encode(), "http://a.test/").links.paths


@each(
    [
        ("<a href=b>x</a>", ["html body a"]),
        (
            "<div id=content><ul class=nav><li><a class=ref href=b>x</a></ul></div>",
            ["html body div#content ul.nav li a.ref"],
        ),
        (
            "<html class=js><body id=top class='home  page'><p>x <b>y <a href=b>x</a></b> <a href=c>y</a>",
            ["html.js body#top.home.page p b a", "html.js body#top.home.page p a"],
        ),
        # with tbody, as in the tree of a browser
        ("<table><tr><td><a href=b>x</a>", ["html body table tbody tr td a"]),
        ("<map><area href=b alt=x></map><iframe src=c></iframe>", ["html body map area", "html body iframe"]),
        ("<frameset><frame src=b></frameset>", ["html frameset frame"]),
        ("<div id='a b'><a id=i class='' href=b>x</a></div>", ["html body div#a_b a#i"]),
        (f"<div class='{' '.join('abcde')}'><a href=b>x</a></div>", ["html body div.a.b.c a"]),
        (
            f"<div id={'i' * 99}><x{'y' * 99}><a class={'c' * 99} href=b>x</a>",
            [f"html body div#{'i' * 32} x{'y' * 31} a.{'c' * 32}"],
        ),
        ("<meta http-equiv=refresh content='0; url=/new'><a href=b>x</a>", ["html body a", ""]),
        ("<a href=b>x</a><p><a href=b>x</a><a href='mailto:x'>m</a><a href=c>y</a>", ["html body a", "html body p a"]),
        ("no links", []),
    ]
)
def test_tag_paths_have_ids_and_classes(html: str, found: list[str]) -> None:
    assert found == paths(html)


def test_tag_paths_keep_nearest_tags() -> None:
    links = "".join(f"<div class=d{n}><a href=/{n}>x</a>" for n in range(40))
    last = " ".join(f"div.d{n}" for n in range(9, 40))
    assert f"{last} a" == paths(links)[-1]
    assert MAX_PATH_TAGS == len(paths(links)[-1].split())
    for n, path in enumerate(paths(links)):
        whole = ["html", "body", *(f"div.d{k}" for k in range(n + 1)), "a"]
        assert " ".join(whole[-MAX_PATH_TAGS:]) == path
    backwards = (
        "".join(f"<div class=d{n}>" for n in range(40)) + "<a href=/b>x</a>" + "</div>" * 20 + "<a href=/c>y</a>"
    )
    assert [f"{last} a", " ".join(["html", "body", *(f"div.d{n}" for n in range(20)), "a"])] == paths(backwards)


def test_tag_paths_cut_long_names_at_tag() -> None:
    found = paths(f"<div class={'c' * 30}>" * 20 + "<a href=/b>x</a>")
    assert [" ".join([f"div.{'c' * 30}"] * 14 + ["a"])] == found
    assert 491 == len(found[0]) <= MAX_PATH


def test_tag_paths_are_bounded_by_page_size() -> None:
    html = f"<div class={'c' * 30}>" * 13 + "".join(f"<a class=r{n} href=/{n}>x</a>" for n in range(900))
    found = paths(html)
    fits = [path for path in found if path]
    assert (900, fits) == (len(found), found[: len(fits)])
    room = MAX_PATH_CHARS_PER_BYTE * len(html) + 10_000
    assert room - 500 < sum(map(len, fits)) <= room < 900 * 460


def test_tag_paths_share_equal_strings() -> None:
    found = paths("<p><a href=/b>x</a><p><a href=/c>x</a>")
    assert found[0] is found[1]


def test_links_keep_cuts_paths() -> None:
    links = extract(b"<a href=/b>x</a><p><a href=/c>y</a>", "http://a.test/").links
    links.truncate(1)
    assert (["http://a.test/b"], ["html body a"]) == (links.urls, links.paths)
    assert [] == Links.to("b", "c").paths
