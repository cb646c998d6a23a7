"""Assertions on the code of an `InputError`, so that tests do not depend on its wording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lycosa.core.errors import InputError


@contextmanager
def raises_input_error(code: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Expect an `InputError` with this code and, with `match`, a message that the pattern matches."""
    with pytest.raises(InputError, match=match) as caught:
        yield caught
    assert caught.value.code == code
