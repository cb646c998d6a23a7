"""Errors as a program reads them. Messages name options as the command line spells them; who calls from Python hears of
keyword arguments instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from lycosa.core.errors import InputError
from lycosa.core.options import Options, flag_of

_ELSEWHERE = {"--out": "out", "--all": "everything", "--format": "form", "--no-archive": "archive=False"}
"""Of commands that are methods in Python."""

_NAMES = {flag_of(item.name): item.name for item in fields(Options)} | _ELSEWHERE

_FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)(?: (?P<value>[A-Z]+\b(?![a-z'])|[a-z]+://[^\s,;)]+|[\d./:]*\d))?")
_SUBJECT = re.compile(r"\b([a-z_]+)=(?= (?:is|are|says|names|finds|needs|wants|has)\b)")
"""A keyword that a sentence speaks of is a name; one that is to be passed has an equals sign."""
_COMMAND = re.compile(r"'lycosa (?P<name>crawl|resume|watch|refresh)(?: (?P<directory>[^'\s]+))?'")


def in_python(message: str) -> str:
    """A message with keyword arguments in the place of options, and calls in the place of commands.

    >>> in_python("allow it with --allow-network 10.0.0.0/8, or leave out --proxy")
    "allow it with allow_network='10.0.0.0/8', or leave out proxy="
    >>> in_python("--search-results is 0: it has to be 1 or more")
    'search_results is 0: it has to be 1 or more'
    >>> in_python("go on with it by 'lycosa resume reefs'")
    "go on with it by lycosa.resume('reefs')"
    """
    return _SUBJECT.sub(r"\1", _FLAG.sub(_keyword, _COMMAND.sub(_call, message)))


def _keyword(found: re.Match[str]) -> str:
    name = _NAMES.get(found[1])
    if name is None:
        return found[0]
    if "=" in name:
        return name
    value = found["value"]
    shown = "" if not value else value if value.isupper() else repr(value)
    kind = Options.__dataclass_fields__[name].type if name in Options.__dataclass_fields__ else ""
    return f"{name}=[{shown}]" if shown and shown.isupper() and str(kind) == "list[str]" else f"{name}={shown}"


def _call(found: re.Match[str]) -> str:
    name = {"refresh": "revisit"}.get(found["name"], found["name"])
    return f"lycosa.{name}({found['directory']!r})" if found["directory"] else f"lycosa.{name}()"


@contextmanager
def for_programs() -> Iterator[None]:
    """What is raised inside speaks to someone who calls from Python."""
    try:
        yield
    except InputError as error:
        told = error.python or in_python(str(error))
        if told == str(error):
            raise
        raise type(error)(told, python=told) from error.__cause__
