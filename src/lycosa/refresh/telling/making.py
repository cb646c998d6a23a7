"""The targets that the options name; wrong ones are refused before anything is fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from lycosa.core.durations import seconds
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.refresh.telling.mail import Mail, Server, password_of
from lycosa.refresh.telling.target import Target
from lycosa.refresh.telling.webhook import Webhook, secret_of


def make_targets(
    *,
    webhooks: Sequence[str] = (),
    mail_to: Sequence[str] = (),
    mail_from: str = "",
    smtp: str = "",
    digest_every: str = "1d",
    environment: Mapping[str, str] = os.environ,
) -> list[Target]:
    """Whom to tell. Secrets come from the environment, never from the options: those are written to crawl.toml.

    >>> [t.name for t in make_targets(webhooks=["https://a.example/h"], environment={"LYCOSA_WEBHOOK_SECRET": "s"})]
    ['webhook https://a.example/...']
    """
    targets: dict[str, Target] = {}
    for address in webhooks:
        hook = Webhook(address, secret_of(environment))
        targets[hook.key] = hook
    if mail_to and not smtp:
        raise InputError("--mail-to wants a mail server: name it with --smtp smtp://user@mail.example.org:587")
    every = seconds(digest_every, "--digest-every")  # also where nobody gets mail: it is kept for when somebody does
    if smtp:
        server = Server(smtp, password_of(environment))
        for to in mail_to:
            mail = Mail(to, mail_from or mail_to[0], server, every=every)
            targets[mail.key] = mail
    return list(targets.values())


def targets_of(options: Options, environment: Mapping[str, str] = os.environ) -> list[Target]:
    """Whom the options of a crawl want told."""
    return make_targets(
        webhooks=options.webhooks,
        mail_to=options.mail_to,
        mail_from=options.mail_from,
        smtp=options.smtp,
        digest_every=options.digest_every,
        environment=environment,
    )
