"""A social network as a space: accounts on a server with Mastodon's API, linked by mentions."""

from __future__ import annotations

from collections.abc import Awaitable

from lycosa.core.types import Links, Outcome, Page, Task, Visit
from lycosa.spaces import mastodon
from lycosa.spaces.mastodon import Api, BadResponse, ParsedResponse, Person, error_message, parse_node
from lycosa.spaces.over_web import WebBackedSpace
from lycosa.spaces.web_space import WebSpace
from lycosa.web.dates import MAX_RETRY_AFTER
from lycosa.web.html import HTML, detect_language_code
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.urls import canonical, origin

MAX_ANCHOR_LENGTH = 5_000  # characters kept of one person's statements about another
MAX_PEOPLE = 1_000  # people taken from one response


class SocialSpace(WebBackedSpace):
    """A graph of people: (u, v) is a link if u mentions v, and a page holds the latest statuses of u.

    A node is a URL of the server's API, so robots.txt, delays, archive and log are those of the web space `web`. beta
    is the judge's relevance of u's statuses. The anchor of (u, v) is the text of u's statuses that mention v, and alpha
    its relevance. V0 are accounts by name, or those returned by a search or hashtag (`search:modal jazz`, `#jazz`),
    which is a source of nodes and not a page.

    `boosts`: include boosted statuses. `replies`: include replies to others. `pages`: number of pages of 40 statuses
    per person, each a separate node: the strategy decides whether to fetch more of a person.

    Accounts on other servers are seen through this server, which has only the statuses that reached it. Accounts that
    have opted out of indexing are not read, nor are statuses that are not public.

    Paper: Gouriten, Maniu, Senellart 2014, section 2.2, topic-centred Twitter user crawl. There all tweets of a user
    count; here the last 40, unless `pages` is larger; n counts requests for statuses in both.

    >>> from lycosa.core.options import Options
    >>> from lycosa.spaces.making import web_space
    >>> space = SocialSpace(web_space(Options(), lambda: 0.0), "social.example")
    >>> space.node("alice"), space.node("not a name")
    ('https://social.example/api/v1/accounts/lookup?acct=alice', None)
    """

    def __init__(self, web: WebSpace, server: str, boosts: bool = False, replies: bool = True, pages: int = 1) -> None:
        url = canonical(server if "://" in server else f"https://{server}")
        if url is None or url != origin(url) + "/":
            raise ValueError(f"'server' is {server!r}: it must be the URL of a server, such as https://social.example")
        if pages < 1:
            raise ValueError(f"'pages' is {pages}: it must be 1 or more")
        super().__init__(web)
        self.server, self.boosts, self.replies, self.pages = server, boosts, replies, pages
        self.api = Api(origin(url), boosts, replies)
        # Page numbers of nodes that are a person's second, third, ... page of statuses.
        self._number: dict[str, int] = {}

    def node(self, text: str) -> str | None:
        """Return the node of an account (`name`, `@name@host`, its URL), `#tag`, or `search:WORDS`."""
        return self.api.node(text)

    def visit(self, task: Task) -> Awaitable[Page]:
        """Send one request; URLs outside the API (robots.txt, an example page) become pages of the web."""
        visiting = self.web.visit(task)
        kind = parse_node(task.node)[0] if origin(task.node) == self.api.server else ""
        return self._visit(task, visiting) if kind and task.kind != "robots" else visiting

    async def _visit(self, task: Task, visiting: Awaitable[Page]) -> Page:
        page = await visiting
        self._keep_to_limit(page)
        if page.kind == "redirect":
            self._stay_here(page)
        elif page.outcome == "gone" and page.exchange is not None:
            self._explain(page)
        elif page.outcome == "ok":
            self._understand(task, page)
        return page

    def learn(self, visit: Visit) -> None:
        """Update the state with a visit: pauses requested by the server, and the page number of older statuses."""
        if visit.outcome != "busy" and "rest" in visit.data:
            self.web.politeness.hold(self.host_key(visit.node), visit.data["rest"], "the server's rate limit")
        if "older" in visit.data:
            self._number[visit.data["older"]] = visit.data["page"] + 1
        super().learn(visit)

    def _keep_to_limit(self, page: Page) -> None:
        if page.exchange is None:
            return
        header = page.exchange.header
        spent, busy = header("x-ratelimit-remaining").strip() == "0", page.status == 429
        if not spent and not busy:
            return
        wait = mastodon.resets_in(header("x-ratelimit-reset"), header("date"), page.ended)
        if wait is None:
            wait = mastodon.WINDOW if spent and not busy else 0.0
        until = page.ended + min(wait, MAX_RETRY_AFTER)
        if busy:
            until = max(until, page.data.get("rest", 0.0))
            page.retry_at = until if page.retry_at else 0.0
        if until > page.ended:
            page.data["rest"] = until

    def _stay_here(self, page: Page) -> None:
        target = page.links.urls[0]
        if origin(target) != self.api.server or not parse_node(target)[0]:
            _fail(page, "invalid", f"redirects to {target[:200]}, which is not the API of {self.api.server}")

    def _explain(self, page: Page) -> None:
        message = error_message(self._body(page) or b"")
        if page.status in (401, 403):
            message = f"{message or 'not for everyone'} (a login is needed: --header can send an access token)"
        page.note = message or page.note

    def _body(self, page: Page) -> bytes | None:
        """Return the inflated body; None, with the reason in the page, if that fails."""
        assert page.exchange is not None
        cap = min(self.web.inflated, mastodon.MAX_BYTES)
        try:
            body, whole = inflate(page.exchange.body, page.exchange.header("content-encoding"), cap)
        except BadEncoding as error:
            _fail(page, "invalid", str(error))
            return None
        if page.outcome == "ok" and (not whole or page.exchange.truncated):
            _fail(page, "invalid", f"cut off: {page.exchange.truncated or f'longer than {cap:,} bytes'}")
            return None
        return body

    def _understand(self, task: Task, page: Page) -> None:
        if page.exchange is None:
            return
        if page.exchange.header("content-type").partition(";")[0].strip().lower() in HTML:
            _fail(page, "unwanted", "HTML instead of JSON: does this server have Mastodon's API?")
            page.exchange = None
            return
        body = self._body(page)
        if body is None:
            return
        try:
            parsed = mastodon.parse_response(body, task.node)
        except BadResponse as error:
            _fail(page, "invalid", error_message(body) or str(error))
            return
        link = page.exchange.header("link")
        if parsed.secrets:  # visible to the owner of the token only
            page.exchange = None
            page.flags.append("secrets")
        kind, name = parse_node(task.node)
        if parsed.author is not None and self._is_excluded(parsed.author, name, page):
            return
        if kind == "lookup":
            assert parsed.author is not None
            page.data["account"] = parsed.author.stored()
            _redirect(page, self.api.statuses(parsed.author.id))
            return
        if kind == "account":
            self._account(name, parsed, page)
        else:
            self._found(kind, name, parsed, page)
        self._language(parsed, page)
        self._older(task.node, link, parsed, page)

    def _is_excluded(self, author: Person, requested: str, page: Page) -> bool:
        if author.opted_out:
            _fail(page, "denied", "the account has opted out of indexing")
            page.exchange = None
        elif author.suspended:
            _fail(page, "gone", "the account is suspended")
        elif author.moved is not None and author.moved.id not in (author.id, requested):
            page.data["account"] = author.stored()
            page.note = f"moved to @{author.moved.acct}"
            _redirect(page, self.api.statuses(author.moved.id))
        else:
            return False
        return True

    def _account(self, account: str, parsed: ParsedResponse, page: Page) -> None:
        """Fill the page with a person's statuses and a link per person mentioned, with all texts that mention them."""
        texts_about: dict[str, list[str]] = {}
        people: dict[str, Person] = {}
        for status in parsed.statuses:
            for person in status.mentions:
                if person.id != account and (person.id in people or len(people) < MAX_PEOPLE):
                    people.setdefault(person.id, person)
                    texts = texts_about.setdefault(person.id, [])
                    if not texts or texts[-1] is not status.text:  # one status may mention a person twice
                        texts.append(status.text)
        self._links(page, list(people.values()), [texts_about[number] for number in people])
        page.marked = parsed.text
        if parsed.author is not None:
            page.title = parsed.author.title
            page.flags += parsed.author.flags
            page.data["account"] = parsed.author.stored()
        if not parsed.statuses:
            page.note = "no public statuses"

    def _found(self, kind: str, name: str, parsed: ParsedResponse, page: Page) -> None:
        """Fill the page with people from a search or hashtag: a source of nodes that costs no budget."""
        people: dict[str, Person] = {}
        texts_about: dict[str, list[str]] = {}
        for status in parsed.statuses:
            people.setdefault(status.author.id, status.author)
            texts_about.setdefault(status.author.id, []).append(status.text)
        for person in parsed.people:
            people.setdefault(person.id, person)
            texts_about.setdefault(person.id, []).append(f"{person.name} {person.note}")
        kept = list(people.values())[:MAX_PEOPLE]
        self._links(page, kept, [texts_about[person.id] for person in kept])
        page.kind, page.marked = "sitemap", parsed.text
        page.title = f"#{name}" if kind == "tag" else f"search: {name}"
        page.data["form"] = "hashtag" if kind == "tag" else "search"

    def _links(self, page: Page, people: list[Person], posts: list[list[str]]) -> None:
        """Add a link to each person, with all texts about them as anchor; these overlap, so the page has no marks."""
        texts = ["\n".join(each)[:MAX_ANCHOR_LENGTH] for each in posts]
        page.links = Links.to(*(self.api.statuses(person.id) for person in people), anchors=texts)
        page.links.contexts = list(texts)
        page.links.rels = ["mention"] * len(people)
        page.data["people"] = [person.acct for person in people]

    def _older(self, node: str, link: str, parsed: ParsedResponse, page: Page) -> None:
        number = self._number.get(node, 1)
        older = self.api.older(node, link) if number < self.pages and parsed.statuses else ""
        if not older:
            return
        page.data["older"], page.data["page"] = older, number
        links, text = page.links, parsed.text[:MAX_ANCHOR_LENGTH]
        page.links = Links.to(*links.urls, older, anchors=[*links.anchors, text])
        page.links.contexts, page.links.rels = [*links.contexts, text], [*links.rels, "next"]

    def _language(self, parsed: ParsedResponse, page: Page) -> None:
        """Set the declared language of most statuses, or a detected one; flag the page if it is not an allowed one."""
        page.language = parsed.language
        page.guessed = not page.language
        page.language = page.language or detect_language_code(page.marked[:1000])
        if self.web.languages and page.language and page.language.split("-")[0] not in self.web.languages:
            page.flags.append("language")


def _fail(page: Page, outcome: Outcome, note: str) -> None:
    page.kind, page.outcome, page.note = "page", outcome, note
    page.title, page.marked, page.links = "", "", Links()
    page.main = page.headings = page.lead = ""


def _redirect(page: Page, target: str) -> None:
    page.kind, page.outcome, page.links = "redirect", "redirect", Links.to(target)
