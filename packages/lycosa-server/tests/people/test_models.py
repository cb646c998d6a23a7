"""Models in the database."""

import pytest

from input_errors import raises_input_error
from lycosa_server.people import models
from lycosa_server.people.database import Conflict, Database
from lycosa_server.people.interest_settings import InterestSettings
from people_maker import NOW, interest, person


def test_take_queued_is_first_come_first_served(database: Database) -> None:
    ada = person(database, "Ada")
    first = models.create(database, NOW, ada, "first", "rules", max_count=5)
    models.create(database, NOW + 1, ada, "second", "rules", max_count=5)
    taken = models.take_queued(database)
    assert taken is not None
    assert (first["id"], "training") == (taken["id"], taken["state"])
    assert models.end_training(database, NOW, first["id"], "failed", {}, reason="no labels")
    assert not models.end_training(database, NOW, "deleted", "ready", {})


def test_ready_refuses_others_kinds_and_states(database: Database) -> None:
    ada, bob = person(database, "Ada"), person(database, "Bob")
    model = models.create(database, NOW, ada, "mine", "rules", max_count=5)["id"]
    for owner, kinds, code in (
        (bob, ("rules",), "unknown-model"),
        (ada, models.JUDGING, "wrong-kind"),
        (ada, ("rules",), "not-ready"),
    ):
        with raises_input_error(code):
            models.ready(database, owner, model, kinds)
    models.end_training(database, NOW, model, "ready", {})
    assert "mine" == models.ready(database, ada, model, ("rules",))["name"]


def test_remove_refuses_model_in_use(database: Database) -> None:
    ada = person(database, "Ada")
    model = models.create(database, NOW, ada, "mine", "classifier", max_count=5)["id"]
    settings = InterestSettings(model=model, targets=["x"], seeds=["https://a.example/"])
    reefs = interest(database, ada, "Reefs", settings)
    with pytest.raises(Conflict, match="Reefs"):
        models.remove(database, ada, model)
    database.delete("interest", reefs)
    models.remove(database, ada, model)
    assert set() == models.model_ids(database)


def test_create_refuses_more_than_maximum(database: Database) -> None:
    ada = person(database, "Ada")
    models.create(database, NOW, ada, "one", "rules", max_count=1)
    with raises_input_error("limit-reached"):
        models.create(database, NOW, ada, "two", "rules", max_count=1)
