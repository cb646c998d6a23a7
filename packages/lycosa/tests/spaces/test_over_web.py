"""Spaces that fetch with the web space."""

from __future__ import annotations

from lycosa.core.options import Options
from lycosa.spaces.making import web_space
from lycosa.spaces.over_web import WebBackedSpace


def test_over_web_disables_probes_sitemaps_and_walls() -> None:
    web = web_space(Options(sitemaps=True), lambda: 0.0)
    WebBackedSpace(web)
    assert (0, False, False) == (web.probe_after, web.sitemaps, web.walls)


def test_over_web_shares_politeness() -> None:
    web = web_space(Options(delay=3.0), lambda: 0.0)
    space = WebBackedSpace(web)
    assert "a.test" == space.host_key("http://a.test/x")
    web.politeness.hold("a.test", 9.0, "busy")
    assert (9.0, "busy") == space.ready("a.test")
