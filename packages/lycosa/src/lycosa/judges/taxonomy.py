"""Taxonomies: class paths such as Science/Physics, and the choice of nodes that a classifier distinguishes."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from lycosa.core.errors import InputError

MIN_LEAF_PAGES = 150  # pages that a leaf needs to be a class of its own by default, as in the paper
MIN_CLASS_PAGES = 3  # fewer pages cannot be learned and evaluated
MAX_PATH_LENGTH = 1000  # characters of a path
DEFAULT_TARGETS = ("relevant", "yes", "positive", "1")  # class names that are the default target


@dataclass
class Classes:
    """Assignment of paths to classes, and the paths that were merged or dropped."""

    of: dict[str, str] = field(default_factory=dict)  # class of each path; dropped paths are missing
    merged: dict[str, str] = field(default_factory=dict)  # small paths, and the parent that took their pages
    inner: int = 0  # pages of inner nodes, which are classes only with `whole_tree`
    too_small: dict[str, int] = field(default_factory=dict)  # classes dropped for lack of pages, with their sizes
    least: int = 0

    @property
    def names(self) -> list[str]:
        return sorted(set(self.of.values()))


def path_of(text: str) -> str:
    """Normalise a path: NFC, no blanks around parts, no empty parts, printable characters only.

    >>> path_of(" /Science // Physics/ ")
    'Science/Physics'
    """
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    parts = ("".join(filter(str.isprintable, " ".join(part.split()))) for part in composed.split("/"))
    return "/".join(part for part in parts if part)


def common_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each path to the most frequent spelling among those that differ from it only in case.

    >>> common_spellings({"Art": 3, "art": 1, "ART/Music": 1})
    {'Art': 'Art', 'art': 'Art', 'ART/Music': 'Art/Music'}
    """
    weight: Counter[str] = Counter()
    for path, count in counts.items():
        for prefix in _prefixes(path):
            weight[prefix] += count
    best: dict[str, str] = {}
    for prefix in sorted(weight, key=lambda prefix: (-weight[prefix], prefix)):
        best.setdefault(prefix.casefold(), prefix.rpartition("/")[2])
    return {path: "/".join(best[prefix.casefold()] for prefix in _prefixes(path)) for path in counts}


def choose_classes(counts: Mapping[str, int], least: int = 0, *, whole_tree: bool = False) -> Classes:
    """Choose the classes of a tree with the given number of pages at each path.

    A leaf with fewer than `least` pages is merged into its parent, which may become a leaf in turn, up to the first
    level, whose classes stay regardless of size. The remaining leaves are the classes, and pages of inner nodes are
    dropped; with `whole_tree` inner nodes with enough pages of their own are classes, too.

    `least` 0 means half the median size of a leaf, at most 150 as in the paper: a tree of small classes stays as it is,
    except for classes far smaller than the others.

    >>> found = choose_classes({"Science/Physics": 200, "Science/Biology": 20, "Art": 30}, least=150)
    >>> found.names, found.inner
    (['Art', 'Science/Physics'], 20)
    >>> choose_classes({"Science/Physics": 200, "Science/Biology": 20, "Art": 30}, least=20).names
    ['Art', 'Science/Biology', 'Science/Physics']

    Paper: Altingovde and Ulusoy 2004, "Experimental setup"; the whole tree is their future work. Ours: the first level
    stays.
    """
    counts = {path: count for path, count in counts.items() if count > 0}
    if not counts:
        message = "no page has a class: give directories of pages, a table of URLs and classes, or a crawl with labels"
        raise InputError("no-pages", message)
    chosen = _choose(counts, least or _default_least(counts), whole_tree)
    if len(chosen.names) < 2:
        raise InputError("too-few-classes", _too_few_classes(counts, chosen, least, whole_tree))
    return chosen


def _default_least(counts: Mapping[str, int]) -> int:
    inner = {prefix for path in counts for prefix in _prefixes(path)[:-1]}
    return min(MIN_LEAF_PAGES, int(median(count for path, count in counts.items() if path not in inner)) // 2)


def _choose(counts: Mapping[str, int], least: int, whole_tree: bool) -> Classes:
    paths_of: dict[str, list[str]] = {path: [path] for path in counts}  # paths whose pages each node has
    children: Counter[str] = Counter()
    nodes = sorted({prefix for path in counts for prefix in _prefixes(path)})
    for node in nodes:
        children[_parent(node)] += 1

    def size(node: str) -> int:
        return sum(counts[path] for path in paths_of.get(node, ()))

    result = Classes(least=least)
    for node in sorted(nodes, key=lambda node: (-node.count("/"), node)):
        parent = _parent(node)
        leaf = not children[node]
        if parent and size(node) < least and (leaf or whole_tree):
            if paths_of.get(node):
                result.merged[node] = parent
                paths_of.setdefault(parent, []).extend(paths_of.pop(node))
            if leaf:
                children[parent] -= 1
        elif leaf or whole_tree:
            if size(node) >= MIN_CLASS_PAGES:
                result.of.update(dict.fromkeys(paths_of.get(node, ()), node))
            elif paths_of.get(node):
                result.too_small[node] = size(node)
        else:
            result.inner += size(node)
    return result


def _too_few_classes(counts: Mapping[str, int], chosen: Classes, least: int, whole_tree: bool) -> str:
    for lower in sorted({*counts.values(), MIN_CLASS_PAGES}, reverse=True):
        if lower < chosen.least:
            other = _choose(counts, lower, whole_tree)
            if len(other.names) > 1:
                return (
                    f"--least {chosen.least} gives {len(chosen.names)} class(es): "
                    f"--least {lower} gives {len(other.names)} classes"
                )
    if chosen.too_small and len(chosen.too_small) + len(chosen.names) > 1:
        name, count = next(iter(chosen.too_small.items()))
        return f"the class {name} has only {count} page(s): it needs at least {MIN_CLASS_PAGES}, and better 50"
    if len(counts) > 1 and not whole_tree:
        return "only one class has pages of its own: add --whole-tree to use the upper levels as classes, too"
    name = next(iter(chosen.names or counts))
    return f"all pages are in one class, {name}: add pages of another class"


def resolve_targets(classes: Sequence[str], targets: Iterable[str]) -> tuple[list[str], list[bool]]:
    """Return the targets in the model's spelling, and for each class if it is a target or below one.

    >>> resolve_targets(["Art", "Science/Biology", "Science/Physics"], ["science"])
    (['Science'], [False, True, True])
    """
    named = resolve_classes(classes, targets, "the model")
    if not named:
        candidates = [path for path in classes if path.casefold() in DEFAULT_TARGETS]
        if len(classes) != 2 or len(candidates) != 1:
            message = f"the model has several classes: choose with --target: {_join_names(classes)}"
            raise InputError("missing-option", message)
        named = candidates
    marks = [any(path == each or path.startswith(each + "/") for each in named) for path in classes]
    if all(marks):
        message = f"--target {', '.join(named)} includes all classes of the model: choose fewer: {_join_names(classes)}"
        raise InputError("bad-value", message)
    return list(dict.fromkeys(named)), marks


def resolve_classes(paths: Iterable[str], texts: Iterable[str], where: str) -> list[str]:
    """Return classes or branches in the spelling of the paths; raise InputError for unknown ones."""
    known = {prefix.casefold(): prefix for path in paths for prefix in _prefixes(path)}
    named: list[str] = []
    for text in texts:
        path = known.get(path_of(text).casefold())
        if path is None:
            raise InputError("unknown-name", f"{where} has no class {text!r}: {_suggestion(path_of(text), known)}")
        named.append(path)
    return named


def _suggestion(path: str, known: Mapping[str, str]) -> str:
    last = {folded.rpartition("/")[2]: folded for folded in known}
    near = difflib.get_close_matches(path.casefold(), known, 4, 0.6)
    near += [last[part] for part in difflib.get_close_matches(path.casefold().rpartition("/")[2], last, 3, 0.7)]
    if near:
        return f"did you mean {' or '.join(known[each] for each in dict.fromkeys(near))}?"
    return f"available: {_join_names([name for name in known.values() if '/' not in name])}"


def _join_names(names: Sequence[str], limit: int = 20) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(sorted(names)[:limit]) + more


def _prefixes(path: str) -> list[str]:
    """Return the ancestors of a path and the path itself, from the top.

    >>> _prefixes("a/b/c")
    ['a', 'a/b', 'a/b/c']
    """
    parts = path.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
