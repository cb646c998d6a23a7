"""Wall detection: bot challenges, log-in pages, rate limits and consent pages served instead of the page.

They come with any status, including 200. Undetected, they would be judged, archived and learned from, and requests to
the host would continue at full speed. They are recognised by traces of the wall products in headers, titles and markup.
Pages about walls have a text of their own, so the rules on words apply to short pages only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from lycosa.web.html import ParsedPage

Wall = Literal["challenge", "login", "limited", "consent"]
MAX_WALL_TEXT = 1_500  # characters of text: only shorter pages are judged by their words
SCANNED_BYTES = 200_000  # bytes of a body
# Headers of challenges. DataDome's is sent with every response of its customers, so it counts for status 403 only.
_HEADERS = {
    "cf-mitigated": re.compile("challenge"),
    "x-amzn-waf-action": re.compile("challenge|captcha"),
    "x-datadome": re.compile("protected"),
}
# markup of challenges
_MARKS = (
    b"window._cf_chl_opt /cdn-cgi/challenge-platform/h/b/orchestrate/chl_page cf-browser-verification "
    b'geo.captcha-delivery.com/captcha id="px-captcha" sucuri_cloudproxy_js id="anubis_challenge" '
    b"/.within.website/x/cmd/anubis/ sec-if-cpt-container /_sec/cp_challenge/".split()
)
# markup of challenges that is also on ordinary pages of the services' customers, so the text must confirm it
_VENDOR_MARKS = (
    b"_pxAppId /_Incapsula_Resource? AwsWafIntegration /.well-known/ddos-guard/ KPSDK .captcha-delivery.com".split()
)
# Widgets are also in forms of all kinds, which have other input fields.
_WIDGET = re.compile(rb"""class=["']?[^"'>]{0,200}\b(?:g-recaptcha|h-captcha|cf-turnstile)\b""", re.IGNORECASE)
_FIELD = re.compile(
    rb"""<textarea|<input[^>]{1,500}type\s*=\s*["']?(?:text|email|password|search|tel)\b""", re.IGNORECASE
)

_CHECK = (
    "attention required!?|checking (?:if the site connection is secure|your browser.*)|"
    "(?:are you|you are) (?:a |not a )?(?:robot|human)\\??|robot check|(?:human|bot) verification|"
    "verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human|(?:vercel )?security (?:check|checkpoint|verification)|"
    "pardon our interruption|access to this page has been denied|ddos-guard|"
    "making sure you're not a bot!?|client challenge|request rejected"
)
_WORDS: tuple[tuple[str, Wall], ...] = (
    (_CHECK, "challenge"),
    (
        "(?:429 )?too many requests|(?:rate|request) limit (?:exceeded|reached)|you have been rate limited|"
        "(?:[\\w.]+ \\| )?request rate threshold exceeded|your access to this (?:site|service) has been limited.*",
        "limited",
    ),
    (
        "before you continue.*|bevor sie (?:zu .*)?(?:fortfahren|weitermachen).*|avant (?:d'accéder|de continuer).*|"
        "(?:cookie|privacy) (?:consent|wall)|your privacy,? your choice|we value your privacy|"
        "(?:datenschutz|cookie)-?einstellungen",
        "consent",
    ),
    (
        "(?:please )?(?:log|sign) ?in(?: ?to .*| required)?|login(?: required)?|member login|"
        "(?:bitte )?anmelden|anmeldung|se connecter|connexion|iniciar sesi[oó]n|accedi|inloggen|вход|登录|ログイン|"
        "authentication required|subscribe to (?:continue|read|unlock).*|members only|"
        "(?:shibboleth|web) login(?: service)?|central authentication service",
        "login",
    ),
)

_TITLES = tuple((re.compile(rf"^\W*(?:{words})\W*(?:$|\||[-–—:]\s)", re.IGNORECASE), wall) for words, wall in _WORDS)

# Titles of challenges that many other pages have, too, so the text must confirm them.
_VAGUE_TITLE = re.compile(
    r"(?i)^\W*(?:just a moment|one more step|please wait.*|captcha|einen moment,? bitte|un instant|un momento|"
    r"access denied|blocked|error|[\w.-]+\.[a-z]{2,12}|https?://.*|)\W*(?:$|\||[-–—:]\s)"
)
_LOGIN_SUFFIX = re.compile(
    r"(?i)[-–—:|»›]\s*(?:log ?in|sign ?in|login|anmelden|anmeldung|connexion|se connecter|iniciar sesi[oó]n)\W*$"
)

_PASSWORD = re.compile(rb"<input[^>]{1,500}type\s*=\s*[\"']?password", re.IGNORECASE)
_NAME = re.compile(rb"<input[^>]{1,500}type\s*=\s*[\"']?email", re.IGNORECASE)
_ROBOT = re.compile(
    r"(?i)verify (?:that )?you are (?:a )?human|not a (?:ro)?bot|"
    r"complete the (?:captcha|security check)|"
    r"please (?:enable|turn on) (?:js|javascript|cookies)|\bray id\b|\b(?:ro)?bots?\b|\bautomated\b"
)
# phrases of challenges only
_CHALLENGE_TEXT = re.compile(
    r"(?i)unusual traffic from your (?:computer|network)|enable javascript and cookies to continue|"
    r"checking your browser before|incapsula incident id|"
    r"verif(?:y|ying) (?:that )?you(?:'re|’re| are) (?:a )?(?:human|not a (?:ro)?bot)|"
    r"make sure (?:that )?you(?:'re|’re| are) not a robot|"
    r"(?:solve|complete|pass) (?:the|this) (?:captcha|security check)|"
    r"press (?:&|and) hold to confirm|(?:type|enter) the characters (?:that )?you see|"
    r"your request has been blocked|sorry, you have been blocked|used cloudflare to restrict access|"
    r"violates? our automated access|reference #[0-9a-f.]{8,}|the requested url was rejected|sucuri website firewall|"
    r"browser wird (?:ge|über)prüft|dass sie (?:kein|nicht ein) (?:ro)?bot(?:er)? sind|"
    r"vérification de votre navigateur|"
    r"vérifi\w+ que vous êtes (?:bien )?(?:un )?humain|comprobando (?:su|tu) navegador|verificando que eres humano"
)
_LIMITED = re.compile(
    r"(?i)you have exceeded (?:a|the|your|our) (?:secondary )?rate limit|you are being rate.limited|"
    r"your ip (?:address )?has (?:sent|made) too many requests"
)
_CONSENT = re.compile(r"\b(?:cookies?|consent|privacy|datenschutz|données|einwilligung)\b", re.IGNORECASE)
_CHOICE = re.compile(
    r"(?i)\b(?:accept|agree|reject|decline|allow all|akzeptieren|zustimmen|ablehnen|accepter|refuser|aceptar|rechazar)"
)
_BEFORE_TITLE = re.compile(r"\W*(?:before|bevor|avant)\b", re.IGNORECASE)  # pages about privacy have no such titles
_CONSENT_HOST = re.compile(r"https?://(?:consent|guce|cookiewall|privacywall)\.", re.ASCII)
_CONSENT_PATH = re.compile(
    r"(?i)https?://[^?#]*/(?:zustimmung|consent|collectconsent|cookie-?wall|privacy-?(?:gate|wall))/?\?"
    r"(?:[^#]*&)?(?:url|continue|redirect\w*|return\w*|next|target|dest)="
)
_LOGIN_PATH = re.compile(r"https?://[^?#]*/authwall\b", re.ASCII)
_SUBSCRIBE = re.compile(r"\b(?:subscri(?:be|ption)|abonn\w+|suscr[ií]b\w+)\b", re.IGNORECASE)
_MEMBERS = re.compile(r"\b(?:log|sign) ?(?:ged )?in\b|\bmembers?\b|\bsubscribers?\b", re.IGNORECASE)
MAX_WALL_LINKS = 20  # walls have few links


def detect_wall(url: str, status: int, fields: Mapping[str, str], body: bytes, page: ParsedPage) -> Wall | None:
    """Return the kind of wall that a response is, by its URL, headers, markup and text; None for an ordinary page."""
    for name, pattern in _HEADERS.items():
        if pattern.search(fields.get(name, "").lower()) and (name != "x-datadome" or status == 403):
            return "challenge"
    if status in (401, 402):
        return "login"
    if len(page.marked) > 4 * MAX_WALL_TEXT or len(page.text) > MAX_WALL_TEXT:
        return None
    return _by_marks(body[:SCANNED_BYTES], page) or _by_words(url, status, body[:SCANNED_BYTES], page)


def _by_marks(body: bytes, page: ParsedPage) -> Wall | None:
    if any(mark in body for mark in _VENDOR_MARKS) and _confirms_challenge(page.text):
        return "challenge"
    has_widget = (b"captcha" in body or b"turnstile" in body) and _WIDGET.search(body)
    if has_widget and _CHALLENGE_TEXT.search(page.text) and not _FIELD.search(body):
        return "challenge"
    return "challenge" if any(mark in body for mark in _MARKS) else None


def _confirms_challenge(text: str) -> bool:
    return len(text) < 200 or bool(_ROBOT.search(text) or _CHALLENGE_TEXT.search(text))


def _by_words(url: str, status: int, body: bytes, page: ParsedPage) -> Wall | None:
    title, text = page.title, page.text
    wall = next((wall for pattern, wall in _TITLES if pattern.search(title)), None)
    if wall is None and _VAGUE_TITLE.search(title) and (found := _by_text(page)) is not None:
        return found
    if wall is None and (_CONSENT_HOST.match(url) or _CONSENT_PATH.match(url)):
        wall = "consent"
    if wall is None and (_LOGIN_SUFFIX.search(title) or _LOGIN_PATH.match(url)):
        wall = "login"
    if wall is None:  # nearly always
        return None
    has_few_links = len(page.links) <= MAX_WALL_LINKS
    is_confirmed = {
        "challenge": has_few_links and bool(text) and _confirms_challenge(text),
        "limited": has_few_links and len(text) < MAX_WALL_TEXT // 2,
        "consent": bool(_CONSENT.search(text) and (_BEFORE_TITLE.match(title) or _CHOICE.search(text))),
        "login": _is_login(status, title, text, body),
    }
    return wall if is_confirmed[wall] else None


def _by_text(page: ParsedPage) -> Wall | None:
    if len(page.text) > MAX_WALL_TEXT // 2 or len(page.links) > MAX_WALL_LINKS:
        return None
    return "limited" if _LIMITED.search(page.text) else "challenge" if _CHALLENGE_TEXT.search(page.text) else None


def _is_login(status: int, title: str, text: str, body: bytes) -> bool:
    if _PASSWORD.search(body):
        return True
    if len(text) > MAX_WALL_TEXT // 2:
        return False
    if _NAME.search(body):
        return True
    match = re.search(r"required|members only|subscribe", title, re.IGNORECASE)
    return match is not None and bool(_SUBSCRIBE.search(text) or _MEMBERS.search(text))
