"""Pages that need a browser: which they are, and how they are rendered without a way past our own proxy.

finding.py    the Chromium that is installed
needs.py      which pages to render, learned from the log
rendering.py  open a page, wait, scroll, take the final DOM
chromium.py   the browser process; the only file that knows the library
gate.py       its only way out
trackers.py   what is not fetched
orphans.py    ends browsers that nobody owns
"""

from __future__ import annotations

from lycosa.browser.finding import find_chromium, what_is_missing
from lycosa.browser.missing import Missing
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.web.rendering import Renderer


def renderer_of(options: Options) -> Renderer | None:
    """Who renders pages as the options want it; None: nobody, and nobody is told of it."""
    if options.render == "never":
        return None
    if missing := what_is_missing(options.browser):
        if options.render == "always":
            raise InputError(f"--render always takes a browser: {missing}")
        return Missing(missing)
    from lycosa.browser.rendering import Rendering  # what most crawls can do without

    return Rendering(options, find_chromium(options.browser))
