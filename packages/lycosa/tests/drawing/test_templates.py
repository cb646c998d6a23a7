"""Tests of the Jinja environment."""

import pytest
from jinja2 import UndefinedError

from lycosa.drawing.templates import environment


def test_output_is_escaped_and_cleaned() -> None:
    template = environment("lycosa.collection.report").from_string("{{ text }}")
    assert "&lt;b&gt;a\ufffdb" == template.render(text="<b>a\u202eb")


def test_undefined_names_raise() -> None:
    with pytest.raises(UndefinedError):
        environment("lycosa.collection.report").from_string("{{ missing }}").render()


def test_templates_have_filters_and_style() -> None:
    def doubled(number: int) -> int:
        return 2 * number

    templates = environment("lycosa.collection.report", doubled)
    assert "8 1,000" == templates.from_string("{{ 4|doubled }} {{ 1000|count }}").render()
    assert "--curve-1" in templates.from_string("{{ style }}").render()
