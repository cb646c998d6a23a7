"""Dates in HTTP headers, sitemaps and feeds."""

from lycosa.web.dates import MAX_RETRY_AFTER, parse_http_date, parse_retry_after, parse_w3c_date
from tables import each


@each(
    [
        ("Thu, 01 Jan 1970 00:01:00 GMT", 60.0),
        ("Thu, 01 Jan 1970 01:01:00 +0100", 60.0),
        ("Thu, 01 Jan 1970 00:01:00", 60.0),
        ("Thu, 01 Jan 1970 00:01:00 -0000", 60.0),
        ("", 0.0),
        ("yesterday", 0.0),
        ("Thu, 99 Jan 1970 00:01:00 GMT", 0.0),
        ("Thu, 01 Jan 99999 00:01:00 GMT", 0.0),
    ]
)
def test_parse_http_date_accepts_all_formats(date: str, seconds: float) -> None:
    assert seconds == parse_http_date(date)


@each([("7", 7.0), (" 7 ", 7.0), ("-7", 0.0), ("1e9", 0.0), ("\u0667", 0.0), ("999999999", MAX_RETRY_AFTER)])
def test_parse_retry_after_returns_seconds(value: str, seconds: float) -> None:
    assert seconds == parse_retry_after(value, 100.0)


@each([("Thu, 01 Jan 1970 00:03:00 GMT", 80.0), ("Thu, 01 Jan 1970 00:01:00 GMT", 0.0)])
def test_parse_retry_after_date_is_relative_to_now(value: str, seconds: float) -> None:
    assert seconds == parse_retry_after(value, 100.0)


@each(
    [
        ("1971", (365 * 86_400.0, 730 * 86_400.0 - 1)),
        ("1972-02", (761 * 86_400.0, 790 * 86_400.0 - 1)),
        ("1970-12-31", (364 * 86_400.0, 365 * 86_400.0 - 1)),
        ("1970-01-01T00:00:59.5Z", (59.0, 59.0)),
        ("1970-01-01 02:00:00+0200", (0.0, 0.0)),
        ("1970-01-01t00:00:00z", (0.0, 0.0)),
        ("1969-12-31", None),
        ("9999-01-01", None),
        ("1970-13", None),
        ("1970-01-01T25:00Z", None),
        ("1970-01-01T00:60Z", None),
        ("1970-01-01 and more", None),
    ]
)
def test_parse_w3c_date_covers_whole_period(text: str, period: tuple[float, float] | None) -> None:
    assert period == parse_w3c_date(text)
