"""Words of URLs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.text.tokens import MAX_URL_LENGTH, url_words
from tables import each


@each(
    [
        ("http://example.com/", "example"),
        ("https://www.coral-reefs.org/bleaching", "coral reefs bleaching"),
        ("http://en.wikipedia.org/wiki/Coral_reef", "en wikipedia wiki Coral reef"),
        ("http://news.bbc.co.uk/nature", "news bbc nature"),
        ("http://www.aims.gov.au/reef", "aims reef"),
        ("http://co.uk/reef", "co reef"),
        ("http://org.example/reef", "org reef"),
        ("http://user:secret@example.com:8080/reef", "example reef"),
        ("http://192.168.0.1/reef", "reef"),
        ("http://[2001:db8::1]:80/reef", "reef"),
        ("http://localhost/reef", "reef"),
        ("http://example.com?q=reef", "example q reef"),
        ("http://example.com#reef", "example"),
        ("http://xn--mnchen-3ya.de/", "münchen"),
        ("http://xn--9999999999\u00e9.de/", ""),
    ]
)
def test_url_words_of_hosts_drop_suffix(url: str, expected: str) -> None:
    assert expected == url_words(url)


@each(
    [
        ("/coralReefs/GreatBarrierReef", "coral Reefs Great Barrier Reef"),
        ("/HTMLParser/iPhone/eBay", "HTML Parser iPhone eBay"),
        ("/coral-reef_life.and~fish", "coral reef life and fish"),
        ("/index.html", "index"),
        ("/reef.PHP5", "reef"),
        ("/reef.pdf", "reef pdf"),
        ("/html/reef.php/", "html reef php"),
        ("/2016/03/21/reef", "2016 reef"),
        ("/12016/20161/reef20", "reef20"),
        ("/reef2016", "reef 2016"),
        ("/mp3/h2o/covid19", "mp3 h2o covid19"),
        ("/show?itemId=80231&word=coral+reef", "show item Id word coral reef"),
        ("/M%C3%BCnchen/%E7%8F%8A%E7%91%9A?q=r%C3%A9cif%20corallien", "München 珊瑚 q récif corallien"),
        ("/100%/%zz/%ff", "zz"),
        ("", ""),
    ]
)
def test_url_words_split_paths_and_queries(path: str, expected: str) -> None:
    assert f"x {expected}".strip() == url_words(f"http://x.y{path}")


@each([("coral reef 7", "coral reef"), ("n0", "n0"), ("", "")])
def test_url_words_of_other_nodes_are_read_as_paths(node: str, expected: str) -> None:
    assert expected == url_words(node)


def test_url_words_of_long_urls_are_cut() -> None:
    assert len(url_words("http://x.y/" + "reef/" * 1_000_000)) <= MAX_URL_LENGTH


@settings(max_examples=50)
@given(st.text())
def test_url_words_are_alphanumeric(text: str) -> None:
    for url in (text, f"http://{text}", f"http://x.y/{text}"):
        assert all(word.isalnum() for word in url_words(url).split(" ") if word)
