# ruff: noqa: E501 - tables of cases, a line each
"""Opt-outs in all their forms."""

import json
from dataclasses import dataclass, field
from time import process_time

import pytest

from lycosa.web.html import extract
from lycosa.web.optouts import RobotsSignals, TdmRep, page_opt_outs, parse_ai_txt, respected, site_opt_outs


@dataclass
class Case:
    opt_outs: list[str]
    robots: str = ""
    tdmrep: str = ""
    ai: str = ""
    header: dict[str, str] = field(default_factory=dict)
    markup: str = ""
    url: str = "http://a.example/reefs/coral.html"


CASES = {
    "no opt-out": Case([]),
    "content signals": Case(["ai-train:robots.txt"], robots="User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /"),
    "signals in other letters": Case(["ai-train:robots.txt", "search:robots.txt"], robots="USER-AGENT: *\ncontent-signal:SEARCH=NO,AI-TRAIN=NO"),
    "signals for our group": Case(["ai-input:robots.txt"], robots="User-agent: *\nContent-Signal: ai-train=no\n\nUser-agent: Lycosa\nContent-Signal: ai-input=no"),
    "signals for another group": Case([], robots="User-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow: /\n\nUser-agent: *\nAllow: /"),
    "signals for several agents": Case(["ai-train:robots.txt"], robots="User-agent: GPTBot\nUser-agent: *\nContent-Signal: ai-train=no"),
    "signals before any group": Case(["ai-train:robots.txt"], robots="Content-Signal: ai-train=no\nUser-agent: *\nDisallow: /private"),
    "signals in a comment": Case([], robots="# Content-Signal: ai-train=no\nUser-agent: *\nAllow: /"),
    "signals that allow": Case([], robots="User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=yes"),
    "content usage": Case(["train-ai:robots.txt"], robots="User-agent: *\nContent-Usage: train-ai=n"),
    "content usage of a path": Case(["train-ai:robots.txt"], robots="User-agent: *\nAllow: /\nContent-Usage: /reefs/ train-ai=n"),
    "content usage of another path": Case([], robots="User-agent: *\nContent-Usage: /ships/ train-ai=n"),
    "the longest path counts": Case([], robots="User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /reefs/ train-ai=y"),
    "content usage of all automatons": Case(["bots:robots.txt"], robots="User-agent: *\nContent-Usage: bots=n"),
    "content usage in the header": Case(["train-ai:header"], header={"content-usage": "train-ai=n, search=y"}),
    "content signal in the header": Case(["ai-train:header"], header={"content-signal": "ai-train=no, search=yes"}),
    "tdmrep in the header": Case(["tdm:header"], header={"tdm-reservation": "1", "tdm-policy": "https://a.example/p.json"}),
    "tdmrep in a meta element": Case(["tdm:meta"], markup='<meta name="tdm-reservation" content="1">'),
    "tdmrep in the file": Case(["tdm:/.well-known/tdmrep.json"], tdmrep='[{"location": "/reefs/*", "tdm-reservation": 1}]'),
    "tdmrep of another place": Case([], tdmrep='[{"location": "/ships/", "tdm-reservation": 1}]'),
    "the first place of tdmrep counts": Case([], tdmrep='[{"location": "/reefs/", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]'),
    "the page against the file": Case([], tdmrep='[{"location": "/", "tdm-reservation": 1}]', header={"tdm-reservation": "0"}),
    "tdmrep that is not JSON": Case([], tdmrep="<html>not found</html>"),
    "tdmrep that is not a list": Case([], tdmrep='{"location": "/", "tdm-reservation": 1}'),
    "tdmrep of strange values": Case([], tdmrep='[1, {"location": 3}, {"location": "/", "tdm-reservation": "yes"}, null]'),
    "noai": Case(["noai:robots", "noimageai:robots"], markup='<meta name="robots" content="noai, noimageai">'),
    "noai in the header": Case(["noai:robots"], header={"x-robots-tag": "noai"}),
    "noai for another agent": Case([], markup='<meta name="gptbot" content="noai">'),
    "noai for us": Case(["noai:robots"], markup='<meta name="Lycosa" content="noai">'),
    "ai.txt": Case(["ai.txt:/ai.txt"], ai="User-Agent: *\nDisallow: /"),
    "ai.txt by type": Case(["ai.txt:/ai.txt"], ai="User-Agent: *\nDisallow: *.html\nDisallow: *.png"),
    "ai.txt of other types": Case([], ai="User-Agent: *\nDisallow: *.png\nAllow: *.html"),
    "ai.txt without an agent": Case(["ai.txt:/ai.txt"], ai="Disallow: /"),
    "ai.txt that is a page": Case([], ai="<!DOCTYPE html><html><body>Disallow: / was not found</body></html>"),
    "signals behind a byte order mark": Case(["ai-train:robots.txt"], robots="\ufeffUser-agent: *\r\nContent-Signal: ai-train=no\r\n"),
    "signals with blanks and a comment": Case(["ai-train:robots.txt"], robots="User-agent: *\nContent-Signal: search = yes , ai-train = no # please"),
    "signals for our version": Case(["ai-train:robots.txt"], robots="User-agent: Lycosa/2.0\nContent-Signal: ai-train=no"),
    "signals of a path": Case(["ai-train:robots.txt"], robots="User-agent: *\nContent-Signal: /reefs/ ai-train=no"),
    "signals in two lines": Case(["ai-input:robots.txt", "ai-train:robots.txt"], robots="User-agent: *\nContent-Signal: ai-train=no\nContent-Signal: ai-input=no"),
    "unknown signals": Case([], robots="User-agent: *\nContent-Signal: ai-train, =no, no, maybe=perhaps"),
    "content usage by a pattern": Case(["train-ai:robots.txt"], robots="User-agent: *\nContent-Usage: /*.html$ train-ai=n"),
    "two uses": Case(["search:robots.txt", "train-ai:robots.txt"], robots="User-agent: *\nContent-Usage: train-ai=n, search=n"),
    "a robots.txt that is a page": Case([], robots="<html><body>Content-Signal: ai-train=no</body></html>"),
    "tdmrep in other letters": Case(["tdm:meta"], markup='<META NAME="TDM-Reservation" CONTENT=" 1 ">'),
    "tdmrep that reserves nothing": Case([], markup='<meta name="tdm-reservation" content="0">', header={"tdm-reservation": "0"}),
    "the page's element against the file": Case([], tdmrep='[{"location": "/", "tdm-reservation": 1}]', markup='<meta name="tdm-reservation" content="0">'),
    "tdmrep behind a byte order mark": Case(["tdm:/.well-known/tdmrep.json"], tdmrep='\ufeff[{"location": "/", "tdm-reservation": 1}]'),
    "noai in other letters": Case(["noai:robots"], markup='<META NAME="ROBOTS" CONTENT="INDEX,NOAI">'),
    "noai in the header, for another agent": Case([], header={"x-robots-tag": "gptbot: noai"}),
    "noai in the header, among others": Case(["noai:robots"], header={"x-robots-tag": "noarchive, noai"}),
    "noindex is another matter": Case([], markup='<meta name="robots" content="noindex, noarchive">'),
    "ai.txt that allows this": Case([], ai="User-Agent: *\nAllow: /reefs/\nDisallow: /"),
    "ai.txt of another agent": Case([], ai="User-Agent: GPTBot\nDisallow: /"),
    "all of them": Case(
        ["ai-train:robots.txt", "ai.txt:/ai.txt", "tdm:header", "noai:robots"],
        robots="User-agent: *\nContent-Signal: ai-train=no", ai="User-agent: *\nDisallow: /",
        header={"tdm-reservation": "1"}, markup='<meta name="robots" content="noai">',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_opt_outs_are_those_of_case(name: str) -> None:
    case = CASES[name]
    from lycosa.web.optouts import parse_x_robots_tag

    known = site_opt_outs(
        case.url,
        RobotsSignals(case.robots.encode(), "Lycosa"),
        TdmRep(case.tdmrep.encode()) if case.tdmrep else None,
        parse_ai_txt(case.ai.encode(), "Lycosa") if case.ai else None,
    )
    document = extract(f"<title>x</title>{case.markup}<p>Text".encode(), case.url, agent="Lycosa")
    directives = document.directives | parse_x_robots_tag(case.header.get("x-robots-tag", ""), "Lycosa")
    assert page_opt_outs(case.header, directives, known) == case.opt_outs
    signals = RobotsSignals(case.robots.encode(), "Lycosa")
    assert RobotsSignals.of(signals.state()).opt_outs(case.url) == signals.opt_outs(case.url)


def test_respected_filters_by_option() -> None:
    opt_outs = [
        "ai-train:robots.txt",
        "search:robots.txt",
        "ai-input:header",
        "tdm:meta",
        "noai:robots",
        "noimageai:robots",
    ]
    assert respected(opt_outs, "") == []
    assert respected(opt_outs, "training") == ["ai-train:robots.txt", "tdm:meta", "noai:robots"]
    assert respected(opt_outs, "all") == opt_outs


def test_opt_outs_of_hostile_files_take_linear_time() -> None:
    tdmrep = TdmRep(b'[{"location": "/\\ud800", "tdm-reservation": 1}, {"location": "/a", "tdm-reservation": 1}]')
    assert tdmrep.reserves("http://a.example/a")
    many = [{"location": "/" + "\u00fc " * 80, "tdm-reservation": 1}] * 1_000
    tdmrep = TdmRep(json.dumps(many, ensure_ascii=False).encode())
    robots = RobotsSignals(b"".join(b"Content-Usage: /%s ai=n\n" % (b"\xc3\xbc" * 240) for _ in range(1_000)), "Lycosa")
    again = RobotsSignals.of(robots.state())
    began = process_time()
    for _ in range(5):  # as often as pages are looked up
        assert (
            site_opt_outs("http://a.example/reefs", robots, tdmrep, None)
            == again.opt_outs("http://a.example/reefs")
            == []
        )
    assert process_time() - began < 3.0  # takes tenths of a second on an idle machine
