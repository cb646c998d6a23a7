"""Tests of exceptions."""

import pickle

from lycosa.core.errors import DamagedError, FetchError, InputError, LockedError, LycosaError, StoreError


def test_input_error_has_code_and_message() -> None:
    error = InputError("bad-value", "--budget is x")
    assert ("bad-value", "--budget is x") == (error.code, error.message)
    assert "--budget is x" == str(error)


def test_input_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(InputError("bad-value", "--budget is x")))
    assert ("bad-value", "--budget is x") == (error.code, error.message)


def test_store_errors_are_lycosa_errors() -> None:
    assert issubclass(LockedError, StoreError)
    assert issubclass(DamagedError, StoreError)
    assert issubclass(StoreError, LycosaError)


def test_fetch_error_is_not_shown_to_users() -> None:
    error = FetchError("timeout", "no answer", again=True, address="192.0.2.1")
    assert not isinstance(error, LycosaError)
    assert ("timeout", True, "192.0.2.1", "no answer") == (error.outcome, error.again, error.address, str(error))
