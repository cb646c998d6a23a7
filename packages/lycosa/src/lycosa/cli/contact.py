"""Contact for site operators, requested before the first crawl of other machines, and remembered."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address

from lycosa.core.files import atomic_write, read_whole
from lycosa.core.options import Options
from lycosa.replay.places import data_directory
from lycosa.spaces.making import user_agent
from lycosa.web.urls import check_seed, host

MAX_ANSWER_BYTES = 1_000  # maximum length of the contact

QUESTION = (
    "Site owners want to know whom to contact about a crawler. Your web or email address, sent with every request\n"
    "(Enter: none; --contact changes it): "
)

NOTE = "no contact address: give your web or email address with --contact, so that site owners can reach you"


def with_contact(options: Options, notes: list[str], *, quiet: bool = False) -> Options:
    """Return the options with the user's contact; without one, prompt for it in a terminal, else add a note."""
    if options.contact or options.user_agent or not _needs_contact(options):
        return options
    try:
        known = read_whole(data_directory() / "contact", MAX_ANSWER_BYTES).decode().strip()
    except (OSError, ValueError):
        if quiet:
            return options
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            notes.append(NOTE)
            return options
        known = _ask(options)
    return replace(options, contact=known) if known else options


def _needs_contact(options: Options) -> bool:
    """Return True if the seeds of a web crawl without a proxy are on other machines."""
    if options.space.partition(",")[0] != "web" or options.proxy:
        return False
    names = [
        host(url) for url in map(check_seed, [*options.seeds, *options.portals, *options.seed_files]) if url is not None
    ]
    return any(not _is_near(name) for name in names)


def _is_near(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return not ip_address(name.strip("[]")).is_global
    except ValueError:
        return False


def _ask(options: Options) -> str:
    """Prompt for a contact and store it; an invalid one raises InputError and is not stored."""
    print(QUESTION, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline(MAX_ANSWER_BYTES).strip()
    user_agent(replace(options, contact=answer))
    path = data_directory() / "contact"
    with suppress(OSError):  # prompt again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(answer.encode())
    return answer
