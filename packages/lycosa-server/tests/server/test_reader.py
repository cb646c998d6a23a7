from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turbohtml import parse

from lycosa_server import reader
from lycosa_server.reader import KEPT_TAGS, Readable, document, render_html, render_text

URL = "http://reef.test/dir/page"
FRAME = {"html", "head", "meta", "title", "link", "body", "header", "article", "details", "summary", "footer"}
LINK = {"href", "rel", "target"}

HOSTILE = {
    "script": "<script>alert(1)</script>coral",
    "script with a broken end": "<script>alert(1)</script foo>coral<script >",
    "script inside a paragraph": "<p>coral<scr<script>ipt>alert(1)</script></p>",
    "event handlers": '<p onclick="alert(1)" onmouseover=alert(1)>coral<img src=x onerror=alert(1) alt="a reef">',
    "svg": "<svg onload=alert(1)><script>alert(1)</script><a xlink:href='javascript:alert(1)'>x</a></svg>coral",
    "javascript link": '<a href="javascript:alert(1)">coral</a>',
    "javascript link in mixed case": '<a href="JaVaScRiPt:alert(1)">coral</a>',
    "javascript link with tabs": '<a href="java\tscr\nipt:alert(1)">coral</a>',
    "javascript link with entities": '<a href="&#106;avascript&colon;alert(1)">coral</a>',
    "javascript link after control characters": '<a href="\x01\x1f javascript:alert(1)">coral</a>',
    "data link": '<a href="data:text/html,<script>alert(1)</script>">coral</a>',
    "vbscript link": '<a href="vbscript:msgbox(1)">coral</a>',
    "blob and file links": '<a href="blob:http://a/1">coral</a><a href="file:///etc/passwd">x</a>',
    "link with a password": '<a href="http://me:secret@reef.test/">coral</a>',
    "quotes in a link": "<a href='http://a.test/\"onmouseover=\"alert(1)'>coral</a>",
    "style element": "<style>body{background:url(http://evil.test/)}</style>coral",
    "style attribute": '<p style="background:url(http://evil.test/);position:fixed">coral</p>',
    "import": "<link rel=stylesheet href=http://evil.test/x.css>coral",
    "meta refresh": '<meta http-equiv=refresh content="0;url=http://evil.test/">coral',
    "base": "<base href=http://evil.test/ target=_top>coral",
    "javascript base": '<base href="javascript:alert(1)//"><a href="x">coral</a>',
    "form": "<form action=http://evil.test/><input name=password><button formaction=javascript:alert(1)>coral</button>",
    "iframe": "<iframe src=http://evil.test/ srcdoc='<script>alert(1)</script>'></iframe>coral",
    "object and embed": "<object data=x.swf><param name=a></object><embed src=x>coral",
    "noscript mutation": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>coral",
    "title mutation": "<title><img src=x onerror=alert(1)></title>coral",
    "textarea mutation": "<textarea><img title='</textarea><img src=x onerror=alert(1)>'></textarea>coral",
    "xmp": "<xmp><img src=x onerror=alert(1)></xmp>coral",
    "plaintext": "coral<plaintext><img src=x onerror=alert(1)>",
    "math mutation": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></table></math>coral",
    "template": "<template><script>alert(1)</script><p>x</p></template>coral",
    "conditional comment": "<!--[if IE]><script>alert(1)</script><![endif]-->coral",
    "comment that ends early": "<!--><script>alert(1)</script>-->coral",
    "cdata": "<![CDATA[<script>alert(1)</script>]]>coral",
    "markup as text": "&lt;script&gt;alert(1)&lt;/script&gt; coral",
    "table mutation": "<table><a href=javascript:alert(1)>coral<td><a href=x>y</table>",
    "nested links": "<a href=x>coral<a href=y>reef<p>z</a></a>",
    "video": "<video src=x onloadstart=alert(1)><source src=y></video><audio src=z></audio>coral",
    "image set": "<picture><source srcset=http://evil.test/x><img srcset=http://evil.test/y></picture>coral",
    "custom elements": "<x-evil onclick=alert(1)><slot name=a>coral</slot></x-evil>",
    "marquee and keygen": "<marquee onstart=alert(1)>coral</marquee><keygen autofocus onfocus=alert(1)>",
    "details": "<details open ontoggle=alert(1)>coral</details>",
    "null characters": "<scr\0ipt>alert(1)</scr\0ipt><p>co\0ral</p>coral",
    "half a character": "<p>coral \ud800 reef",
    "frameset": "<frameset onload=alert(1)><frame src=javascript:alert(1)></frameset>coral",
    "processing instruction": "<?xml version='1.0'?><?php alert(1) ?>coral",
    "unclosed tag": "coral<img src=x onerror=alert(1) alt=",
    "isindex": "<isindex type=image src=x onerror=alert(1)>coral",
}


class Reread(HTMLParser):
    """Second parser, which verifies the markup."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def check(markup: str, frame: bool = False) -> None:
    """Check with both parsers that only permitted markup is left."""
    allowed = KEPT_TAGS | {"tbody"} | (FRAME if frame else set())
    read = Reread()
    read.feed(markup)
    elements = [(element.tag, dict(element.attrs)) for element in parse(markup).select("*")] if markup else []
    outside = {"html", "head", "body"}
    for tag, attributes in [*read.tags, *((t, a) for t, a in elements if t not in outside)]:
        assert tag in allowed, (tag, markup[:500])
        if tag == "a":
            assert LINK == set(attributes)
            target = attributes["href"]
            assert isinstance(target, str)
            assert urlsplit(target).scheme in ("http", "https")
            result = attributes["rel"] if isinstance(attributes["rel"], str) else " ".join(attributes["rel"])
            assert ("noreferrer noopener", "_blank") == (result, attributes["target"])
        elif not frame or tag in KEPT_TAGS:
            assert {} == attributes, (tag, attributes)


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_render_html_keeps_only_safe_markup(source: str) -> None:
    shown = render_html(source, URL)
    check(shown.main)
    check(shown.rest)
    assert "javascript:" not in (shown.main + shown.rest).lower().replace("&lt;", "")
    whole = document(shown, source, URL, 1.0)
    check(whole, frame=True)
    assert whole.encode("utf-8", "replace")


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"form"}))
def test_render_html_keeps_words_of_hostile_pages(name: str) -> None:
    shown = render_html(HOSTILE[name], URL)
    assert "coral" in shown.main + shown.rest


_TAGS = st.sampled_from(sorted(KEPT_TAGS | reader.DROPPED_TAGS | set(reader.REPLACED_TAGS) | {"img", "title", "x-y"}))
_PIECE = st.one_of(
    st.builds(lambda tag: f"<{tag}>", _TAGS),
    st.builds(lambda tag: f"</{tag}>", _TAGS),
    st.builds(lambda tag, value: f'<{tag} href="{value}" onclick="{value}" alt={value}>', _TAGS, st.text(max_size=8)),
    st.text(max_size=12),
    st.sampled_from(
        ["<", ">", "<!--", "-->", "&lt;", "&#x3c;script", "\0", "javascript:", "]]>", '"', "'", "<a href='"]
    ),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(_PIECE, max_size=30).map("".join))
def test_render_html_keeps_only_safe_markup_of_random_input(source: str) -> None:
    shown = render_html(source, URL)
    check(shown.main)
    check(shown.rest)
    check(document(shown, source, URL, 0.0), frame=True)


def test_render_html_keeps_structure() -> None:
    source = (
        "<h1>Reefs</h1><div>One <b>bold</b> and <i>slanted</i>.</div><div>Two.</div><ul><li>a<li>b</ul>"
        "<table><tr><th>x<td><td>y</table><blockquote>said</blockquote><pre>a\n  b</pre><p>H<sub>2</sub>O<br>wet"
    )
    assert (
        "<h1>Reefs</h1><div>One <strong>bold</strong> and <em>slanted</em>.</div><div>Two.</div>"
        "<ul><li>a</li><li>b</li></ul><table><tr><th>x</th><td></td><td>y</td></tr></table>"
        "<blockquote>said</blockquote><pre>a\n  b</pre><p>H<sub>2</sub>O<br>wet</p>"
    ) == render_html(source, URL).main


def test_render_html_separates_main_content() -> None:
    shown = render_html(
        "<nav><a href=/a>Menu</a></nav><main><p>Coral lives here.</p></main><footer>Imprint</footer>", URL
    )
    assert "<div><p>Coral lives here.</p></div>" == shown.main
    assert "Menu" in shown.rest
    assert "Imprint" in shown.rest


def test_render_html_resolves_links() -> None:
    shown = render_html('<p>See the coral <a href="../b?utm_source=x&amp;q=1">there and then</a> in the sea.', URL)
    assert 'href="http://reef.test/b?q=1"' in shown.main
    shown = render_html(
        '<base href="http://other.test/"><p>See the coral <a href="b">there and then</a> in the sea.', URL
    )
    assert 'href="http://other.test/b"' in shown.main


def test_render_html_replaces_images_by_their_text() -> None:
    shown = render_html("<p>Look: <img src=a.png alt='A <b>reef</b>'> and <img src=b.png></p>", URL)
    assert (
        "<p>Look: [A &lt;b&gt;reef&lt;/b&gt;] and</p>" == shown.main.replace("  ", " ").replace(" </p>", "</p>").strip()
    )


@pytest.mark.parametrize("source", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<blockquote>", "<a href=x>"])
def test_render_html_limits_nesting(source: str) -> None:
    shown = render_html(source * 15_000 + "coral", URL)
    assert "coral" in shown.main + shown.rest
    assert (shown.main + shown.rest).count("</") <= 2 * reader.MAX_DEPTH + 2


def test_render_html_limits_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_CHARACTERS", 1_000)
    shown = render_html("<p>coral</p>" * 1_000, URL)
    assert shown.cut
    assert 900 < shown.main.count("coral") * 5 < 1_100
    assert "The page goes on" in document(shown, "", URL, 0.0)
    assert render_text("x" * 2_000).cut
    assert len(render_html("x" * 5_000, URL).main) < 1_100


def test_render_html_limits_tokens() -> None:
    for markup in ("<b>x", "<table><tr><td>x", "<p>x</p>"):
        shown = render_html(f"<p>first</p>{markup * reader.MAX_TOKENS}<p>last</p>", URL)
        assert shown.cut
        assert "first" in shown.main
        assert "last" not in shown.main + shown.rest
    assert not render_html("<p>x</p>" * 1_000, URL).cut


def test_render_text_keeps_lines_and_escapes_markup() -> None:
    assert Readable("<pre>a &lt;b&gt;\n  c\ufffd</pre>\n") == render_text("a <b>\n  c\x1b")


def test_document_without_content_has_message() -> None:
    assert "Nothing readable" in document(Readable(""), "", URL, 0.0)


def test_document_accepts_only_known_themes() -> None:
    made = [document(Readable(""), "T", URL, 0.0, theme) for theme in ("dark", "light", "system", '"><script>')]
    heads = [text.partition("<head>")[0].split("<html ")[1].strip() for text in made]
    assert ['lang="" data-theme="dark">', 'lang="" data-theme="light">', 'lang="">', 'lang="">'] == heads


def test_csp_permits_nothing_active() -> None:
    parts = dict(part.strip().partition(" ")[::2] for part in reader.CSP.split(";"))
    assert {
        "sandbox": "allow-popups allow-popups-to-escape-sandbox",
        "default-src": "'none'",
        "style-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    } == parts
