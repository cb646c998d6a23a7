"""`lycosa wordnet`: where WordNet is, how to get it, what it says of a word, and how alike it takes two."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import AllowNetwork, Json
from lycosa.cli.printing import output, print_json
from lycosa.core.errors import InputError
from lycosa.core.files import sync
from lycosa.core.options import Options
from lycosa.drawing.formats import many
from lycosa.store.unpacking import LARGEST_PACKED, BadArchive, files_in, unpack
from lycosa.text.meanings import ontology as read_ontology
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import MEASURES, between, checked, meetings, value
from lycosa.text.wordnet import FILES, find_wordnet, home, read_wordnet

PACKAGE = "wordnet-base"  # Debian's package of the database files
CHECKED = "3.0"
# of WordNet 3.0 in Debian's package wordnet-base 1:3.0-37
SHA256 = {
    "data.noun": "fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2",
    "index.noun": "a490d99d93d017bf4822fe2f0ffa51fd73911ce271dc7535fade21f8814b5a04",
    "noun.exc": "2b5d675c380b39ecf595af9fa9d4e7feb1d58c643b0bff08c40ed5bfe41fab7a",
    "data.verb": "adcf43e35b581e8036d8b5a52d63d9cd3d3b4870b2720d3c03c799df44777bc2",
    "index.verb": "e2ac24816c3a8289dcb72aaa9cf8db81fdf25ec34d792bfc96ac5b7a20c8b4ae",
    "verb.exc": "dbbcf9a601b2d77e934e413b91d90e88ec7f933a8b77cfc00602a923b891b42c",
    "data.adj": "c89120dfc1f046ddff4a631bf9b7e9fa1a36b5e86565a23bf82dbe14f30b88a7",
    "index.adj": "c9865d7b4d1f805bdef82ccdcea5282436e23083e6f6f1b33e716327c4eda810",
    "adj.exc": "8824cc24bbedd797b9702316b27f07cd4c2b76b629539f0a1276f03926758016",
    "data.adv": "444a63bf3955080ab7524f5079cfc07ff9bc682cb98bdb1db73b0fb9829f1139",
    "index.adv": "6f5465ed5758fe9c8a2f7ec17b1300f3aa875756c70ff7cba162f7e71bcf88ea",
    "adv.exc": "e7291461b629abfe63301bbe1998cee09fd575ed7107abd7ea9763adb05bf0a8",
}

# measures as shown to people
FORMULAS = {
    "ehrig": ".5 to the power of L",
    "li": "exp(-.2 L) tanh(.6 H)",
    "path": "1 / (1 + L)",
    "depth": "2 H / (L + 2 H)",
    "any-1": "1 if any relation connects them",
    "is-a-2": "1 if L is 2 or less",
}

SECONDS = 300  # timeout of a package manager
# content types of packages and archives
ARCHIVES = [
    *(
        f"application/{kind}"
        for kind in ("gzip", "x-gzip", "x-tar", "x-gtar", "x-xz", "x-bzip2", "zstd", "octet-stream")
    ),
    *(f"application/{kind}" for kind in ("x-compressed-tar", "vnd.debian.binary-package", "x-debian-package", "x-deb")),
    "binary/octet-stream",
]


def wordnet(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="A word to look up, or two to compare.")
    ] = None,
    ontology: Annotated[
        str, typer.Option(metavar="PLACE", help="A directory of WordNet's files, or a table (TSV) of relations.")
    ] = "",
    fetch: Annotated[bool, typer.Option("--fetch", help="Download WordNet: Debian's package, with apt-get.")] = False,
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="Install it from this package, archive, directory or URL.")
    ] = "",
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to install it to. Default: your data directory.")
    ] = None,
    allow_network: AllowNetwork = None,
    json: Json = False,
) -> None:
    """Look up or compare words in WordNet, or download it."""
    words = words or []
    if not fetch and (source or to is not None or allow_network):
        raise InputError("--from, --to and --allow-network need --fetch")
    if fetch:
        if words or ontology:
            raise InputError("--fetch downloads WordNet and does not look up words: leave them and --ontology out")
        _fetch(source, to or home(), Options(allow_network=allow_network or []), json=json)
        return
    if len(words) > 2:
        raise InputError(f"{len(words)} words: give one to look it up, or two to compare them; quote a phrase")
    known = read_ontology(ontology)
    if not words:
        _where(known, json=json)
        return
    for word in words:
        if not known.concepts(word):
            raise InputError(f"{known.source} does not know {word!r}: try its base form, or a more general word")
    told = _senses(known, words[0]) if len(words) == 1 else _comparison(known, *words)
    if json:
        print_json(told)
    elif len(words) == 1:
        _show_senses(told)
    else:
        _show_comparison(told)


# -- where it is, and what it knows ------------------------------------------------------------------------------


def _where(known: Ontology, *, json: bool) -> None:
    if json:
        print_json(_about(known))
        return
    print(_described(known))
    for note in known.notes:
        print(f"note: {one_line(note)}")
    print("Look up a word: lycosa wordnet reef; compare two: lycosa wordnet reef atoll")


def _about(known: Ontology) -> dict[str, Any]:
    return {
        "source": known.source,
        "words": len(known.dictionary),
        "concepts": len(known),
        "longest": known.longest,
        "digest": known.digest,
        "notes": known.notes,
    }


def _described(known: Ontology) -> str:
    return f"{one_line(known.source)}: {len(known.dictionary):,} words for {len(known):,} concepts"


def _senses(known: Ontology, word: str) -> dict[str, Any]:
    return {
        "word": word,
        "senses": [
            {
                "name": known.names[sense],
                "words": [other.replace("_", " ") for other in known.dictionary.words(sense)],
                "depth": int(known.depth[sense]),
                "above": [known.names[concept] for concept in _upwards(known, sense)[1:]],
            }
            for sense in known.concepts(word)
        ],
    }


def _upwards(known: Ontology, concept: int) -> list[int]:
    """The shortest way to a root."""
    way = [concept]
    while len(parents := known.parents.of(way[-1])):
        way.append(min(parents.tolist(), key=lambda parent: int(known.depth[parent])))
    return way


def _show_senses(told: dict[str, Any]) -> None:
    senses = told["senses"]
    print(f"{one_line(told['word'])}: {many(len(senses), 'sense')}")
    for sense in senses:
        _say(one_line(f"  {sense['name']}, depth {sense['depth']}: {', '.join(sense['words'])}"))
        if sense["above"]:
            _say(one_line(f"    < {' < '.join(sense['above'])}"))


# -- two words ---------------------------------------------------------------------------------------------------


def _comparison(known: Ontology, a: str, b: str) -> dict[str, Any]:
    """The shortest way between two words, and by each measure how alike they are and by which senses."""
    ways = sorted(meetings(known, a, b), key=lambda way: (way.L, -way.H))
    told: dict[str, Any] = {"words": [a, b], **dict.fromkeys(("L", "H", "turn", "top")), "path": [], "similarity": {}}
    if ways:
        near = ways[0]
        up, down = _climb(known, a, near.turn), _climb(known, b, near.turn)
        path = [known.names[concept] for concept in [*up, *down[-2::-1]]]
        told.update(L=near.L, H=near.H, path=path, turn=len(up) - 1, top=known.names[near.top])
    for measure in MEASURES:
        alike: dict[str, Any] = {"value": between(known, a, b, measure)}
        if ways and measure != "any-1":
            parameters = checked(measure, {})
            best = max(ways, key=lambda way: value(measure, way.L, way.H, parameters))
            alike.update(L=best.L, H=best.H, top=known.names[best.top])
        told["similarity"][measure] = alike
    return told


def _climb(known: Ontology, word: str, top: int) -> list[int]:
    """A shortest way from a sense of a word up to a concept."""
    below: dict[int, int] = {}
    level = list(known.concepts(word))
    met = set(level)
    while top not in met:
        higher = []
        for concept in level:
            for parent in known.parents.of(concept).tolist():
                if parent not in met:
                    met.add(parent)
                    below[parent] = concept
                    higher.append(parent)
        level = higher
    way = [top]
    while way[-1] in below:
        way.append(below[way[-1]])
    return way[::-1]


def _show_comparison(told: dict[str, Any]) -> None:
    _say(one_line(" and ".join(told["words"])))
    if told["path"]:
        turn = told["turn"]
        up, down = told["path"][: turn + 1], told["path"][turn + 1 :]
        _say(one_line(f"  {' < '.join(up)}{''.join(f' > {name}' for name in down)}"))
        _say(one_line(f"  L = {many(told['L'], 'link')} between them, H = {told['H']}, the depth of {told['top']}"))
    else:
        print("  nothing is above both")
    for measure, alike in told["similarity"].items():
        by = ""
        if alike["value"] and "top" in alike and (alike["L"], alike["H"]) != (told["L"], told["H"]):
            by = one_line(f", by {alike['top']}: L = {alike['L']}, H = {alike['H']}")
        _say(f"  {measure:<7} {alike['value']:.4f}  {FORMULAS[measure]}{by}")


def _say(line: str) -> None:
    """A line, folded where the terminal ends; what goes on is indented deeper."""
    indent = len(line) - len(line.lstrip()) + 4
    for piece in textwrap.wrap(
        line, output().width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    ):
        print(piece)


# -- getting it --------------------------------------------------------------------------------------------------


def _fetch(source: str, to: Path, options: Options, *, json: bool) -> None:
    options.check()
    _check_target(to)
    if sys.stderr.isatty():
        print(f"getting WordNet from {one_line(source) or f'the package {PACKAGE}'}", file=sys.stderr)
    files = _files(source, options)
    missing = [name for name in FILES if name not in files]
    if missing:
        raise InputError(
            f"{source or PACKAGE} has not all of WordNet's files: {', '.join(missing[:3])}"
            f"{' and others are' if len(missing) > 3 else ' is' if len(missing) == 1 else ' are'} missing"
        )
    known, verified = _put(files, to)
    if json:
        print_json({"directory": to, "verified": verified, **_about(known)})
        return
    print(f"{_described(known)}.")
    print(f"Checked: {verified}.")
    with suppress(InputError):
        if find_wordnet().absolute() != to.absolute():
            print(f"To use this one: export LYCOSA_WORDNET={shlex.quote(str(to.absolute()))}")


def _check_target(to: Path) -> None:
    """Refuse a place that holds something else, before anything is fetched."""
    if not to.exists() and not to.is_symlink():
        return
    if not to.is_dir() or to.is_symlink():
        raise InputError(f"{to} is a link or a file, not a directory: choose another --to")
    try:
        strange = [name for name in sorted(os.listdir(to)) if name not in FILES]
    except OSError as error:
        raise InputError(f"cannot use {to}: {error.strerror}; choose another --to") from error
    if strange:
        raise InputError(f"{to} contains other files, such as {strange[0]!r}: choose an empty directory for --to")


def _files(source: str, options: Options) -> dict[str, bytes]:
    """The files, from where the user says, or from Debian's package."""
    if source.lower().startswith(("http://", "https://")):
        try:
            return unpack(_download(source, options), FILES)
        except BadArchive as error:
            raise InputError(f"{source} is not a package or archive that can be unpacked: {error}") from error
    if source:
        return files_in(Path(source), FILES)
    with tempfile.TemporaryDirectory(prefix="lycosa-") as directory:
        return files_in(_debian_package(Path(directory)), FILES)


def _debian_package(directory: Path) -> Path:
    """Let apt download its package; with lists of our own if the system has none. Neither needs root."""
    otherwise = "name a package or an archive of WordNet's files that you have: lycosa wordnet --fetch --from FILE"
    apt = shutil.which("apt-get")
    if apt is None:
        raise InputError(f"there is no apt-get here to download {PACKAGE} with: {otherwise}")
    lists, cache = directory / "lists", directory / "cache"
    own = ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={cache}", "-o", f"APT::Sandbox::User={_user()}"]
    told = _try([apt, "download", PACKAGE], directory)
    if told:
        (lists / "partial").mkdir(parents=True)
        (cache / "archives" / "partial").mkdir(parents=True)
        told = _try([apt, *own, "update"], directory) or _try([apt, *own, "download", PACKAGE], directory)
    found = sorted(directory.glob("*.deb"))
    if told or not found:
        raise InputError(f"apt-get could not download {PACKAGE} ({told or 'it left no file'}): {otherwise}")
    return found[0]


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "root"


def _try(command: list[str], directory: Path) -> str:
    """Run a command there; what went wrong, or nothing."""
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it was not done after {SECONDS} s"
    except OSError as error:
        return error.strerror or str(error)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()
    return one_line(lines[-1] if lines else f"exit code {done.returncode}")[:300]


def _download(url: str, options: Options) -> bytes:
    """The body of a URL, fetched as a crawl does: guarded, named honestly, with a limit."""
    import asyncio

    from lycosa.core.errands import fetch
    from lycosa.spaces.making import wall_clock, web_space
    from lycosa.web.inflate import BadEncoding, inflate
    from lycosa.web.urls import check_seed

    node = check_seed(url)
    if node is None:
        raise InputError(f"{url!r} is not a web address: write it like https://example.org/wordnet.tar.gz")
    options.max_body, options.timeout = LARGEST_PACKED, float(SECONDS)

    async def get() -> bytes:
        space = web_space(options, wall_clock(), accept=ARCHIVES)
        try:
            _, page, _ = await fetch(space, node, "page", url, clock=space.clock, patience=options.patience)
        finally:
            await space.close()
        if page.exchange is None or any(flag.startswith("truncated") for flag in page.flags):
            raise InputError(f"{url} did not come whole: try again, or download it yourself and use --from FILE")
        try:
            return inflate(page.exchange.body, page.exchange.header("content-encoding"), LARGEST_PACKED)[0]
        except BadEncoding as error:
            raise InputError(f"cannot unpack what {url} sent: {error}") from error

    return asyncio.run(get())


def _put(files: dict[str, bytes], to: Path) -> tuple[Ontology, str]:
    """Verify the files and put them in place, all at once: someone who looks sees all of them or none."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with _beside(to) as new:
            for name in FILES:
                (new / name).write_bytes(files[name])
            known = read_wordnet(new)  # whatever does not parse ends here
            verified = _verified(files, known.source)
            _sync(new)
            _swap(new, to)
    except OSError as error:
        raise InputError(f"cannot put WordNet into {to}: {error.strerror}; choose another --to") from error
    known.source = known.source.replace(str(new), str(to))
    return known, verified


def _verified(files: dict[str, bytes], source: str) -> str:
    """How far the files were checked; an error for files of WordNet 3.0 that are not as we know them."""
    if not source.startswith(f"WordNet {CHECKED} "):
        version = source.partition(" in ")[0]
        return f"every synset and every entry could be read ({version} has no known checksums here)"
    wrong = [name for name in FILES if hashlib.sha256(files[name]).hexdigest() != SHA256[name]]
    if wrong:
        raise InputError(
            f"{', '.join(wrong)}: not the files of WordNet {CHECKED}, by their SHA-256: they were damaged or "
            "changed. If that is what you want, put them in a directory and name it with --ontology DIR"
        )
    return f"SHA-256 of all {len(FILES)} files is that of WordNet {CHECKED}"


@contextmanager
def _beside(to: Path) -> Iterator[Path]:
    """A new directory next to a place, gone afterwards; those that killed processes left behind go as well."""
    for old in to.parent.glob(f".{to.name}.*.*"):
        number = old.name.split(".")[-2]
        if old.suffix in (".new", ".old") and number.isdigit() and not _alive(int(number)):
            shutil.rmtree(old, ignore_errors=True)
    new = to.parent / f".{to.name}.{os.getpid()}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _sync(directory: Path) -> None:
    for name in (*FILES, "."):
        handle = os.open(directory / name, os.O_RDONLY)
        try:
            sync(handle)
        finally:
            os.close(handle)


def _swap(new: Path, to: Path) -> None:
    """Put a directory in place of another. What was there is moved away whole before the new one takes its name."""
    try:
        new.rename(to)  # nothing there, or an empty directory: one step
    except OSError:
        old = new.with_suffix(".old")
        to.rename(old)
        try:
            new.rename(to)
        except OSError:
            old.rename(to)
            raise
        shutil.rmtree(old, ignore_errors=True)
