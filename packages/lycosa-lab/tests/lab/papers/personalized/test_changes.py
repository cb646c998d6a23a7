from __future__ import annotations

from random import Random

from lycosa.core.types import Links, Page
from lycosa.revisit.detectors import checksum
from lycosa.web.html import CLOSE, OPEN
from lycosa_lab.papers.personalized import changes
from lycosa_lab.papers.personalized.changes import CHANGES, DETECTORS, as_xml, levels, page_html

PAGE = """<!DOCTYPE html>
<html>
<head>
<title>Reefs</title>
</head>
<body>
<p>Corals build reefs.</p>
<p>Read of <a href="/atolls">atolls</a> too.</p>
</body>
</html>"""


def test_checksum_collides_for_anagrams() -> None:
    assert checksum("<p>silent</p>") == checksum("<p>listen</p>")
    assert checksum("<p>aad</p>") != checksum("<p>abc</p>")  # the letters have the same sum, but fewer are distinct


def test_levels_ignore_stray_end_tags() -> None:
    assert levels("<div>a<br>b<i>c</i></div></b><p>")[2:] == [[("div", 2), ("p", 0)], [("br", 0), ("i", 0)]]


def test_levels_with_content_compare_texts() -> None:
    one, other = '<p class="a">text</p>', '<p class="a">next</p>'
    assert levels(one) == levels(other)
    assert levels(one, content=True) != levels(other, content=True)
    assert levels(one, content=True) == levels('<p class="a">\n text </p>', content=True)


def test_as_xml_closes_and_escapes() -> None:
    assert as_xml("<p title='a\"b'>1 &lt; 2<br></p>") == (
        '<page><html><body><p title="a&quot;b">1 &lt; 2<br/></p></body></html></page>'
    )


def test_page_html_writes_paragraphs_and_links() -> None:
    links = Links.to("http://a.test/?x=1&y=2")
    source = page_html(Page("ok", title="A & B", marked=f"One\n\nTwo {OPEN}link{CLOSE}.", links=links))
    assert "<title>A &amp; B</title>" in source
    assert '<p>One</p>\n<p>Two <a href="http://a.test/?x=1&amp;y=2">link</a>.</p>' in source


SEEN = {
    "fetched again, the same": (False, False, False, False),
    "empty lines between paragraphs": (True, False, False, True),
    "a comment in the source": (True, False, False, True),
    "an attribute with a number that changes": (True, False, True, True),
    "a letter becomes the next one": (True, False, True, True),
    "another word": (True, False, True, True),
    "letters of a word in another order": (False, False, True, True),
    "a link leads elsewhere": (True, False, True, True),
    "a paragraph becomes a quotation": (True, True, True, True),
    "a paragraph more": (True, True, True, True),
    "a paragraph less": (True, True, True, True),
    "two paragraphs change places": (False, False, True, True),
}


def test_detectors_report_each_change_as_expected() -> None:
    plain = PAGE.replace('<a href="/atolls">', "").replace("</a>", "")
    seen = {}
    for name, (_, make) in CHANGES.items():
        old = plain if "places" in name else PAGE
        new = make(old, Random(3))
        assert new is not None, name
        seen[name] = tuple(keep(old) != keep(new) for keep in DETECTORS.values())
    assert SEEN == seen


def test_changes_are_applied_only_where_possible() -> None:
    possible = {
        name for name, (_, make) in CHANGES.items() if make("<html><body></body></html>", Random(0)) is not None
    }
    assert possible == {"fetched again, the same", "a comment in the source", "an attribute with a number that changes"}


def test_change_claims_follow_detections() -> None:
    every = dict.fromkeys(DETECTORS, 10)
    none = dict.fromkeys(DETECTORS, 0)
    good, bad = (
        [changes.Detected("same", "none", 10, idle)]
        + [
            changes.Detected(name, sort, 10, by)
            for name, (sort, _) in CHANGES.items()
            if sort in ("content", "structure")
        ]
        for idle, by in ((none, every), (every, none))
    )
    for seen, xml, verdict in ((good, 50, "holds"), (bad, 99, "does not hold")):
        claims = [*(claim(seen) for claim in changes.ON_CHANGES), changes.xml_is_smaller(100, xml)]
        assert [verdict] * 4 == [claim.verdict for claim in claims]
    assert "another word (0.0% seen)" in claims[0].evidence


def test_editions_of_page_differ() -> None:
    pairs = list(changes.editions(3))
    assert len(pairs) == 3
    assert all(old != new and "Edition 1." in old and "Edition 2." in new for old, new in pairs)
