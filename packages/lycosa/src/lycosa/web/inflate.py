"""Content decoding with an output limit, and decoding of bytes to text.

Bodies are archived as received and decompressed here, so nothing upstream has bounded them. No stage of a stack of
encodings produces more than `cap` bytes and one block (at most 256 KiB) of output; joining the pieces takes twice that
for a moment. Common server mistakes are tolerated as in browsers: a body under `Content-Encoding: gzip` that is not
gzip is taken as it is, `deflate` may lack its zlib wrapper, unknown names (`utf-8`, `none`) are ignored, and so is
garbage behind the end. Output before a broken part is kept.
"""

from __future__ import annotations

import contextlib
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, lookup
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import brotli
from turbohtml import TokenType, parse, tokenize
from turbohtml.detect import detect
from zlib_ng import zlib_ng

from lycosa import zstd
from lycosa.core.types import Exchange

zlib: Any = zlib_ng  # the type stubs are incomplete
MAX_STACK = 3  # real servers send one encoding, rarely two
MAX_MEMBERS = 1_000  # members of a gzip body; each needs a new decoder
MAX_BLOCKS = 100_000  # blocks of a zstd body; empty ones take time, too
_FEED = 1 << 16
_FINE = 1 << 10  # chunk size while looking for the position where a stream breaks
_BROTLI_STEP = 1 << 15  # brotli's first block of output; larger limits are not kept exactly
_ZSTD_BLOCK = 1 << 17  # maximum output of a zstd block
_ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}  # 8 MB, as RFC 8878 recommends
_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's window bits select the format
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class BadEncoding(ValueError):
    """Raised for an unsupported encoding, or if nothing of the body could be decoded."""


def source_of(exchange: Exchange, max_bytes: int = 10_000_000) -> str:
    """Return the text of an archived page, of at most `max_bytes` bytes; empty if it can't be decoded."""
    try:
        body, _ = inflate(exchange.body, exchange.header("content-encoding"), max_bytes)
    except BadEncoding:
        return ""
    return decode(body, charset_of(exchange.header("content-type")))


def inflate(body: bytes, encoding: str, cap: int) -> tuple[bytes, bool]:
    """Return at most `cap` bytes of the decoded body, and True if they are all of it."""
    if cap <= 0:  # decoders need room for output: decode one byte and drop it
        data, complete = inflate(body, encoding, 1)
        return b"", complete and not data
    if encoding == "gzip" and body:  # nearly every response
        return _gzip(body, cap)
    names = [part.strip().lower() for part in encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_STACK:
        raise BadEncoding(f"{len(names)} content encodings, at most {MAX_STACK} are supported")
    complete = True
    for name in reversed(names):
        decode = _DECODERS.get(name)
        if name in {"compress", "x-compress", "exi", "pack200-gzip", "aes128gcm", "dcb", "dcz"}:  # registered with IANA
            raise BadEncoding(f"the content encoding {name!r} is not supported")
        if body and decode is not None:  # HEAD and 304 responses have an empty body under any encoding
            body, whole = decode(body, cap)
            complete = complete and whole
    return body[:cap], complete and len(body) <= cap


def _gzip(body: bytes, cap: int) -> tuple[bytes, bool]:
    if not body.startswith(_GZIP_MAGIC) and body != _GZIP_MAGIC[:1]:
        return body[:cap], len(body) <= cap
    data, end = _member(body, 0, _GZIP, cap, len(body))
    if not data and end is None:
        raise BadEncoding("the gzip body could not be decoded")
    if end is None or not body.startswith(_GZIP_MAGIC, end):
        # Garbage after the end is ignored, as in gzip.
        return data, end is not None
    pieces, size = [data], len(data)
    for _ in range(MAX_MEMBERS - 1):
        data, end = _member(body, end, _GZIP, cap - size, _FEED)
        pieces.append(data)
        size += len(data)
        if end is None or not body.startswith(_GZIP_MAGIC, end):
            return b"".join(pieces), end is not None
    return b"".join(pieces), False


def _deflate(body: bytes, cap: int) -> tuple[bytes, bool]:
    # RFC 9110 requires zlib, some servers send raw deflate.
    for wbits in (_ZLIB, _RAW):
        data, end = _member(body, 0, wbits, cap, len(body))
        if data or end is not None:
            return data, end is not None
    raise BadEncoding("the deflate body could not be decoded")


def _member(body: bytes, start: int, wbits: int, room: int, feed: int) -> tuple[bytes, int | None]:
    """Decode one zlib stream into at most `room` bytes; return its end, or None if it was not read completely."""
    stream = zlib.decompressobj(wbits)
    view = memoryview(body)
    pieces: list[bytes] = []
    left = room + 1  # one byte more than `room` shows if the stream goes on
    end = None
    try:
        for place in range(start, len(body), feed):
            piece = stream.decompress(view[place : place + feed], left)
            left -= len(piece)
            if not left:
                pieces.append(piece[:-1])
                break
            pieces.append(piece)
            if stream.eof:
                end = min(place + feed, len(body)) - len(stream.unused_data)
                break
    except zlib.error:
        return _salvage(view[start:], wbits, room), None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces), end


def _salvage(view: memoryview, wbits: int, room: int) -> bytes:
    """Decode a broken zlib stream up to the byte where it breaks; zlib drops the output of the failing call."""
    stream = zlib.decompressobj(wbits)
    data = bytearray()
    for start in range(0, len(view), _FINE):
        chunk = view[start : start + _FINE]
        before = stream.copy()
        try:
            data += stream.decompress(chunk, room + 1 - len(data))
        except zlib.error:
            with contextlib.suppress(zlib.error):
                for place in range(len(chunk)):
                    data += before.decompress(chunk[place : place + 1], room + 1 - len(data))
                    if len(data) > room:
                        break
            break
        if len(data) > room:
            break
    del data[room:]
    return bytes(data)


def _brotli(body: bytes, cap: int) -> tuple[bytes, bool]:
    data, finished, fed = _feed_brotli(_cut(body, _FEED), cap)
    if finished is None:
        # The decoder dropped the output of the failing call: find the position, then decode up to it.
        data, finished, fed = _feed_brotli(_cut(body, _FINE), cap)
        if finished is None:
            good = fed * _FINE
            steps = chain(_cut(body[:good], _FINE), _cut(body[good : good + _FINE], 1))
            data, finished, fed = _feed_brotli(steps, cap)
    if not data and not finished:
        raise BadEncoding("the brotli body could not be decoded")
    whole = bool(finished) and len(data) <= cap
    del data[cap:]
    return bytes(data), whole


def _feed_brotli(chunks: Iterable[bytes], cap: int) -> tuple[bytearray, bool | None, int]:
    """Feed chunks until the stream ends, breaks (None) or exceeds the cap; also return the index of the last chunk."""
    stream = brotli.Decompressor()
    data = bytearray()
    fed = 0
    for fed, chunk in enumerate(chunks):
        try:
            piece = stream.process(chunk, output_buffer_limit=_BROTLI_STEP)
            data += piece
            # The decoder accepts input while output is pending, so the output is drained first.
            while piece and len(data) <= cap and not stream.is_finished():
                piece = stream.process(b"", output_buffer_limit=_BROTLI_STEP)
                data += piece
        except brotli.error:
            return data, None, fed
        if stream.is_finished() or len(data) > cap:
            return data, stream.is_finished(), fed
    return data, False, fed


def _zstd(body: bytes, cap: int) -> tuple[bytes, bool]:
    stream = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
    data = bytearray()
    whole = True  # True between frames
    for chunk, first in _zstd_chunks(body):
        if first:
            stream, whole = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS), False
        try:
            data += stream.decompress(chunk)
        except (zstd.ZstdError, EOFError):
            whole = False
            break
        whole = stream.eof
        if len(data) > cap:
            break
    if not data and not (whole and body.startswith(_ZSTD_MAGIC)):
        raise BadEncoding("the zstd body could not be decoded")
    whole = whole and len(data) <= cap
    del data[cap:]
    return bytes(data), whole


def _zstd_chunks(body: bytes) -> Iterator[tuple[bytes, bool]]:
    """Cut zstd frames (RFC 8878, section 3.1) into chunks of bounded output; True marks the first chunk of a frame.

    The decoder takes no limit on its output, but the block headers say how much each block can give.
    """
    place = blocks = 0
    while place < len(body):
        if body[place : place + 4] != _ZSTD_MAGIC:
            if body[place + 1 : place + 4] == b"\x2a\x4d\x18" and 0x50 <= body[place] <= 0x5F:  # a skippable frame
                place += 8 + int.from_bytes(body[place + 4 : place + 8], "little")
                continue
            return  # garbage after the last frame, or no frame at all
        start, first = place, True
        flags = body[place + 4] if place + 4 < len(body) else 0
        single = flags >> 5 & 1
        place += 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
        last = output = 0
        while not last and place < len(body):
            header = int.from_bytes(body[place : place + 3], "little")
            last, kind, size = header & 1, header >> 1 & 3, header >> 3
            output += size if kind < 2 else _ZSTD_BLOCK
            place += 3 + (1 if kind == 1 else size)
            blocks += 1
            if blocks > MAX_BLOCKS:
                yield b"", True  # too many blocks: the body counts as incomplete
                return
            if output >= _ZSTD_BLOCK or last:
                yield body[start:place], first
                start, output, first = place, 0, False
        if last and flags & 4:
            place += 4  # the checksum is a chunk of its own: if it is wrong, the data is kept
        if start < len(body) and start < place:
            yield body[start:place], first


def _cut(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


_DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


# Bytes to text as in the HTML standard: byte order mark, charset of the Content-Type header, `meta` element or XML
# declaration, detection. Labels follow the Encoding standard (`latin-1` is windows-1252, `gb2312` is GBK); unknown
# labels are ignored. Each invalid byte becomes U+FFFD, and the declaration still holds.
#
# One departure: a declared UTF-8 is rejected if hardly any byte beyond ASCII fits it, and the charset is detected.
# Browsers would show nothing but U+FFFD there.

DEFAULT_ENCODING = "windows-1252"
MAX_INVALID_PER_VALID = 100  # invalid UTF-8 sequences per valid one: with more it is not UTF-8
# bytes searched for a declaration: browsers read the first 1,024 before parsing and the rest while parsing
HEAD_SIZES = (1_024, 50_000)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_XML = re.compile(rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*(["'])([^"'>]{1,40})\1""")
_IN_CONTENT = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)
# a readable meta element proves that these are wrong
_INSTEAD = {"UTF-16LE": "UTF-8", "UTF-16BE": "UTF-8", "x-user-defined": DEFAULT_ENCODING}


def decode(body: bytes, charset: str = "", *, markup: bool = True) -> str:
    """Decode a body; `charset` comes from the Content-Type header, and with `markup` a meta element may declare one."""
    for mark, name in ((BOM_UTF8, "UTF-8"), (BOM_UTF16_LE, "UTF-16LE"), (BOM_UTF16_BE, "UTF-16BE")):
        if body.startswith(mark):
            return body[len(mark) :].decode(f"whatwg-{name}")
    name = encoding_named(charset) or (_declared(body) if markup else "")
    if name and name != "UTF-8":
        return body.decode(f"whatwg-{name}")
    try:
        return body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        return text if _is_utf8(body, text, bool(name)) else body.decode(f"whatwg-{_guess(body)}")


def charset_of(parameters: str) -> str:
    lower = parameters.lower()
    at = lower.find("charset=")
    return parameters[at + 8 :].split(";")[0].strip(" \"'") if at >= 0 else ""


@lru_cache(maxsize=1000)
def encoding_named(label: str) -> str:
    """Return the encoding of a label by the Encoding standard, also in Python's spelling; "" if it is unknown.

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


def _declared(body: bytes) -> str:
    """Return the encoding declared by a meta element (not in comments or scripts) or else by an XML declaration."""
    for size in HEAD_SIZES:
        head = body[:size]
        at = head.lower().find(b"charset")
        if at >= 0 and (name := _in_meta(head[: head.find(b">", at) + 1] or head) or _in_meta(head)):
            return name
        if len(head) == len(body):
            break
    name = encoding_named(declared_in_xml(body))
    return _INSTEAD.get(name, name)


def declared_in_xml(body: bytes) -> str:
    """Return the encoding of an XML declaration as written, or ""."""
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
            match = _IN_CONTENT.search(attributes.get("content", ""))
            label = (match[1] or match[2] or match[3] or "") if match else ""
        if name := encoding_named(label):
            return _INSTEAD.get(name, name)
    return ""


def _is_utf8(body: bytes, text: str, declared: bool) -> bool:
    """Decide whether bytes with some invalid sequences are still meant as UTF-8; `text` is their UTF-8 decoding."""
    wrong = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    if not declared:
        return right >= wrong or (wrong == 1 and text.endswith("\ufffd"))  # cut in the middle of a character
    # A few invalid sequences in a long page are accidents.
    return right * MAX_INVALID_PER_VALID >= wrong or wrong < 2 or wrong * 5_000 < len(body)


def _guess(body: bytes) -> str:
    first = _BEYOND_ASCII.search(body)
    start = max(0, first.start() - 100) if first else 0
    name = encoding_named(detect(body[start : start + 100_000]).encoding or "")
    return DEFAULT_ENCODING if name in ("", "UTF-8", "replacement") else name
