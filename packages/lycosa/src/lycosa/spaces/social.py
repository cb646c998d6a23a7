"""People as a space: who writes what on a server with Mastodon's API, and whom they mention."""

from __future__ import annotations

from collections.abc import Awaitable

from lycosa.core.types import Links, Outcome, Page, Task, Visit
from lycosa.spaces.mastodon import (
    MOST_BYTES,
    WINDOW,
    Api,
    BadAnswer,
    MastodonAnswer,
    Person,
    complaint,
    place,
    read_answer,
    resets_in,
)
from lycosa.spaces.over_web import OverWeb
from lycosa.spaces.web_space import WebSpace
from lycosa.web.dates import LONGEST_REST
from lycosa.web.html import HTML, detect_language_code
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.urls import canonical, origin

MOST_SAID = 5_000  # characters kept of what one person says of another
MOST_PEOPLE = 1_000  # people taken from one answer


class SocialSpace(OverWeb):
    """A graph of people: (u, v) is a link if u mentions v, and a page is what u wrote last.

    A node is an address of the server's API, so that robots.txt, pauses, archive and log are those of the `web` that
    it is visited through. beta is the topic's judgement of u's statuses. The anchor of (u, v) is all that u says where
    v is mentioned, and so alpha is the same judgement of that. V0 are accounts by name, or those that a search or a
    hashtag finds (`search:modal jazz`, `#jazz`), which is a source of nodes and no page.

    `boosts`: what people pass on counts as theirs. `replies`: also those to others. `pages`: so many times 40 statuses
    of a person, each a node of its own: the strategy decides whether a person is worth a second look.

    Accounts elsewhere are seen through this server, which knows only of them what has reached it. Whoever has opted
    out of being indexed is not read, nor is what isn't public.

    Paper: Gouriten, Maniu, Senellart 2014, section 2.2, topic-centred Twitter user crawl. There, all tweets of a user
    count; here the last 40, unless `pages` asks for more, and n counts the same as there: requests for statuses.

    >>> from lycosa.core.options import Options
    >>> from lycosa.spaces.making import web_space
    >>> space = SocialSpace(web_space(Options(), lambda: 0.0), "social.example")
    >>> space.node("alice"), space.node("not a name")
    ('https://social.example/api/v1/accounts/lookup?acct=alice', None)
    """

    def __init__(self, web: WebSpace, server: str, boosts: bool = False, replies: bool = True, pages: int = 1) -> None:
        url = canonical(server if "://" in server else f"https://{server}")
        if url is None or url != origin(url) + "/":
            raise ValueError(f"server={server} is not the address of a server: write it like https://social.example")
        if pages < 1:
            raise ValueError(f"pages={pages}: at least one page of statuses is read of each person")
        super().__init__(web)
        self.server = server
        self.boosts = boosts
        self.replies = replies
        self.pages = pages
        self.api = Api(origin(url), boosts, replies)
        # page numbers of nodes that are a person's second, third, ... page of statuses
        self._number: dict[str, int] = {}

    # -- people ------------------------------------------------------------------------------------------------

    def node(self, text: str) -> str | None:
        """An account (`name`, `@name@host`, its address), `#tag`, or `search:WORDS`."""
        return self.api.node(text)

    def visit(self, task: Task) -> Awaitable[Page]:
        """One request; of what is not the API (robots.txt, an example page) the web makes a page."""
        visiting = self.web.visit(task)
        kind = place(task.node)[0] if origin(task.node) == self.api.server else ""
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
        """Rests that the server asked for, and whose older statuses a node has; live and replayed alike."""
        if visit.outcome != "busy" and "rest" in visit.data:
            self.web.politeness.hold(self.host_key(visit.node), visit.data["rest"], "the server's rate limit")
        if "older" in visit.data:
            self._number[visit.data["older"]] = visit.data["page"] + 1
        super().learn(visit)

    # -- what is not as hoped ----------------------------------------------------------------------------------

    def _keep_to_limit(self, page: Page) -> None:
        """When no request is left, or there was one too many: rest until the server counts anew."""
        if page.exchange is None:
            return
        header = page.exchange.header
        spent, busy = header("x-ratelimit-remaining").strip() == "0", page.status == 429
        if not spent and not busy:
            return
        wait = resets_in(header("x-ratelimit-reset"), header("date"), page.ended)
        if wait is None:
            wait = WINDOW if spent and not busy else 0.0
        until = page.ended + min(wait, LONGEST_REST)
        if busy:
            until = max(until, page.data.get("rest", 0.0))
            page.retry_at = until if page.retry_at else 0.0
        if until > page.ended:
            page.data["rest"] = until

    def _stay_here(self, page: Page) -> None:
        """Another host, or another part of this one, is not the API that was named."""
        target = page.links.urls[0]
        if origin(target) != self.api.server or not place(target)[0]:
            _fail(page, "invalid", f"sends us to {target[:200]}, which is not the API of {self.api.server}")

    def _explain(self, page: Page) -> None:
        said = complaint(self._body(page) or b"")
        if page.status in (401, 403):
            said = f"{said or 'not for everyone'} (a login is needed: --header can send an access token)"
        page.note = said or page.note

    def _body(self, page: Page) -> bytes | None:
        """The body, inflated; None if it is none, and then the page says why."""
        assert page.exchange is not None
        cap = min(self.web.inflated, MOST_BYTES)
        try:
            body, whole = inflate(page.exchange.body, page.exchange.header("content-encoding"), cap)
        except BadEncoding as error:
            _fail(page, "invalid", str(error))
            return None
        if page.outcome == "ok" and (not whole or page.exchange.truncated):
            _fail(page, "invalid", f"cut off: {page.exchange.truncated or f'longer than {cap:,} bytes'}")
            return None
        return body

    # -- answers as pages --------------------------------------------------------------------------------------

    def _understand(self, task: Task, page: Page) -> None:
        if page.exchange is None:
            return
        if page.exchange.header("content-type").partition(";")[0].strip().lower() in HTML:
            _fail(page, "unwanted", "HTML in place of JSON: is this a server with Mastodon's API?")
            page.exchange = None
            return
        body = self._body(page)
        if body is None:
            return
        try:
            answer = read_answer(body, task.node)
        except BadAnswer as error:
            _fail(page, "invalid", complaint(body) or str(error))
            return
        link = page.exchange.header("link")
        if answer.secrets:  # shown to whom the token belongs, not to the world
            page.exchange = None
            page.flags.append("secrets")
        kind, name = place(task.node)
        if answer.author is not None and self._turned_away(answer.author, name, page):
            return
        if kind == "lookup":
            assert answer.author is not None
            page.data["account"] = answer.author.stored()
            _redirect(page, self.api.statuses(answer.author.id))
            return
        if kind == "account":
            self._account(name, answer, page)
        else:
            self._found(kind, name, answer, page)
        self._language(answer, page)
        self._older(task.node, link, answer, page)

    def _turned_away(self, author: Person, asked: str, page: Page) -> bool:
        """Whether this account is not to be read: it is elsewhere now, was shut, or does not want to be."""
        if author.opted_out:
            _fail(page, "denied", "the account asks not to be indexed")
            page.exchange = None
        elif author.suspended:
            _fail(page, "gone", "the account is suspended")
        elif author.moved is not None and author.moved.id not in (author.id, asked):
            page.data["account"] = author.stored()
            page.note = f"moved to @{author.moved.acct}"
            _redirect(page, self.api.statuses(author.moved.id))
        else:
            return False
        return True

    def _account(self, account: str, answer: MastodonAnswer, page: Page) -> None:
        """What someone wrote, and whom they mention; all they say of each is one link."""
        said: dict[str, list[str]] = {}
        people: dict[str, Person] = {}
        for status in answer.statuses:
            for person in status.mentions:
                if person.id != account and (person.id in people or len(people) < MOST_PEOPLE):
                    people.setdefault(person.id, person)
                    texts = said.setdefault(person.id, [])
                    if not texts or texts[-1] is not status.text:  # one status may mention someone twice
                        texts.append(status.text)
        self._links(page, list(people.values()), [said[number] for number in people])
        page.marked = answer.text
        if answer.author is not None:
            page.title = answer.author.title
            page.flags += answer.author.flags
            page.data["account"] = answer.author.stored()
        if not answer.statuses:
            page.note = "no public statuses"

    def _found(self, kind: str, name: str, answer: MastodonAnswer, page: Page) -> None:
        """Whom a search or a hashtag finds: a source of nodes, which is no page and costs no budget."""
        people: dict[str, Person] = {}
        said: dict[str, list[str]] = {}
        for status in answer.statuses:
            people.setdefault(status.author.id, status.author)
            said.setdefault(status.author.id, []).append(status.text)
        for person in answer.people:
            people.setdefault(person.id, person)
            said.setdefault(person.id, []).append(f"{person.name} {person.note}")
        kept = list(people.values())[:MOST_PEOPLE]
        self._links(page, kept, [said[person.id] for person in kept])
        page.kind, page.marked = "sitemap", answer.text
        page.title = f"#{name}" if kind == "tag" else f"search: {name}"
        page.data["form"] = "hashtag" if kind == "tag" else "search"

    def _links(self, page: Page, people: list[Person], said: list[list[str]]) -> None:
        """A link to each, with all that is said of them as its anchor; the text has no marks, as these overlap."""
        texts = ["\n".join(each)[:MOST_SAID] for each in said]
        page.links = Links.to(*(self.api.statuses(person.id) for person in people), anchors=texts)
        page.links.contexts = list(texts)
        page.links.rels = ["mention"] * len(people)
        page.data["people"] = [person.acct for person in people]

    def _older(self, node: str, link: str, answer: MastodonAnswer, page: Page) -> None:
        """A link to what was written before: as promising as this is."""
        number = self._number.get(node, 1)
        older = self.api.older(node, link) if number < self.pages and answer.statuses else ""
        if not older:
            return
        page.data["older"], page.data["page"] = older, number
        links, text = page.links, answer.text[:MOST_SAID]
        page.links = Links.to(*links.urls, older, anchors=[*links.anchors, text])
        page.links.contexts, page.links.rels = [*links.contexts, text], [*links.rels, "next"]

    def _language(self, answer: MastodonAnswer, page: Page) -> None:
        """What most statuses declare, or what it looks like; not the one that was asked for: no find."""
        page.language = answer.language
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
