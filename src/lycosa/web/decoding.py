"""Bytes to text as browsers do it, for every reader of pages.

In this order, after the HTML standard: a byte order mark, the charset of the Content-Type header, what a `meta` element
or an XML declaration declares, a look at the bytes. Names mean what the Encoding standard says (`latin-1` is
windows-1252, `gb2312` is GBK), and a name that it does not know declares nothing. Bytes that are wrong become U+FFFD,
one by one: a declaration holds.

One departure: UTF-8 is declared by habit. Where hardly any byte beyond ASCII fits it, the declaration is disproved as a
whole, and the bytes decide. Browsers would show nothing but U+FFFD there.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, lookup
from functools import lru_cache

from turbohtml import TokenType, parse, tokenize
from turbohtml.detect import detect

DEFAULT = "windows-1252"

DISPROVED = 100
"""Sequences that are no UTF-8 for each one that is: with more of them nothing here was meant to be."""

SPARSE = 5_000
"""Bytes of a page for each such sequence at least: a few in a long page are accidents, not a charset."""

HEADS = (1_024, 50_000)
"""Bytes of a page that are searched for a declaration: as browsers do at once, and as they do in passing."""

SAMPLE = 100_000
"""Bytes that are looked at to guess an encoding, from the first on that is not ASCII."""

_MARKS = ((BOM_UTF8, "UTF-8"), (BOM_UTF16_LE, "UTF-16LE"), (BOM_UTF16_BE, "UTF-16BE"))
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_XML = re.compile(rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*(["'])([^"'>]{1,40})\1""")
_IN_CONTENT = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)
_INSTEAD = {"UTF-16LE": "UTF-8", "UTF-16BE": "UTF-8", "x-user-defined": DEFAULT}
"""What a meta element means that declares one of these: it could not have been read if it were true."""


def decode(body: bytes, charset: str = "", *, markup: bool = True) -> str:
    """The text of a body. `charset`: the header's, if it names one. `markup`: whether a meta element may declare one.

    >>> decode(b"<meta charset=utf-8><title>Fr\\xc3\\xbchling</title> \\xff and so on")
    '<meta charset=utf-8><title>Frühling</title> � and so on'
    >>> decode("naïve".encode("latin-1"), "latin-1")
    'naïve'
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], name)
    name = encoding_named(charset) or (_declared(body) if markup else "")
    if name and name != "UTF-8":
        return _decoded(body, name)
    try:
        return body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        return text if _is_utf8(body, text, bool(name)) else _decoded(body, _guess(body))


def charset_of(parameters: str) -> str:
    """The charset parameter of a content type, or of its parameters; empty if there is none."""
    lower = parameters.lower()
    at = lower.find("charset=")
    return parameters[at + 8 :].split(";")[0].strip(" \"'") if at >= 0 else ""


@lru_cache(maxsize=1000)
def encoding_named(label: str) -> str:
    """The encoding that a label means by the standard, or by Python's spelling of such a label; empty if it is none.

    >>> encoding_named(" ISO-8859-1 "), encoding_named("latin-1"), encoding_named("GB2312"), encoding_named("utf-7")
    ('windows-1252', 'windows-1252', 'GBK', '')
    """
    label = label.strip("\t\n\f\r ")[:100]
    return _standard(label) or _standard(_python(label)) if label.isascii() else ""


def _standard(label: str) -> str:
    try:
        return parse(b"", encoding=label).encoding or "" if label else ""
    except (LookupError, ValueError):
        return ""


def _python(label: str) -> str:
    try:
        return lookup(label).name
    except (LookupError, ValueError):
        return ""


def _decoded(body: bytes, name: str) -> str:
    return body.decode("whatwg-" + name)


def _declared(body: bytes) -> str:
    """The encoding that a meta element declares, not one in a comment or in a script; or else an XML declaration."""
    for size in HEADS:
        head = body[:size]
        at = head.lower().find(b"charset")
        if at >= 0 and (name := _in_meta(head[: head.find(b">", at) + 1] or head) or _in_meta(head)):
            return name
        if len(head) == len(body):
            break
    name = encoding_named(declared_in_xml(body))
    return _INSTEAD.get(name, name)


def declared_in_xml(body: bytes) -> str:
    """The encoding that an XML declaration names, as it is written there; empty if it names none."""
    match = _XML.match(body)
    return match[2].decode("latin-1") if match else ""


def _in_meta(head: bytes) -> str:
    for token in tokenize(head.decode("latin-1")):
        if token.type is not TokenType.START_TAG:
            continue
        if token.tag == "body":
            break
        if token.tag != "meta":
            continue
        attributes = {key: value or "" for key, value in reversed(token.attrs or [])}
        label = attributes.get("charset", "")
        if not label and attributes.get("http-equiv", "").strip().lower() == "content-type":
            within = _IN_CONTENT.search(attributes.get("content", ""))
            label = (within[1] or within[2] or within[3] or "") if within else ""
        if name := encoding_named(label):
            return _INSTEAD.get(name, name)
    return ""


def _is_utf8(body: bytes, text: str, declared: bool) -> bool:
    """Whether bytes that are not UTF-8 throughout are meant to be; `text` is what they are as UTF-8."""
    wrong = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    if not declared:
        return right >= wrong or (wrong == 1 and text.endswith("\ufffd"))  # cut in the middle of a character
    return right * DISPROVED >= wrong or wrong < 2 or wrong * SPARSE < len(body)


def _guess(body: bytes) -> str:
    """The encoding that bytes look like, which is not UTF-8."""
    first = _BEYOND_ASCII.search(body)
    start = max(0, first.start() - 100) if first else 0
    name = encoding_named(detect(body[start : start + SAMPLE]).encoding or "")
    return DEFAULT if name in ("", "UTF-8", "replacement") else name
