# ruff: noqa: E501 - tables of cases, a line each
"""Detection of walls, and ordinary pages that resemble them."""

from dataclasses import dataclass, field

import pytest

from lycosa.web.html import extract
from lycosa.web.walls import detect_wall


@dataclass
class Case:
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
    "Akamai, denied": Case("challenge", "Access Denied", "You don't have permission to access \"http://a.example/\" on this server. Reference #18.1f8c1702.1700000000.3a2b", 403),
    "Akamai, a script": Case("challenge", "", '<div id="sec-if-cpt-container"></div><script src="/_sec/cp_challenge/ak-challenge-3-0.js"></script>Powered and protected by Akamai', 428),
    "DataDome, a script": Case("challenge", "a.example", "<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>Please enable JS and disable any ad blocker", 403),
    "PerimeterX, to be held": Case("challenge", "a.example", "Press & Hold to confirm you are a human (and not a bot). Reference ID 1", 403),
    "Imperva, an incident": Case("challenge", "", "Request unsuccessful. Incapsula incident ID: 1-2"),
    "Imperva, pardon": Case("challenge", "Pardon Our Interruption", "As you were browsing, something about your browser made us think you might be a bot. " * 4, 405),
    "AWS WAF, by its script": Case("challenge", "", "<script>window.gokuProps={}; AwsWafIntegration.checkForceRefresh()</script><noscript>JavaScript is disabled.</noscript>", 405),
    "Anubis, by its files": Case("challenge", "Ein Augenblick", '<img src="/.within.website/x/cmd/anubis/static/img/pensive.webp">Protected by Anubis'),
    "Kasada": Case("challenge", "", "<script>window.KPSDK={};KPSDK.now=Date.now</script>", 429),
    "F5": Case("challenge", "Request Rejected", "The requested URL was rejected. Please consult with your administrator. Your support ID is: 1"),
    "Vercel": Case("challenge", "Vercel Security Checkpoint", "We're verifying your browser", 403),
    "Sucuri, denied": Case("challenge", "Access Denied - Sucuri Website Firewall", "If you are the site owner, please open a ticket. Sucuri Website Firewall", 403),
    "Cloudflare, 1020": Case("challenge", "Access denied | a.example used Cloudflare to restrict access", "Error 1020. Ray ID: 1. a.example used Cloudflare to restrict access", 403),
    "Cloudflare, in French": Case("challenge", "Un instant…", "Vérification de votre navigateur."),
    "a search engine": Case("challenge", "https://www.a.example/search?q=reefs", "Our systems have detected unusual traffic from your computer network. Please try your request again later.", 429),
    "a shop": Case("challenge", "a.example", "Sorry, we just need to make sure you're not a robot. Enter the characters you see below."),
    "a network policy": Case("challenge", "Blocked", "whoa there! Your request has been blocked due to a network policy.", 403),
    "an archive of preprints": Case("challenge", "Access Denied", "Sadly, your client appears to violate our automated access guidelines.", 403),
    "a wall of hCaptcha": Case("challenge", "Reef News", '<form>Please complete the security check to go on.<div class="h-captcha" data-sitekey="1"></div></form>'),
    "a wall of Turnstile": Case("challenge", "Reef News", 'Verify you are human by completing the action below.<div class="big cf-turnstile"></div>'),
    "Wordfence": Case("limited", "Your access to this site has been limited by the site owner", "Your access to this service has been limited. (HTTP response code 503)", 503),
    "an authority": Case("limited", "SEC.gov | Request Rate Threshold Exceeded", "Your Request Originates from an Undeclared Automated Tool", 403),
    "a second limit": Case("limited", "Error", "You have exceeded a secondary rate limit. Please wait a few minutes.", 403),
    "a limit in plain words": Case("limited", "a.example", "You are being rate limited.", 429),
    "pay or consent": Case("consent", "Reef Times | With ads, or with a subscription", "Read on with ads and cookies. Accept. Or subscribe.", url="https://www.a.example/zustimmung?url=https%3A%2F%2Fwww.a.example%2F"),
    "consent of a portal": Case("consent", "A is part of a family of brands", "If you click Accept all, we and our partners use cookies.", url="https://consent.a.example/v2/collectConsent?sessionId=1"),
    "a paywall": Case("login", "Subscribe to read | Reef Times", "Subscribe to unlock this article. Only £1 for 4 weeks."),
    "402": Case("login", "Payment Required", "", 402),
    "a wiki for members": Case("login", "Login required - Reef Wiki", "Please log in to view other pages.", 403),
    "a name first": Case("login", "Sign in to your account", 'No account? Create one! <input type="email" name="loginfmt">'),
    "a network of people": Case("login", "Sign Up | Reefs", '<form><input type="email"><input type="password"></form>', url="https://www.a.example/authwall?sessionRedirect=x"),
    "log in, at the end": Case("login", "Reef University - Log in", '<form><input type="password"></form>'),
    "a portal's log-in": Case("login", "Log into Reefs", '<form><input type="password"></form>'),
    # Ordinary pages.
    "a captcha, in a dictionary": Case(None, "captcha", "A test to tell humans and bots apart."),
    "captchas, in short": Case(None, "CAPTCHA - Glossary", "A riddle that shows whether a human or a robot fills in a form. You solve it by typing letters."),
    "a moment": Case(None, "Un momento", "A song of 1972."),
    "a phrase": Case(None, "Just a moment", "An idiom: wait a little."),
    "one more step": Case(None, "One more step", "Poems on walking, with drawings."),
    "reCAPTCHA in a form": Case(None, "Contact", '<form><input type="text"><textarea></textarea><div class="g-recaptcha"></div>Please complete the captcha.</form>'),
    "reCAPTCHA is loaded": Case(None, "Coral", 'Corals. This site is protected by reCAPTCHA.<script src="https://www.google.com/recaptcha/api.js"></script>'),
    "Turnstile under comments": Case(None, "Corals", SOME + '<textarea></textarea>Verify you are human.<div class="cf-turnstile"></div>'),
    "Kasada on a page": Case(None, "Coral reefs", SOME + "<script>window.KPSDK={}</script>"),
    "an error's page, explained": Case(None, "429 Too Many Requests - HTTP", "The client has sent too many requests. " + "".join(f'<a href="/{n}">{n}</a> ' for n in range(100, 130))),
    "are you human, a book": Case(None, "Are you human?", SOME),
    "a log-in page with much to read": Case(None, "Log in - Reef Forum", LONG + "<input type=password>"),
    "a forum's front page": Case(None, "Reef Forum - Index", SOME + '<form>Login <input type="password"></form>'),
    "how to log in": Case(None, "Reef help: how to log in", "Choose Log in at the top, and type your password."),
    "signs": Case(None, "Sign in a window", "A photograph."),
    "privacy, explained": Case(None, "We value your privacy", "We keep no cookies, and this is all that we keep: nothing."),
    "consent, in medicine": Case(None, "Informed consent", "Patients agree before an operation.", url="https://a.example/consent"),
    "access denied, by a wiki": Case(None, "Access denied", "You are not authorized to view this page.", 403),
    "a firm that was blocked": Case(None, "Blocked", "The strait was blocked for six days by a ship. Traffic went round the Cape."),
    "a teaser": Case(None, "Reefs recover", SOME + "Subscribe to continue reading."),
    "subscriptions": Case(None, "Subscribe to our letters", "We write once a month."),
    "unavailable": Case(None, "503 Service Unavailable", "No server is available to handle this request.", 503),
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
def test_detect_wall_returns_kind_of_case(name: str) -> None:
    case = CASES[name]
    body = f"<html><head><title>{case.title}</title></head><body>{case.body}</body></html>".encode()
    assert detect_wall(case.url, case.status, case.header, body, extract(body, case.url)) == case.wall
