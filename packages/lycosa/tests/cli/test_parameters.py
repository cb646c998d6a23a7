"""Shared parameters of commands, and parsing of times."""

from __future__ import annotations

from input_errors import raises_input_error
from lycosa.cli.parameters import (
    complete_names,
    crawl_options,
    network_options,
    network_parameters,
    parse_end_time,
    parse_time,
    rare_options,
)
from lycosa.core.options import Options
from lycosa.strategies import STRATEGIES

NOW = 1_700_000_000.0  # 2023-11-14 22:13:20


def test_complete_names_matches_prefix() -> None:
    assert {"best-first", "best-first-page"} <= set(complete_names("strategies")("best"))
    assert set(STRATEGIES) <= set(complete_names("strategies")(""))


def test_network_options_disable_traps() -> None:
    options = network_options(delay=2.0, contact=None)
    assert (2.0, False) == (options.delay, options.traps)


def test_network_options_are_validated() -> None:
    with raises_input_error("out-of-range"):
        network_options(delay=-1.0)


def test_network_parameters_selects_by_name() -> None:
    assert ["delay", "proxy"] == [one.name for one in network_parameters("delay", "proxy")]


def test_crawl_options_exclude_those_of_refresh() -> None:
    names = {one.name for one in crawl_options()}
    assert {"topic", "strategy", "budget"} <= names
    assert "per_hour" not in names
    assert "per_hour" in {one.name for one in crawl_options(of_refresh=True)}


def test_rare_options_are_options() -> None:
    assert rare_options() < set(Options.__dataclass_fields__)
    assert "budget" not in rare_options()


def test_parse_end_time_includes_day() -> None:
    assert parse_time("2023-11-14", NOW) + 86_400 - 1e-6 == parse_end_time("2023-11-14", NOW, "--at")
    assert parse_time("2023-11-14 10:00", NOW) == parse_end_time("2023-11-14 10:00", NOW, "--at")
