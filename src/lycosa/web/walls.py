"""Pages that are not the page: a check for bots, a log-in, a limit that was reached, a wall of consent.

They come with any status, 200 among them. Taken for the page they would be judged, archived and learned from, and the
host would be asked on as if nothing had happened. What tells them apart is what those who put them up leave in header,
title and markup. A page that only speaks of such things has a text of its own, so that all rules that go by words hold
for short pages only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from lycosa.web.html import Document

Wall = Literal["challenge", "login", "limited", "consent"]

SHORT = 1_500
"""Characters of text on a page that may be a wall by its words."""

SEEN = 200_000
"""Bytes of a body that are looked through."""

_HEADERS: tuple[tuple[str, re.Pattern[str], Wall], ...] = (
    ("cf-mitigated", re.compile("challenge"), "challenge"),
    ("x-amzn-waf-action", re.compile("challenge|captcha"), "challenge"),
    ("x-datadome", re.compile("protected"), "challenge"),
)
"""Headers of services that protect hosts. DataDome's is on every answer of its customers: it counts for 403 only."""

_MARKS: tuple[tuple[bytes, Wall], ...] = (
    (b"window._cf_chl_opt", "challenge"),
    (b"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page", "challenge"),
    (b"cf-browser-verification", "challenge"),
    (b"geo.captcha-delivery.com/captcha", "challenge"),
    (b'id="px-captcha"', "challenge"),
    (b"sucuri_cloudproxy_js", "challenge"),
    (b'id="anubis_challenge"', "challenge"),
    (b"/sorry/index?", "challenge"),
)
"""What challenges have in their markup."""

_EVERYWHERE = (b"_pxAppId", b"/_Incapsula_Resource?", b"AwsWafIntegration", b"/.well-known/ddos-guard/")
"""What they have, too, but services leave on every page of their customers: it takes a text that bears it out."""

_WORDS: tuple[tuple[str, Wall], ...] = (
    (
        "just a moment|attention required!?|checking (?:if the site connection is secure|your browser.*)|"
        "(?:are you|you are) (?:a |not a )?(?:robot|human)\\??|robot check|(?:human|bot) verification|"
        "verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human|security (?:check|checkpoint|verification)|"
        "pardon our interruption|access to this page has been denied|ddos-guard|captcha|"
        "making sure you're not a bot!?|one more step|please wait.*|client challenge|"
        "einen moment,? bitte|un instant|un momento",
        "challenge",
    ),
    (
        "(?:429 )?too many requests|(?:rate|request) limit (?:exceeded|reached)|you have been rate limited",
        "limited",
    ),
    (
        "before you continue.*|bevor sie (?:zu .*)?(?:fortfahren|weitermachen).*|avant (?:d'accéder|de continuer).*|"
        "(?:cookie|privacy) (?:consent|wall)|your privacy,? your choice|we value your privacy|"
        "(?:datenschutz|cookie)-?einstellungen",
        "consent",
    ),
    (
        "(?:please )?(?:log|sign) ?in(?: to .*| required)?|login(?: required)?|member login|"
        "(?:bitte )?anmelden|anmeldung|se connecter|connexion|iniciar sesi[oó]n|accedi|inloggen|вход|登录|ログイン|"
        "authentication required|subscribe to (?:continue|read).*|members only",
        "login",
    ),
)

_TITLES = tuple((re.compile(rf"^\W*(?:{words})\W*(?:$|\||[-–—:]\s)", re.IGNORECASE), wall) for words, wall in _WORDS)

_PASSWORD = re.compile(rb"<input[^>]{1,500}type\s*=\s*[\"']?password", re.IGNORECASE)
_ROBOT = re.compile(
    r"unusual traffic from your computer|verify (?:that )?you are (?:a )?human|not a (?:ro)?bot|"
    r"enable javascript and cookies to continue|checking your browser before|complete the (?:captcha|security check)|"
    r"please (?:enable|turn on) (?:js|javascript|cookies)|\bray id\b|\b(?:ro)?bots?\b|\bautomated\b",
    re.IGNORECASE,
)
_CONSENT = re.compile(r"\b(?:cookies?|consent|privacy|datenschutz|données|einwilligung)\b", re.IGNORECASE)
_CONSENT_HOST = re.compile(r"https?://(?:consent|guce|cookiewall|privacywall)\.", re.ASCII)


def wall_of(url: str, status: int, fields: Mapping[str, str], body: bytes, page: Document) -> Wall | None:
    """Which wall an answer is, if it is one: by its address, header, markup, and what is read on it."""
    for name, pattern, wall in _HEADERS:
        if pattern.search(fields.get(name, "").lower()) and (name != "x-datadome" or status == 403):
            return wall
    if status == 401:
        return "login"
    if len(page.text) > SHORT:
        return None
    return _by_marks(body[:SEEN], page.text) or _by_words(url, body[:SEEN], page)


def _by_marks(body: bytes, text: str) -> Wall | None:
    if _says_little(text) and any(mark in body for mark in _EVERYWHERE):
        return "challenge"
    return next((wall for mark, wall in _MARKS if mark in body), None)


def _says_little(text: str) -> bool:
    """Whether a text may be all that a challenge says."""
    return len(text) < 200 or bool(_ROBOT.search(text))


def _by_words(url: str, body: bytes, page: Document) -> Wall | None:
    """By the title, if the text bears it out."""
    wall = next((wall for pattern, wall in _TITLES if pattern.search(page.title)), None)
    if wall is None and _CONSENT_HOST.match(url):
        wall = "consent"
    if wall is None:  # as nearly always
        return None
    text = page.text
    borne_out = {
        "challenge": bool(text) and _says_little(text),
        "limited": len(text) < SHORT // 2,
        "consent": bool(_CONSENT.search(text)),
        "login": bool(_PASSWORD.search(body)),
    }
    return wall if borne_out[wall] else None
