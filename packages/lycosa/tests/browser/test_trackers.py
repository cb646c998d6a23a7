"""Hosts of advertisements and trackers."""

from lycosa.browser.trackers import is_tracker
from tables import each


@each(
    [
        ("https://www.google-analytics.com/g/collect", True),
        ("https://a.b.doubleclick.net/x", True),
        ("https://doubleclick.net.evil.example/x", False),
        ("https://notdoubleclick.net/", False),
        ("https://stats.example.org/matomo.js?v=1", True),
        ("https://example.org/js/analytics.js", True),
        ("https://example.org/analytics.json", False),
        ("https://example.org/?file=/gtag.js", False),
        ("https://adservice.google.com/", True),
        ("https://www.google.com/", False),
    ]
)
def test_is_tracker_matches_domain_or_path(url: str, expected: bool) -> None:
    assert expected == is_tracker(url)
