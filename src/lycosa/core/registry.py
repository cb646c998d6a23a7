"""What has a name: strategies, judges, spaces, schedules, detectors. Each kind has one registry.

A module is loaded when the first thing of it is wanted. Users name a class of their own as `module:Class`.
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

from lycosa.core.errors import InputError, LycosaError
from lycosa.core.spec import build, imported, parameters


@dataclass(frozen=True)
class Entry:
    """What a name stands for: `MODULE:ATTRIBUTE` of the registry's package, made with these arguments."""

    module: str
    attribute: str
    summary: str
    paper: str = ""
    needs: str = ""
    """What it can't do without: words, examples, training, a taxonomy ..."""
    arguments: Mapping[str, Any] = field(default_factory=dict)


E = TypeVar("E", bound=Entry)


class Registry(dict[str, E]):
    """Names and their entries, in the order in which they are listed.

    >>> clocks = Registry("clock", "lycosa", {"wall": Entry("spaces.making", "wall_clock", "the time of day")})
    >>> clocks.maker("walls")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lycosa.core.errors.InputError: there is no clock 'walls': did you mean wall? choose one of wall; ...
    """

    def __init__(self, what: str, package: str, entries: Mapping[str, E], command: str = "") -> None:
        super().__init__(entries)
        self.what, self.package = what, package
        self.command = command
        """What lists them; empty if an error message does that."""

    def maker(self, name: str) -> Any:
        """The class or function that a name stands for, or the user's own."""
        entry = self.get(name)
        if entry is not None:
            return getattr(import_module(f"{self.package}.{entry.module}"), entry.attribute)
        if ":" in name:
            return imported(name, f"the {self.what}")
        near = difflib.get_close_matches(name, self, 4, 0.4)
        choice = f"'{self.command}' lists all" if self.command else f"choose one of {', '.join(self)}"
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise InputError(f"there is no {self.what} {name!r}: {hint}{choice}; or your own as module:Class")

    def make(self, name: str, typed: Mapping[str, str], **known: Any) -> Any:
        """Make one with the parameters that were typed after its name; `known` it gets if it asks for them."""
        maker = self.maker(name)
        if name in self:
            return build(maker, typed, name, **{**known, **self[name].arguments})
        try:
            return build(maker, typed, name, **known)
        except LycosaError:
            raise
        except Exception as error:  # of the user's own code
            raise InputError(f"cannot load the {self.what} {name!r}: {type(error).__name__}: {error}") from error

    def parameters(self, name: str, hidden: Container[str] = ()) -> dict[str, tuple[Any, Any]]:
        """What can be typed after a name: for each parameter its type and its default."""
        fixed = self[name].arguments if name in self else {}
        takes = parameters(self.maker(name)).items()
        return {key: (kind, fixed.get(key, default)) for key, (kind, default) in takes if key not in hidden}
