"""The API of models, and their training."""

from __future__ import annotations

import asyncio
import gzip
import io
import threading
import zipfile
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.judges.model import TrainedModel, fit_model
from lycosa.strategies.rulebook import RuleBook
from lycosa.text.bags import Bags
from lycosa_server import model_files as files
from lycosa_server.people import models
from site_maker import API, PASSWORD, SiteUnderTest

DIRECTORY = b"http://reef.test/a\tSea/Reefs\nhttp://reef.test/b\tSea/Reefs\nhttp://reef.test/c\tSea/Fish\nhttp://x.test/\tRail\n"


def classifier() -> TrainedModel:
    """Return a classifier that distinguishes reefs, fish and trains by one word each."""
    bags = Bags.of([([0], [2]), ([1], [2]), ([2], [2])])
    return fit_model("nb", bags, np.arange(3), ["Sea/Fish", "Sea/Reefs", "Trains"], ["fish", "coral", "rail"])


def rules() -> RuleBook:
    """Return rules by which fish lead to reefs."""
    book = RuleBook()
    book.add("Sea/Fish", "Sea/Reefs", 3)
    book.add("Sea/Fish", "Trains", 1)
    return book


def written(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def upload(client: Any, content: bytes, name: str = "mine") -> Any:
    return client.post(f"{API}/models", files={"file": ("some.model", content)}, data={"name": name})


def wish(client: Any, **settings: Any) -> Any:
    wished = {"words": "", "seeds": ["http://reef.test/"], **settings}
    return client.post(f"{API}/interests", json={"name": "Reefs", "settings": wished})


def test_model_goes_from_upload_to_deletion(site: SiteUnderTest, tmp_path: Path) -> None:
    ada = site.sign_up("Ada")
    made = upload(ada, written(classifier(), tmp_path / "m"))
    assert 201 == made.status_code, made.text
    model = made.json()
    assert ("mine", "classifier", "ready", 3) == (model["name"], model["kind"], model["state"], model["about"]["pages"])
    place = f"{API}/models/{model['id']}"
    top = ada.get(f"{place}/topics").json()["topics"]
    assert [("Sea", 2, 2), ("Trains", 1, 0)] == [(each["path"], each["pages"], each["below"]) for each in top]
    below = ada.get(f"{place}/topics", params={"under": "Sea"}).json()["topics"]
    assert ["Sea/Fish", "Sea/Reefs"] == [each["path"] for each in below]
    assert 404 == ada.get(f"{place}/topics", params={"under": "Sky"}).status_code
    body = wish(ada, model=model["id"])
    assert (422, True) == (body.status_code, "choose: " in body.text)
    book = upload(ada, written(rules(), tmp_path / "r"), "rules").json()
    named = {"model": model["id"], "targets": ["sea/reefs"], "strategy": "rules", "strategy_model": book["id"]}
    interest = wish(ada, **named)
    assert 201 == interest.status_code, interest.text
    assert ["Sea/Reefs"] == interest.json()["settings"]["targets"]
    assert 409 == ada.delete(place).status_code
    packed = zipfile.ZipFile(io.BytesIO(ada.get(f"{API}/me/export").content))
    assert (tmp_path / "m").read_bytes() == packed.read(f"models/classifier-{model['id'][:6]}")
    assert (tmp_path / "m").read_bytes() == ada.get(f"{place}/file").content
    assert 204 == ada.delete(f"{API}/interests/{interest.json()['id']}").status_code
    assert 204 == ada.delete(place).status_code
    assert not site.settings.model_file(model["id"]).exists()
    assert 204 == ada.request("DELETE", f"{API}/me", json={"password": PASSWORD}).status_code
    assert [] == list((site.settings.data / "models").iterdir())


def test_models_of_other_people_cannot_be_used(site: SiteUnderTest, tmp_path: Path) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    model = upload(ada, written(classifier(), tmp_path / "m")).json()["id"]
    other = upload(ada, written(classifier(), tmp_path / "m")).json()["id"]
    body = wish(bob, model=model, targets=["Trains"])
    assert (422, True) == (body.status_code, "not yours" in body.text)
    interest = wish(ada, model=model, targets=["Trains"]).json()
    place = f"{API}/interests/{interest['id']}"
    assert 200 == ada.put(f"{place}/shares", json={"name": "Bob", "mode": "edit"}).status_code
    settings = {**interest["settings"], "budget": 7}
    assert 200 == bob.patch(place, json={"settings": settings}).status_code
    assert 422 == bob.patch(place, json={"settings": {**settings, "model": other}}).status_code
    mine = wish(bob, words="trains").json()["id"]
    asked = {"name": "r", "kind": "rules", "interests": [mine], "model": model}
    assert 422 == bob.post(f"{API}/models/train", json=asked).status_code
    asked = {"name": "c", "kind": "classifier", "interests": [interest["id"]]}
    assert 403 == bob.post(f"{API}/models/train", json=asked).status_code
    assert [] == bob.get(f"{API}/models").json()


def damaged(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def test_upload_refuses_damaged_and_large_files(
    site: SiteUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = site.sign_up("Ada")
    good = written(classifier(), tmp_path / "m")
    refused = {
        "damaged": damaged(good),
        "not UTF-8 text": b"\x00\x01 neither text nor model",
        "add up to": written(rules(), tmp_path / "r").replace(b"0.75", b"0.95"),
    }
    for why, content in refused.items():
        answer = upload(ada, content)
        assert (422, True, False) == (answer.status_code, why in answer.text, str(tmp_path) in answer.text), answer.text
    with monkeypatch.context() as narrow:
        narrow.setattr(models, "MAX_ABOUT_CHARACTERS", 50)  # backups contain at most this
        assert (422, True) == ((body := upload(ada, good)).status_code, "too long" in body.text)
    deep = b"http://reef.test/a\t" + b"/".join([b"a"] * 20) + b"\n"
    (tmp_path / "deep").write_bytes(deep)
    monkeypatch.setattr(files, "MAX_TREE_BYTES", 19 * files.NODE_BYTES)  # enough for 19 nodes, of 20
    with raises_input_error("too-large"):
        files.inspect(tmp_path / "deep", "directory")
    monkeypatch.setattr(files, "MAX_CLASSES", 2)
    with raises_input_error("too-large"):
        files.inspect(tmp_path / "m", "classifier")
    monkeypatch.setattr(models, "MAX_FILE_BYTES", 100)
    assert 413 == upload(ada, good).status_code
    assert [] == list((site.settings.data / "models").iterdir())


@pytest.mark.parametrize("site", [{"max_models": 1}], indirect=True)
def test_upload_refuses_more_than_maximum(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    assert 201 == upload(ada, DIRECTORY).status_code
    assert 422 == upload(ada, DIRECTORY).status_code
    assert 1 == len(list((site.settings.data / "models").iterdir()))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"strategy": "hmm", "words": "x"}, "needs a browsing model"),
    ({"strategy": "best-first", "words": "x", "strategy_model": "RULES"}, "takes no model"),
    ({"strategy": "rules", "words": "x", "strategy_model": "RULES"}, "rules need a classifier"),
    ({"strategy": "hmm", "words": "x", "strategy_model": "RULES"}, "choose a browsing"),
    ({"strategy": "hmm,file=/etc/passwd", "words": "x", "strategy_model": "RULES"}, "unknown strategy"),
    ({"strategy": "rules,file=/etc/passwd", "model": "MODEL", "targets": ["Trains"], "strategy_model": "RULES"},
     "unknown strategy"),
    ({"model": "RULES", "targets": ["Trains"]}, "choose a classifier"),
    ({"model": "MODEL", "targets": ["Trains"], "words": "x"}, "a model replaces words"),
    ({"model": "MODEL", "targets": ["Tains"]}, "did you mean Trains"),
    ({"targets": ["Trains"], "words": "x"}, "choose the model as well"),
]  # fmt: skip


def test_settings_refuse_models_of_wrong_kind(site: SiteUnderTest, tmp_path: Path) -> None:
    ada = site.sign_up("Ada")
    made = {"MODEL": upload(ada, written(classifier(), tmp_path / "m")).json()["id"],
            "RULES": upload(ada, written(rules(), tmp_path / "r")).json()["id"]}  # fmt: skip
    for settings, why in WRONG:
        answer = wish(ada, **{key: made.get(str(value), value) for key, value in settings.items()})
        assert (422, True) == (answer.status_code, why in answer.text), (settings, answer.text)
    assert {"rules", "browsing"} == {each["model"] for each in ada.get(f"{API}/strategies").json()} - {""}


def test_upload_converts_web_directory_dump(site: SiteUnderTest) -> None:
    ada = site.sign_up("Ada")
    page = '<ExternalPage about="http://late.example/"><topic>Top/Arts/Opera</topic></ExternalPage>'
    dump = f'<?xml version="1.0"?>\n<RDF xmlns="http://dmoz.org/rdf/">{page}</RDF>'.encode()
    listed = upload(ada, dump).json()
    assert ("directory", {"topics": 2, "pages": 1}) == (listed["kind"], listed["about"])
    shown = ada.get(f"{API}/models/{listed['id']}/topics", params={"under": "arts"}).json()
    assert ("Arts", ["Arts/Opera"], ["http://late.example/"]) == (
        shown["under"], [topic["path"] for topic in shown["topics"]], shown["pages"],
    )  # fmt: skip
    assert "decompress it" in upload(ada, gzip.compress(dump)).text


def test_uploads_of_one_person_are_processed_in_turn(site: SiteUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = site.sign_up("Ada"), site.sign_up("Bob")
    began, both = list[str](), threading.Barrier(2, timeout=60)
    reading, at_once = list[str](), list[int]()

    def read(module: str, task: dict[str, Any], seconds: float) -> dict[str, Any]:
        owner = "bob" if b"bob" in Path(task["given"]).read_bytes() else "ada"
        reading.append(owner)
        at_once.append(reading.count(owner))
        if len(began) < 2:
            began.append(owner)
            both.wait()  # until the upload of the other person is being read
        reading.remove(owner)
        return files.import_upload(task)

    monkeypatch.setattr("lycosa_server.child.run", read)
    asked = [(ada, b"http://ada.test/\tSea\n")] * 3 + [(bob, b"http://bob.test/\tSea\n")]

    async def send(client: Any, content: bytes) -> int:
        transport, headers = httpx.ASGITransport(site.app), dict(client.headers)
        async with httpx.AsyncClient(
            transport=transport, base_url=site.settings.base, headers=headers, cookies=dict(client.cookies)
        ) as http:
            return (await http.post(f"{API}/models", files={"file": ("a.tsv", content)})).status_code

    async def send_all() -> list[int]:
        return await asyncio.gather(*(send(*each) for each in asked))

    assert [201] * 4 == asyncio.run(send_all())
    assert ({"ada", "bob"}, 1) == (set(began), max(at_once))
