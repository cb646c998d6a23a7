"""`lycosa wordnet`: where WordNet is, how to get it, the senses of a word, and how alike two words are."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import Json
from lycosa.cli.printing import Beside, Part, give
from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa.store.unpacking import files_in
from lycosa.text.meanings import ontology as read_ontology
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import MEASURES, between, meetings
from lycosa.text.wordnet import FILES, find_wordnet, home, read_wordnet

PACKAGE = "wordnet-base"  # Debian's package of the database files
SECONDS = 300  # timeout of a package manager


def wordnet(
    words: Annotated[list[str] | None, "WORD", "A word to look up, or two to compare."] = None,
    *,
    ontology: Annotated[str, "PLACE", "A directory of WordNet's files, or a table (TSV) of relations."] = "",
    fetch: Annotated[bool, "Download WordNet: Debian's package, with apt-get."] = False,
    from_: Annotated[Path | None, "SOURCE", "Install it from this package, archive or directory."] = None,
    to: Annotated[Path | None, "DIR", "Directory to install it to. Default: your data directory."] = None,
    json: Json = False,
) -> None:
    """Look up or compare words in WordNet, or download it."""
    words = words or []
    if not fetch and (from_ or to):
        raise InputError("--from and --to need --fetch")
    if fetch:
        if words or ontology:
            raise InputError("--fetch downloads WordNet and does not look up words: leave them and --ontology out")
        to = to or home()
        known = _install(from_, to)
        lines = [f"{_described(known)}."]
        with suppress(InputError):
            if find_wordnet().absolute() != to.absolute():
                lines.append(f"To use this one: export LYCOSA_WORDNET={shlex.quote(str(to.absolute()))}")
        give({"directory": to, **_about(known)}, lines, json=json)
        return
    if len(words) > 2:
        raise InputError(f"{len(words)} words: give one to look it up, or two to compare them; quote a phrase")
    known = read_ontology(ontology)
    for word in words:
        if not known.concepts(word):
            raise InputError(f"{known.source} does not know {word!r}: try its base form, or a more general word")
    if not words:
        hint = "Look up a word: lycosa wordnet reef; compare two: lycosa wordnet reef atoll"
        give(_about(known), [_described(known), *(f"note: {note}" for note in known.notes), hint], json=json)
    elif len(words) == 1:
        senses = _senses(known, words[0])
        give({"word": words[0], "senses": senses}, _show_senses(words[0], senses), json=json)
    else:
        facts = _comparison(known, *words)
        give(facts, _show_comparison(facts), json=json)


# -- looking it up -------------------------------------------------------------------------------------------------


def _about(known: Ontology) -> dict[str, Any]:
    about = {name: getattr(known, name) for name in ("source", "longest", "digest", "notes")}
    return {**about, "words": len(known.dictionary), "concepts": len(known)}


def _described(known: Ontology) -> str:
    return f"{known.source}: {len(known.dictionary):,} words for {len(known):,} concepts"


def _senses(known: Ontology, word: str) -> list[dict[str, Any]]:
    return [
        {
            "name": known.names[sense],
            "words": [other.replace("_", " ") for other in known.dictionary.words(sense)],
            "depth": int(known.depth[sense]),
            "above": _upwards(known, sense)[1:],
        }
        for sense in known.concepts(word)
    ]


def _upwards(known: Ontology, concept: int, top: int = -1) -> list[str]:
    """Return the names on a shortest way to a concept above, or to a root."""
    ways = [[concept]]
    met = {concept}
    for way in ways:  # breadth-first: it grows while it is read
        parents = known.parents.of(way[-1]).tolist()
        if way[-1] == top or (top < 0 and not parents):
            return [known.names[one] for one in way]
        ways += [[*way, parent] for parent in parents if parent not in met]
        met.update(parents)
    return []


def _show_senses(word: str, senses: list[dict[str, Any]]) -> Iterator[Part]:
    yield f"{word}: {many(len(senses), 'sense')}"
    for sense in senses:
        yield Beside("  ", f"{sense['name']}, depth {sense['depth']}: {', '.join(sense['words'])}")
        if sense["above"]:
            yield Beside("    ", f"< {' < '.join(sense['above'])}")


def _comparison(known: Ontology, a: str, b: str) -> dict[str, Any]:
    """Return the shortest way between two words, and by each measure how alike they are."""
    facts: dict[str, Any] = {"words": [a, b], "L": None, "H": None, "top": None, "path": [], "turn": 0}
    if ways := sorted(meetings(known, a, b), key=lambda way: (way.L, -way.H)):
        near = ways[0]
        up, down = (
            min((_upwards(known, sense, near.turn) for sense in known.concepts(word)), key=lambda way: len(way) or 99)
            for word in (a, b)
        )
        facts |= {"L": near.L, "H": near.H, "top": known.names[near.top], "path": [*up, *down[-2::-1]]}
        facts["turn"] = len(up) - 1
    return {**facts, "similarity": {measure: between(known, a, b, measure) for measure in MEASURES}}


def _show_comparison(facts: dict[str, Any]) -> Iterator[Part]:
    yield " and ".join(facts["words"])
    if facts["path"]:
        up, down = facts["path"][: facts["turn"] + 1], facts["path"][facts["turn"] + 1 :]
        yield Beside("  ", f"{' < '.join(up)}{''.join(f' > {name}' for name in down)}")
        links = f"L = {many(facts['L'], 'link')} between them, H = {facts['H']}"
        yield Beside("  ", f"{links}, the depth of {facts['top']}")
    else:
        yield "  nothing is above both"
    for measure, value in facts["similarity"].items():
        yield f"  {measure:<7} {value:.4f}"


# -- getting it ----------------------------------------------------------------------------------------------------


def _install(source: Path | None, to: Path) -> Ontology:
    """Unpack WordNet's files and check that all can be read; then put them in place at once."""
    _check_target(to)
    if source is not None:
        files = files_in(source, FILES)
    else:
        with tempfile.TemporaryDirectory(prefix="lycosa-") as directory:
            files = files_in(_debian_package(Path(directory)), FILES)
    if missing := [name for name in FILES if name not in files]:
        raise InputError(f"{source or PACKAGE} has not all of WordNet's files: {', '.join(missing)} missing")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{to.name}.", dir=to.parent) as beside:
            new, old = Path(beside) / "new", Path(beside) / "old"
            new.mkdir()
            for name in FILES:
                (new / name).write_bytes(files[name])
            known = read_wordnet(new)  # refuses files that are damaged
            if to.exists():
                to.rename(old)
            new.rename(to)
    except OSError as error:
        raise InputError(f"cannot put WordNet into {to}: {error.strerror}; choose another --to") from error
    known.source = known.source.replace(str(new), str(to))
    return known


def _check_target(to: Path) -> None:
    """Refuse a place that holds something else, before anything is fetched."""
    if to.is_symlink() or (to.exists() and not to.is_dir()):
        raise InputError(f"{to} is a link or a file, not a directory: choose another --to")
    try:
        strange = sorted(set(os.listdir(to)).difference(FILES)) if to.exists() else []
    except OSError as error:
        raise InputError(f"cannot use {to}: {error.strerror}; choose another --to") from error
    if strange:
        raise InputError(f"{to} contains other files, such as {strange[0]!r}: choose an empty directory for --to")


def _debian_package(directory: Path) -> Path:
    """Have apt download its package; with lists of our own if the system has none. Neither needs root."""
    otherwise = "name a package or an archive of WordNet's files that you have: lycosa wordnet --fetch --from FILE"
    apt = shutil.which("apt-get")
    if apt is None:
        raise InputError(f"there is no apt-get here to download {PACKAGE} with: {otherwise}")
    lists, cache = directory / "lists", directory / "cache"
    own = ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={cache}", "-o", f"APT::Sandbox::User={_user()}"]
    trouble = _try([apt, "download", PACKAGE], directory)
    if trouble:
        (lists / "partial").mkdir(parents=True)
        (cache / "archives" / "partial").mkdir(parents=True)
        trouble = _try([apt, *own, "update"], directory) or _try([apt, *own, "download", PACKAGE], directory)
    found = sorted(directory.glob("*.deb"))
    if trouble or not found:
        raise InputError(f"apt-get could not download {PACKAGE} ({trouble or 'it left no file'}): {otherwise}")
    return found[0]


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "root"


def _try(command: list[str], directory: Path) -> str:
    """Run a command in a directory; return what went wrong."""
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    try:
        done = subprocess.run(command, cwd=directory, timeout=SECONDS, env=environment, check=False, **streams)
    except subprocess.TimeoutExpired:
        return f"it was not done after {SECONDS} s"
    except OSError as error:
        return error.strerror or str(error)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()
    return one_line(lines[-1] if lines else f"exit code {done.returncode}")[:300]
