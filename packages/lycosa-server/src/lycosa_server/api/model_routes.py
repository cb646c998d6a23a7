"""Your own models: upload, training, and browsing of their topics.

Models are private. They count against a limit, are part of exports and backups, and are deleted with the account.
"""

from __future__ import annotations

from asyncio import Lock
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Literal
from weakref import WeakValueDictionary

from fastapi import APIRouter, Form, HTTPException, UploadFile
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from lycosa.core.errors import InputError
from lycosa.judges.model import KINDS
from lycosa.training.web_directory import WebDirectory
from lycosa_server import child
from lycosa_server import model_files as files
from lycosa_server.api import Body, JsonColumn, Named
from lycosa_server.guards import Caller, ModelAccess, model_to, needs
from lycosa_server.people import models, permissions
from lycosa_server.people.database import as_dict
from lycosa_server.people.ids import new_id
from lycosa_server.people.interests import MAX_NAME_LENGTH, check_limit
from lycosa_server.people.text_input import clean_line

router = APIRouter(tags=["models"])

MAX_CHILDREN = 500
MAX_SHOWN = 100  # topics and pages per response
# by person, so that their uploads are processed one at a time
UPLOAD_LOCKS: WeakValueDictionary[str, Lock] = WeakValueDictionary()
Kind = Literal["classifier", "rules", "browsing", "directory"]


class ModelInfo(Named):
    """A model, as its owner sees it."""

    kind: Kind = Field(description="classifier: judges; rules, browsing: for a strategy; directory: pages by topic.")
    state: Literal["queued", "training", "ready", "failed"]
    reason: str = Field(description="Why training failed.")
    about: JsonColumn = Field(description="What is known of it: classes, pages, how good it is.")
    size: int = Field(description="Bytes.")
    created: float


class ModelTraining(Body):
    name: str = Field(min_length=1, max_length=200)
    kind: Literal["classifier", "rules", "browsing"]
    interests: list[Annotated[str, Field(max_length=64)]] = Field(
        min_length=1,
        max_length=20,
        description="Your interests; their newest crawls are read. One gives relevant or not, several one class each.",
    )
    classifier: str = Field("nb", max_length=20, description="For a classifier: which kind of it.")
    model: str = Field("", max_length=64, description="For rules: the classifier with their classes.")
    directory: str = Field("", max_length=64, description="For a classifier: classes are topics of this directory.")
    topics: list[Annotated[str, Field(max_length=1_000)]] = Field([], max_length=100, description="Which of them.")


class NewModelName(Body):
    name: str = Field(min_length=1, max_length=200)


class TopicNode(BaseModel):
    path: str
    name: str
    pages: int
    below: int = Field(description="Topics below it.")


class Topics(BaseModel):
    """Part of a topic tree: the children of one topic, and its pages."""

    under: str
    topics: list[TopicNode]
    pages: list[str] = Field(description="Addresses, of a directory: those at the topic and below, the first ones.")
    more: bool = Field(description="Whether there are more topics or pages than these.")


@router.get("/models")
def list_models(person: Caller = needs("read")) -> list[ModelInfo]:
    """Return your models, newest first."""
    return [ModelInfo(**row) for row in models.of_person(person.site.database, person.id)]


@router.post("/models", status_code=201)
async def upload_model(
    file: UploadFile, name: Annotated[str, Form(max_length=200)] = "", person: Caller = needs("write")
) -> ModelInfo:
    """Upload a model: a file of `lycosa train`, `train rules` or `train browse`, or a table of pages by topic (one URL,
    a tab and a path such as Science/Physics per line).
    """
    turn = UPLOAD_LOCKS.setdefault(person.id, Lock())
    async with turn:
        return await run_in_threadpool(_store_upload, file.file, name or Path(file.filename or "").stem[:100], person)


def _store_upload(file: IO[bytes], name: str, person: Caller) -> ModelInfo:
    site, key = person.site, new_id()
    name = clean_line(name or "model", "the name", 120, 1)
    check_limit(site.database, "model", person.id, site.settings.max_models)  # before the upload is read
    place, given = site.settings.model_file(key), files.models_directory(site.settings) / f"{key}.new"
    try:
        _receive(file, given)
        read = child.run(files.__name__, {"given": str(given), "place": str(place)}, 120.0)
        values = {"id": key, "state": "ready", "max_count": site.settings.max_models, **read}
        row = models.create(site.database, site.clock(), person.id, name, **values)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
    finally:
        given.unlink(missing_ok=True)
    person.record("model uploaded", key, row["kind"])
    return ModelInfo(**row)


@router.post("/models/train", status_code=201)
def train_model(body: ModelTraining, person: Caller = needs("run")) -> ModelInfo:
    """Queue training on pages of your interests, your labels, and pages you opened. Nothing is fetched."""
    site = person.site
    for interest in body.interests:
        permissions.interest_for(site.database, person.id, interest, "own")
    if body.kind == "classifier" and body.classifier not in KINDS:
        raise InputError("unknown-name", f"unknown classifier {body.classifier[:40]!r}: choose {', '.join(KINDS)}")
    if body.kind != "classifier" and len(body.interests) > 1:
        raise InputError("conflicting-options", f"a {body.kind} model is trained on a single interest: choose one")
    if (body.kind == "rules") != bool(body.model):
        raise InputError("conflicting-options", "rules need a model, other kinds accept none: set or remove it")
    if body.model:
        models.ready(site.database, person.id, body.model, models.JUDGING)
    if bool(body.directory) != bool(body.topics) or (body.directory and body.kind != "classifier"):
        raise InputError("conflicting-options", "classes by topic need a classifier, a directory and topics")
    if body.directory:
        models.ready(site.database, person.id, body.directory, ("directory",))
        _check_topics(site.settings.model_file(body.directory), body.topics)
    limit, sources = site.settings.max_models, body.model_dump(exclude={"name", "kind"})
    row = models.create(site.database, site.clock(), person.id, body.name, body.kind, max_count=limit, sources=sources)
    person.record("model trained", row["id"], body.kind)
    return ModelInfo(**row)


@router.get("/models/{model}")
def get_model(access: ModelAccess = model_to("read")) -> ModelInfo:
    """Return one of your models."""
    return ModelInfo(**access.model)


@router.patch("/models/{model}")
def rename_model(body: NewModelName, access: ModelAccess = model_to("write")) -> ModelInfo:
    """Rename a model."""
    name = {"name": clean_line(body.name, "the name", MAX_NAME_LENGTH, 1)}
    access.site.database.update("model", access.model["id"], name)
    return ModelInfo(**access.model | name)


@router.delete("/models/{model}", status_code=204)
def delete_model(access: ModelAccess = model_to("write")) -> None:
    """Delete a model, unless an interest uses it. Crawls keep the copy they started with."""
    models.remove(access.site.database, access.person.id, access.model["id"])
    files.remove(access.site.settings, [access.model["id"]])
    access.person.record("model deleted", access.model["id"])


@router.get("/models/{model}/file", response_class=FileResponse)
def download_model(access: ModelAccess = model_to("read")) -> FileResponse:
    """Return the model file, for the command line or another server."""
    endings = {"classifier": "model", "rules": "tsv", "browsing": "browsing", "directory": "tsv"}
    name = f"model.{endings[access.model['kind']]}"
    return FileResponse(_file(access), media_type="application/octet-stream", filename=name)


@router.get("/models/{model}/topics")
def browse_topics(
    under: Annotated[str, Field(max_length=1_000)] = "", access: ModelAccess = model_to("read")
) -> Topics:
    """Return the direct subtopics of a topic, from a web directory or from a classifier's classes."""
    place = _file(access)
    if access.model["kind"] == "directory":
        tree = files.web_directory(place)
    else:
        classes = as_dict(access.model["about"]).get("classes", {})
        tree = WebDirectory({name: [] for name in classes}, Counter(classes))
    try:
        under, found = tree.resolve(under), tree.children(under)
    except InputError as error:
        raise HTTPException(404, str(error)) from error
    listed = list(islice((url for urls in tree.below(under).pages.values() for url in urls), MAX_SHOWN + 1))
    return Topics(
        under=under,
        topics=[TopicNode(**branch._asdict(), below=branch.topics) for branch in found[:MAX_CHILDREN]],
        pages=listed[:MAX_SHOWN] if under else [],
        more=len(found) > MAX_CHILDREN or len(listed) > MAX_SHOWN,
    )


def _check_topics(place: Path, topics: list[str]) -> None:
    if not place.is_file():
        raise InputError("missing-file", "the file of the directory is missing: choose another directory")
    directory = files.web_directory(place)
    if not all(map(directory.resolve, topics)):
        raise InputError("unknown-name", "one of the topics has no name: select others")


def _file(access: ModelAccess) -> Path:
    place = access.site.settings.model_file(access.model["id"])
    if access.model["state"] != "ready" or not place.is_file():
        raise HTTPException(404, f"this model is {access.model['state']} and has no file")
    return place


def _receive(source: IO[bytes], target: Path) -> None:
    received = 0
    with open(target, "xb") as copy:
        while part := source.read(1 << 20):
            received += len(part)
            if received > models.MAX_FILE_BYTES:
                raise HTTPException(413, f"the file has more than {models.MAX_FILE_BYTES // 1_000_000} MB")
            copy.write(part)
