"""Tests of plugins and reserved names."""

import pytest

from input_errors import raises_input_error
from lycosa.core import plugins
from lycosa.core.plugins import Plugin, missing, named


class Entry:
    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error

    def load(self) -> str:
        if self.error is not None:
            raise self.error
        return "loaded"


def plugin(
    name: str = "mine", package: str = "reefs", group: str = "judges", error: BaseException | None = None
) -> Plugin:
    return Plugin(group, name, "reefs:Mine", package, "1.0", "/nowhere", Entry(error))  # type: ignore[arg-type]


def test_load_returns_attribute() -> None:
    assert "loaded" == plugin().load()


@pytest.mark.parametrize("error", [ImportError("no\nmodule"), SystemExit(2), ValueError("x")])
def test_load_reports_any_failure(error: BaseException) -> None:
    with raises_input_error("plugin-load-failed", rf"cannot load mine .*{type(error).__name__}: "):
        plugin(error=error).load()


def test_named_first_plugin_wins_and_reserved_names_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = plugin(package="a"), plugin(package="b")
    foreign, own = plugin("lab", "b", "commands"), plugin("serve", "lycosa-server", "commands")
    monkeypatch.setattr(plugins, "installed", lambda: (first, second, foreign, own))
    assert {"mine": first} == named("judges")
    assert {"serve": own} == named("commands")
    assert "lycosa-lab" == foreign.owner


def test_missing_error_names_package() -> None:
    error = missing("runners", "ray", "--cluster")
    assert error is not None
    assert ("missing-package", True) == (error.code, "--cluster needs the package lycosa-cluster" in str(error))
    assert missing("judges", "ray") is None
