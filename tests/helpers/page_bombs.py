"""Pages that exhaust their parser: a name, and a function from a size in bytes to a body."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, product
from string import ascii_lowercase

Bomb = Callable[[int], bytes]


def _times(unit: bytes, size: int) -> bytes:
    return unit * max(1, size // len(unit))


def _all(unit: str | bytes, before: bytes = b"", after: bytes = b"") -> Bomb:
    """Repeat a unit."""
    data = unit.encode() if isinstance(unit, str) else unit
    return lambda size: before + _times(data, size - len(before) - len(after)) + after


def _halves(first: bytes, second: bytes, before: bytes = b"") -> Bomb:
    """Repeat one unit, then another."""
    return lambda size: before + _times(first, size // 2) + _times(second, size // 2)


def _each(pattern: bytes, before: bytes = b"", after: bytes = b"") -> Bomb:
    """Repeat a pattern with an increasing number."""
    return lambda size: before + b"".join(pattern % n for n in range(max(1, size // (len(pattern) + 3)))) + after


def _attributes(count: int) -> bytes:
    """Return `count` distinct attribute names, as short as possible."""
    letters = ("".join(name) for size in (1, 2, 3, 4) for name in product(ascii_lowercase, repeat=size))
    return " ".join(islice(letters, count)).encode()


def _copied(tag: bytes, blocks: bytes) -> Bomb:
    """Return an unclosed element with many attributes and many blocks that reopen it."""
    return lambda size: b"<p><%s %s>" % (tag, _attributes(size // 10)) + _times(blocks, size // 2)


def _encoded(charset: str, unit: bytes) -> Bomb:
    return _all(unit, b"<meta charset=%s>" % charset.encode())


NESTED = (
    "a applet article aside b blockquote body button caption center code dd details dir div dl dt em fieldset "
    "font form frameset h1 html i iframe label li main marquee math menu nobr noscript object ol optgroup "
    "option p plaintext pre q ruby rt select small span strong sub svg table tbody td template textarea th "
    "title tr tt u ul xmp x-y"
).split()

BOMBS: dict[str, Bomb] = {
    **{f"nested {tag}": _all(f"<{tag}>") for tag in NESTED},
    **{f"nested {tag} with words": _all(f"<{tag}>x ") for tag in NESTED},
    **{f"many {tag}": _all(f"<{tag}>x</{tag}>") for tag in NESTED if tag not in ("html", "body")},
    # Tables and lists.
    "table with a wide cell": lambda n: (
        b"<table><tr><td>" + b"w " * (n // 4) + b"<td>q</tr>" + _times(b"<tr><td>y<td>z</tr>", n // 2)
    ),
    "table with a wide picture": lambda n: (
        b"<table><tr><td><img alt='" + b"w " * (n // 4) + b"'><td>q" + _times(b"<tr><td>y<td>z", n // 2)
    ),
    "table with wide spans": lambda n: (
        b"<table><tr><td>" + b"w " * (n // 4) + _times(b"<tr><td colspan=1000 rowspan=65534>y<td>z", n // 2)
    ),
    "table with preformatted text": lambda n: (
        b"<table><tr><td><pre>" + b"w\n" * (n // 4) + b"</pre><td>q" + _times(b"<tr><td>y<td>z", n // 2)
    ),
    "tables in tables": _all("<table><tr><td>x<td>"),
    "tables in tables, padded": lambda n: (
        _times(b"<table><tr><td>", n // 3) + b"w " * (n // 6) + _times(b"<td>q<tr><td>y</table>", n // 3)
    ),
    "one row of cells": _all("<td>x", b"<table><tr>"),
    "words between rows": _all("x<tr>", b"<table>"),
    "links between rows": _all("<a href=1>x", b"<table>"),
    "quotations and lines": lambda n: _times(b"<blockquote>", min(n // 2, 1200)) + _times(b"x<br>", n // 2),
    "quoted preformatted lines": lambda n: (
        _times(b"<blockquote>", min(n // 2, 1200)) + b"<pre>" + _times(b"x\n", n // 2)
    ),
    "numbered lists and lines": _halves(b"<ol><li>", b"x<br>"),
    "large numbers": _all("<li>", b"<ol start=9223372036854775000>"),
    "lists and lines": _halves(b"<ul><li>", b"x<br>"),
    "definitions and lines": _halves(b"<dl><dd>", b"x<br>"),
    "an attribute again and again": _all(" a", b"<p", b">x"),
    "attributes": lambda n: b"<p " + _attributes(n // 5) + b">x",
    "attributes of a body": lambda n: b"<body " + _attributes(n // 5) + b">x",
    "attributes of bodies": _each(b"<body a%d=1>"),
    "attributes of two bodies": lambda n: b"<body " + _attributes(n // 10) + b"><body z" + _attributes(n // 10),
    "attributes of htmls": _each(b"<hTmL a%d=1>"),
    "a long class": _all("share-bar-", b"<div class='", b"'>x"),
    "many classes": _all("side ", b"<div class='", b"'>x"),
    "classes": _each(b"<i class='a%d b c'>x</i>"),
    "a long style": _all("display:", b"<div style='", b"'>x"),
    "a long quotation": _all("<p>", b"<p title='"),
    # Formatting elements, which parsers reopen in every block.
    "formatting, one a paragraph": _each(b"<p><b a=%d>x"),
    "formatting before paragraphs": lambda n: _each(b"<b a=%d>", b"<p>")(n // 2) + _times(b"<p>x", n // 2),
    "formatting closed in a comment": lambda n: (
        b"<!--" + _times(b"</b>", n // 3) + b"-->" + _each(b"<b a=%d>", b"<p>")(n // 3) + _times(b"<p>x", n // 3)
    ),
    "formatting with attributes": _copied(b"b", b"<p>x"),
    "formatting with attributes in lists": _copied(b"FONT", b"<li>x"),
    "formatting in cells": lambda n: _each(b"<font c=%d>")(n // 3) + b"<table>" + _times(b"<tr><td>x", n // 2),
    "a link with attributes": _copied(b"a", b"<p>x"),
    "a link with quotes": _copied(b'a href="x""', b"<p>x"),
    "links round tables": _all("<a href=1><table><td>"),
    "misnested": _halves(b"<b><div>", b"</b>"),
    "misnested links": _halves(b"<a><div>", b"</a>"),
    "misnested with attributes": lambda n: b"<b><i " + _attributes(n // 10) + b">" + _times(b"<b><p></b>", n // 2),
    "no breaks": _all("<nobr><p>"),
    # Deep nesting, then elements for which parsers search the ancestors.
    **{
        f"deep, then {end.decode()}": _halves(b"<span>", end)
        for end in b"<p></p> </x> <li></li> <dd></dd> </h1> <button></button> <table></table> <rt> <svg></svg>".split()
    },
    "deep in a drawing": _halves(b"<g>", b"</x>", b"<svg>"),
    "titles in a drawing": _halves(b"<g>", b"<title>x</title>", b"<svg>"),
    "deep templates": _halves(b"<template>", b"<tr>"),
    "links": _all("<a href=1>x</a>"),
    "links of long words": _each(b"<a href=%d>wwwwwwwwww</a> "),
    "links without blanks": _each(b"<a href=%d>w</a>"),
    "links within links": lambda n: _each(b"<a href=%d><object>")(n // 2) + b"wo " * (n // 6),
    "links within cells within links": _each(b"<a href=%d><table><td>ww "),
    "links that are not shown": lambda n: _each(b"<a href=%d><object>")(n // 2) + b"wo " * (n // 6) + b"\x01",
    "links with a long base": lambda n: (
        b"<base href='http://h.test/" + b"d/" * min(n // 4, 1000) + b"'>" + _each(b"<a href=%d>x</a>")(n // 2)
    ),
    "areas": _each(b"<area href=%d alt='one two'>"),
    "frames": _each(b"<frame src=%d>", b"<frameset>"),
    "inner frames": _each(b"<iframe src=%d title='one two'></iframe>"),
    "options": _all("<option>x", b"<select>"),
    "pictures": _all("<img alt=x>"),
    "a picture that says much": _all("w ", b"<img alt='", b"'>"),
    # Elements of the head.
    "metas": _all("<meta name=robots content=a,b,c>"),
    "a long refresh": _all("0", b"<meta http-equiv=refresh content='", b"'>"),
    "refreshes": _all("<meta http-equiv=refresh content='0;url=/x'>"),
    "nested data": _all("[", b"<script type=application/ld+json>", b"</script>"),
    "a long number": _all("9", b"<script type=application/ld+json>", b"</script>"),
    "data again and again": _all("<script type=application/ld+json>[[[]]]</script>"),
    "charsets": _all("<meta charset=x>"),
    "charsets without an end": _all("<meta charset x "),
    "entities": _all("&nvlt;&NotEqualTilde;&fjlig;"),
    "numbers of characters": _all("&#x1F600;"),
    "no entities": _all("&aaaaaaaa"),
    **{
        f"nothing but {text!r}": _all(text) for text in ("&", "<", "<!", "<?", "</", "\0", " ", "\n", "w", "w ", "<br>")
    },
    "comments": _all("<!---->"),
    "an open comment": _all("<!--"),
    "open sections": _all("<![CDATA[", b"<svg>"),
    "marks of links": _all("\x01a"),
    "marks of parts": _all("\x03Fx\x03E\n"),
    "doctypes": _all("<!doctype html>"),
    "ligatures": _all("\ufdfa"),
    "accents": _all("\u0301", b"a"),
    "every byte": _all(bytes(range(256))),
    "lines": _all("\n", b"<pre>"),
    "tabs": _all("\t", b"<pre>"),
    "utf-7": _encoded("utf-7", b"+AGEAYgBj-"),
    "utf-16": _all("<p>w\u00f6rd ".encode("utf-16-le"), b"\xff\xfe"),
    "utf-16 in name only": _encoded("utf-16", b"w "),
    "utf-32": _all("<p>w\u00f6rd ".encode("utf-32-le"), b"\xff\xfe\0\0"),
    "iso-2022-jp": _encoded("iso-2022-jp", b"\x1b$B!!\x1b(B"),
    "iso-2022-kr": _encoded("iso-2022-kr", b"\x0e!!"),
    "hz": _encoded("hz-gb-2312", b"~{!!"),
    "gb18030": _encoded("gb18030", b"\x81\x30\x81\x30"),
    "big5": _encoded("big5", b"\x88\x62"),
    "shift_jis": _encoded("shift_jis", b"\xa1"),
    "no utf-8": _encoded("utf-8", b"\xff"),
    "some utf-8": _encoded("utf-8", b"\xc3\xbc\xff"),
    "no charset": _all(b"\xe4\xe5 "),
    # Main part.
    "articles in articles": _all("<article>x "),
    "bodies in bodies": _all("<div class=entry-content>x "),
    "bodies": _all(b"<div class=entry-content>" + b"prose " * 8 + b"</div>"),
    "furniture": _all("<p class=share>x"),
    "furniture and lines": _halves(b"<div class=content>", b"x<br>"),
    "headings": _all("<h1>x</h1>"),
    "everything": _all("<div><p><b><i><table><tr><td><ul><li>"),
}
