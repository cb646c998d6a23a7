"""`lycosa identity`: sign requests, so that sites can verify them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated


def identity(
    file: Annotated[Path, "FILE", "The identity file: a private key, readable only by you."],
    *,
    new: Annotated[str, "SITE", "Create a key for this site, which must serve the key directory."] = "",
) -> None:
    """Sign requests, so that sites can verify them (Web Bot Auth).

    --new creates a key. 'lycosa identity FILE' then prints the key directory (the public key) to publish on your site.
    """
    from lycosa.web.signing import MEDIA_TYPE, WELL_KNOWN, Identity

    if not new:
        print(json.dumps(Identity.load(file).directory(), indent=2))
        return
    created = Identity.new(new)
    created.save(file)
    print(f"{file}: the private key {created.id}. Keep it secret.")
    print(f"Serve the output of 'lycosa identity {file}' at {created.agent}{WELL_KNOWN}")
    print(f"with content type {MEDIA_TYPE}. Then crawl with --identity {file}")
