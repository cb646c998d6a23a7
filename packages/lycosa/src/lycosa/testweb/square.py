"""A town square: people who write and mention each other, served by Mastodon's API, for `--space social`.

People mostly mention others with the same subject, and their posts are often about the subject of the person addressed,
so following on-topic people leads to more of them. People and posts are functions of the web's seed and a number.
"""

from __future__ import annotations

import json
from functools import cached_property
from html import escape
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from lycosa.testweb.chance import dice, stir
from lycosa.testweb.prose import TOPICS, paragraphs
from lycosa.testweb.reply import ALLOW_ALL, ServedDocument

HOST = "town-square.localhost"
STATUSES = 12  # number of posts per person

_FIRST = "ada bela carla dora emil flora greta hugo ida jana karl lena mara nora otto paula rosa sara theo vera".split()


class Square:
    """People and posts of a web's town square."""

    def __init__(self, seed: int, people: int = 600) -> None:
        self.seed = seed
        self.people = people

    def __len__(self) -> int:
        return self.people

    def topic(self, person: int) -> str:
        return TOPICS[self._subject(person)]

    def name(self, person: int) -> str:
        return f"{_FIRST[stir(self.seed, 'account', person) % len(_FIRST)]}{person + 1}"

    def document(self, path: str) -> ServedDocument | None:
        """Return the document for a path of the square's host, or None."""
        parts = urlsplit(path)
        parameters, steps = dict(parse_qsl(parts.query)), parts.path.strip("/").split("/")
        if parts.path == "/robots.txt":
            return ALLOW_ALL
        if parts.path == "/api/v1/accounts/lookup":
            person = self._numbers.get(parameters.get("acct", "").lower())
            return None if person is None else _json(self._account(person))
        if parts.path == "/api/v2/search":
            return _json({"accounts": [], "statuses": self._with(parameters.get("q", "")), "hashtags": []})
        if len(steps) == 5 and steps[:4] == ["api", "v1", "timelines", "tag"]:
            return _json(self._with(f"#{unquote(steps[4])}"))
        if len(steps) == 5 and steps[:3] == ["api", "v1", "accounts"] and steps[4] == "statuses":
            number = steps[3]
            if number.isascii() and number.isdigit() and 0 < int(number) <= self.people:
                before = parameters.get("max_id", "")
                until = int(before) if before.isascii() and before.isdigit() else 1 << 60
                written = self.statuses(int(number) - 1)
                return _json([status for status in written if int(status["id"]) < until])
        return None

    def statuses(self, person: int) -> list[dict[str, Any]]:
        return [self._status(person, which) for which in reversed(range(STATUSES))]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {self.name(person): person for person in range(self.people)}

    @cached_property
    def _alike(self) -> dict[int, list[int]]:
        people: dict[int, list[int]] = {}
        for person in range(self.people):
            people.setdefault(self._subject(person), []).append(person)
        return people

    @cached_property
    def _all(self) -> list[dict[str, Any]]:
        return [self._status(person, which) for which in reversed(range(STATUSES)) for person in range(self.people)]

    def _subject(self, person: int) -> int:
        return stir(self.seed, "subject", stir(self.seed, "writes on", person) % 12) % len(TOPICS)

    def _with(self, words: str) -> list[dict[str, Any]]:
        wanted = words.lower().split()
        if not wanted:
            return []
        matching = (status for status in self._all if all(word in status["content"].lower() for word in wanted))
        return list(islice(matching, 40))

    def _account(self, person: int) -> dict[str, Any]:
        name = self.name(person)
        return {
            "id": str(person + 1), "username": name, "acct": name, "display_name": name.title(),
            "url": f"http://{HOST}/@{name}", "note": "", "bot": False, "discoverable": True, "indexable": True,
            "noindex": False, "moved": None,
        }  # fmt: skip

    def _status(self, person: int, which: int) -> dict[str, Any]:
        chance = dice(self.seed, "status", person, which)
        subject, mentioned = self._subject(person), -1
        if chance.random() < 0.4:
            crowd = self._alike[subject] if chance.random() < 0.6 else range(self.people)
            mentioned = crowd[int(chance.random() * len(crowd))]
            if chance.random() < 0.5:
                subject = self._subject(mentioned)
        elif chance.random() < 0.4:
            subject = self._subject(int(chance.random() * self.people))
        text = paragraphs(chance, subject, 20)[0]
        tag = "#" + "".join(letter for letter in TOPICS[subject].rpartition("/")[2] if letter.isalnum())
        to = f"@{self.name(mentioned)} " if mentioned >= 0 and mentioned != person else ""
        about = self._account(mentioned) if to else {}
        return {
            "id": str(1 + which * self.people + person), "visibility": "public", "language": "en", "spoiler_text": "",
            "content": f"<p>{escape(f'{to}{text} {tag}')}</p>", "account": self._account(person), "reblog": None,
            "in_reply_to_id": None,
            "mentions": [{key: about[key] for key in ("id", "username", "acct", "url")}] if to else [],
        }  # fmt: skip


def _json(data: Any) -> ServedDocument:
    return ServedDocument(json.dumps(data).encode(), "application/json; charset=utf-8")
