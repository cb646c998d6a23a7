# ruff: noqa: E501 - tables of cases, a line each
"""Pages that are not the page: a table of cases, and of pages that only look like one."""

from dataclasses import dataclass, field

import pytest

from lycosa.web.html import extract
from lycosa.web.walls import wall_of


@dataclass
class Case:
    """An answer, and what it is."""

    wall: str | None
    title: str = ""
    body: str = ""
    status: int = 200
    header: dict[str, str] = field(default_factory=dict)
    url: str = "https://a.example/reefs"


LONG = "<p>" + "Corals are animals that live in colonies and build reefs of limestone. " * 40
SOME = "<p>" + "Both reefs lie at the bottom of a bay. " * 10

CASES = {
    "Cloudflare, by its header": Case("challenge", "Just a moment...", status=403, header={"cf-mitigated": "challenge"}),
    "Cloudflare, by its script": Case("challenge", "Just a moment...", "<script>window._cf_chl_opt={}</script>"),
    "Cloudflare, in words": Case("challenge", "Attention Required! | Cloudflare", "Please complete the security check. Ray ID: 1", 403),
    "AWS WAF": Case("challenge", "Human Verification", "<script>AwsWafIntegration.getToken()</script>", 202, {"x-amzn-waf-action": "challenge"}),
    "DataDome": Case("challenge", "a.example", '<script src="https://geo.captcha-delivery.com/captcha/?x"></script>', 403),
    "DataDome, by its header": Case("challenge", "a.example", "Please enable JS", 403, {"x-datadome": "protected"}),
    "PerimeterX": Case("challenge", "Access to this page has been denied", '<div id="px-captcha"></div>', 403),
    "Imperva": Case("challenge", "", '<iframe src="/_Incapsula_Resource?SWUDNSAI=31"></iframe>'),
    "Sucuri": Case("challenge", "You are being redirected...", "<script>var s='sucuri_cloudproxy_js'</script>"),
    "Anubis": Case("challenge", "Making sure you're not a bot!", '<script id="anubis_challenge" type="application/json">{}</script>Loading...'),
    "DDoS-Guard": Case("challenge", "DDoS-Guard", '<script src="/.well-known/ddos-guard/js-challenge/index.js"></script>', 403),
    "a check of one's own": Case("challenge", "Robot Check", "Type the characters you see to show that you are not a robot."),
    "a check in German": Case("challenge", "Einen Moment, bitte", "Ihr Browser wird geprüft."),
    "too many requests": Case("limited", "Too Many Requests", "Slow down, please."),
    "429 with 200": Case("limited", "429 Too Many Requests", "You have sent too many requests."),
    "rate limit": Case("limited", "Rate limit exceeded - a.example", "Try again in an hour."),
    "log in": Case("login", "Log in", '<form><input name="u"><input type="password" name="p"></form>'),
    "sign in to a site": Case("login", "Sign in to Reefs", "<form><input type=password></form>"),
    "log in, in German": Case("login", "Anmelden – Riffe", "<form><input id='p' type='password'></form>"),
    "log in, in French": Case("login", "Connexion", "<form><input type='PASSWORD'></form>"),
    "401": Case("login", "Unauthorized", "", 401),
    "consent, by the host": Case("consent", "a.example", "We use cookies. Accept all or reject.", url="https://consent.a.example/m?continue=x"),
    "consent, by the title": Case("consent", "Before you continue to A", "We use cookies and data. Accept all. Reject all."),
    "consent, in German": Case("consent", "Bevor Sie zu A weitermachen", "Wir verwenden Cookies."),
    "a privacy wall": Case("consent", "We value your privacy", "We and our partners store cookies. Agree."),
    # And what is none:
    "a page": Case(None, "Coral reefs", LONG),
    "a short page": Case(None, "Coral", "Corals are animals."),
    "an article on challenges": Case(None, "Just a moment", LONG + "checking your browser"),
    "an article on log-ins": Case(None, "Login - Wikipedia", LONG + "<input type=password>"),
    "a page with a box to log in": Case(None, "Reef forum", LONG + '<form>Log in <input type="password"></form>'),
    "a short page with a box to log in": Case(None, "Reef forum", 'Welcome to the forum. <input type="password">'),
    "an empty log-in, of words alone": Case(None, "Sign in the old sense", "Signs of the times."),
    "a banner": Case(None, "Coral reefs", "We use cookies. " + LONG),
    "a short page with a banner": Case(None, "Coral reefs", "Corals. We use cookies: accept, reject."),
    "Cloudflare's script on a page": Case(None, "Coral reefs", LONG + '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>'),
    "PerimeterX on a page": Case(None, "Coral reefs", LONG + "<script>window._pxAppId='PX1'</script>"),
    "DataDome's customer": Case(None, "Coral reefs", LONG, header={"x-datadome": "protected"}),
    "forbidden": Case(None, "403 Forbidden", "nginx", 403),
    "not found": Case(None, "Not found", "There is nothing here.", 404),
    "a robot": Case(None, "Robot", "A robot is a machine."),
    "PerimeterX on a short page": Case(None, "Coral reefs", SOME + "<script>window._pxAppId='PX1'</script>"),
    "Imperva on a short page": Case(None, "Coral reefs", SOME + '<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>'),
    "PerimeterX, in words": Case("challenge", "a.example", SOME + "We think that you are a bot.<script>window._pxAppId='PX1'</script>"),
    "a year": Case(None, "429 - Chronicle", "In 429 the Vandals crossed over to Africa."),
    "a song": Case(None, "Slow Down", "A song of 1958, which others have sung since."),
    "a poem": Case(None, "Please wait for the tide", SOME),
    "limits, explained": Case(None, "Rate limit - Documentation", "Sixty requests a minute are answered."),
    "a captcha, explained": Case(None, "CAPTCHA", LONG),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_walls(name: str) -> None:
    """Each wall is recognised, and no page is taken for one."""
    case = CASES[name]
    body = f"<html><head><title>{case.title}</title></head><body>{case.body}</body></html>".encode()
    assert wall_of(case.url, case.status, case.header, body, extract(body, case.url)) == case.wall
