"""Letter order of Arabic and Hebrew lines in PDF files."""

from __future__ import annotations

import time

import pytest

from lycosa.web.documents.letters import Box, repair_letters

Segments = list[tuple[str, str]]  # ("r" or "l", text) in reading order

LINES: dict[str, Segments] = {
    "plain": [("r", "الشعاب المرجانية موطن")],
    "numbers": [("r", "في عام "), ("l", "2023"), ("r", " بلغت "), ("l", "٣١"), ("r", " درجة")],
    "latin": [("r", "يقول إن "), ("l", "Great Barrier Reef"), ("r", " فقد نصف مرجانه")],
    "hebrew": [("r", "שוניות האלמוגים "), ("l", "NOAA"), ("r", " גדלות לאט")],
    "joiner": [("r", "صخره\u200cهای مرجانی می\u200cرویند")],
    "vowels": [("r", "دَجَاجَةُ أَبِي")],
}


def placed(segments: Segments) -> tuple[str, list[int], list[Box]]:
    text = "".join(part for _, part in segments)
    seen, start = list[int](), 0
    for direction, part in segments:
        own = list(range(start, start + len(part)))
        seen = (own[::-1] if direction == "r" else own) + seen
        start += len(part)
    boxes, x = [Box(0.0, 0.0, 0.0)] * len(text), 50.0
    for at in seen:
        if text[at] == " ":
            x += 3.0
        elif text[at] != "\u200c" and not "\u064b" <= text[at] <= "\u0652":
            boxes[at] = Box(x, x + 5.2, 11.0, 700.0)  # overlaps the next box
            x += 5.0
    for at, letter in enumerate(text):
        if "\u064b" <= letter <= "\u0652":  # a mark above the previous letter
            boxes[at] = Box(boxes[at - 1].left + 1.0, boxes[at - 1].left + 4.0, 3.0, 709.0)
    return text, seen, boxes


@pytest.mark.parametrize("name", LINES)
def test_repair_letters_restores_reading_order(name: str) -> None:
    text, seen, boxes = placed(LINES[name])
    read = list(range(len(text)))
    spaces = [at for at in read if text[at] == " "]
    turned = [at for at in read if at > spaces[-1]]
    some = [*range(spaces[-1] + 1), *reversed(turned)]
    for order in (read, seen, [at for at in read if at not in spaces], some):
        content = "".join(text[at] for at in order).replace("\u200c", " ")  # as returned by PDFium
        repaired = repair_letters(content, [(0, len(content))], lambda at, order=order: boxes[order[at]])  # type: ignore[misc]
        assert text == "".join(repaired), order


def test_repair_letters_keeps_latin_lines_and_drops_unknown() -> None:
    text, seen, boxes = placed([("r", "كتاب")])
    line = "The word " + "".join(text[at] for at in seen) + " means book"
    places = [Box(10.0 * at, 10.0 * at + 10.5, 11.0) for at in range(len(line))]
    places = [Box(0.0, 0.0, 0.0) if letter == " " else place for letter, place in zip(line, places, strict=True)]
    assert "The word كتاب means book" == "".join(repair_letters(line, [(0, len(line))], places.__getitem__))
    lost = [box._replace(is_unknown=at == 0) for at, box in enumerate(boxes)]
    assert "تاب" == "".join(repair_letters(text, [(0, 4)], lost.__getitem__))
    seconds = []
    for size in (5_000, 20_000):
        rows = [Box(at % 97, at % 97 + 1.0, 1.0, float(at)) for at in range(size)]
        began = time.process_time()
        repair_letters("ا\u064b" * (size // 2), [(0, size)], rows.__getitem__)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 12 * seconds[0] + 0.5
