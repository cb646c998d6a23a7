"""One version of a page for the detectors; expensive properties are computed lazily.

Changes count in the main part of a page (web/mainpart.py), without dates and counters. To locate it in the document
tree, texts are matched in order against the text of the main part; matched texts and the images among them belong to
it. They are grouped into blocks: paragraphs, list items, table rows. Volatile parts (below) are removed from blocks;
empty blocks are dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lycosa.core.types import Exchange
from lycosa.text.fingerprint import TermHashes
from lycosa.text.tokens import stems
from lycosa.web.html import HTML
from lycosa.web.inflate import BadEncoding, charset_of, decode, inflate
from lycosa.web.mainpart import ARTICLE, BOILERPLATE, COMMENTS, MAIN, NAMED_BOILERPLATE, TAGS, by_attributes
from lycosa.web.parse_process import reparse_page
from lycosa.web.tree import DomTree, base_url, parse_tree
from lycosa.web.urls import resolve

NEAR = 10  # nodes before the first and after the last text of the main part whose images belong to it
SKIP, OUTSIDE, STAMPED, TABLE, TITLE, CORE, ASIDE = 1, 2, 4, 8, 16, 32, 64

_SKIPPED = frozenset("head script style template noscript select textarea button datalist object iframe canvas".split())
_BLOCKS = frozenset(
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section summary table "
    "tbody tfoot thead title tr ul".split()
)
_MEDIA = frozenset("img picture video audio svg math".split())
_DATED = re.compile(
    r"(?:byline|date|dateline|datetime|entry-meta|lastmod|last-?(?:updated|modified)|meta|modified|post-?(?:date|meta)|"
    r"posted(?:-on)?|pubdate|published|time|timestamp|updated)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNREAD = re.compile(r"^\(\d{1,4}\+?\)\s*")
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_HAN}]|[^\W_](?:[^\s{_HAN}]*[^\W_])?")


@dataclass
class Snapshot:
    """One version of a page. If two versions have an equal `body`, only headers may differ."""

    url: str
    body: bytes = b""  # decompressed; empty if not archived
    content_type: str = ""
    title: str = ""
    text: str = ""  # as displayed
    links: list[str] = field(default_factory=list)
    simhash: int = 0
    relevance: float = 0.0
    threshold: float = 0.0  # relevance from which on a page is relevant

    @classmethod
    def of(
        cls,
        url: str,
        body: bytes,
        content_type: str = "",
        *,
        relevance: float = 0.0,
        threshold: float = 0.0,
        simhash: int = 0,
    ) -> Snapshot:
        """Create a version from a decompressed body."""
        document = reparse_page(body, url, content_type)
        title, text, links = document.title, document.text, document.links.urls
        return cls(url, body, content_type, title, text, links, simhash, relevance, threshold)

    @cached_property
    def is_html(self) -> bool:
        kind = self.content_type.partition(";")[0].strip().lower()
        return bool(self.body) and (kind in HTML if kind else self.body.lstrip()[:1] == b"<")

    @cached_property
    def is_read(self) -> bool:
        return self.is_html or bool(self.text)

    @cached_property
    def source(self) -> str:
        return decode(self.body, charset_of(self.content_type))

    @cached_property
    def tree(self) -> DomTree:
        return parse_tree(self.source) if self.is_html else DomTree()

    @cached_property
    def main(self) -> MainBlocks:
        """Blocks of the main part; for plain text every line without volatile parts."""
        if self.is_html:
            return main_blocks(self.tree, reparse_page(self.body, self.url, self.content_type).main)
        lines = (" ".join(line.split()) for line in self.text.splitlines())
        return MainBlocks([line for line in lines if line])

    @property
    def main_text(self) -> str:
        return "\n".join(self.main.blocks)

    @cached_property
    def main_links(self) -> list[str]:
        """Distinct links of the main part and of lists in `main` or `article`; all links if there is no tree."""
        if not self.is_html:
            return list(dict.fromkeys(self.links))
        urls = resolve(base_url(self.tree, self.url), self.main.hrefs)
        return list(dict.fromkeys(url for url in urls if url))

    @cached_property
    def text_print(self) -> int:
        """Fingerprint of the text by English stems, for comparisons where one version has no stored `simhash`."""
        counts = Counter(stems(self.text))
        signs = TermHashes()
        signs.extend(list(counts))
        return signs.simhash(
            np.arange(len(counts), dtype=np.uint32),
            np.fromiter((min(n, 65_535) for n in counts.values()), np.uint16, len(counts)),
        )


def inflated(exchange: Exchange) -> bytes:
    """Return the decompressed body of a response; unchanged if it cannot be decompressed."""
    try:
        # the same limit as while crawling
        return inflate(exchange.body, exchange.header("content-encoding"), 10_000_000)[0]
    except BadEncoding:
        return exchange.body


@dataclass(slots=True)
class MainBlocks:
    """The main part of a page, block by block."""

    blocks: list[str] = field(default_factory=list)
    furniture: list[str] = field(default_factory=list)  # blocks outside the main part, processed alike
    # Per node, whether it belongs to the main part: texts, their elements and images.
    inside: bytearray = field(default_factory=bytearray)
    hrefs: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)  # text of the blocks outside of links
    plain: bytearray = field(default_factory=bytearray)  # like `inside`, for texts that are not in a link

    @property
    def words(self) -> list[str]:
        return words_of(self.blocks)


def words_of(blocks: Iterable[str]) -> list[str]:
    """Return the words of some blocks without surrounding punctuation; Chinese and Japanese by character.

    >>> words_of(["Reefs (coral), 4.31 m -", "珊瑚"])
    ['Reefs', 'coral', '4.31', 'm', '珊', '瑚']
    """
    return [word for block in blocks for word in _WORDS.findall(block)]


def main_blocks(tree: DomTree, main: str) -> MainBlocks:
    """Locate the main part in a page's tree by its text.

    >>> from lycosa.web.tree import parse_tree
    >>> page = "<nav><a href=/>Home</a></nav><h1>Reefs</h1><p>Coral lives.<p>Updated 3 May 2024<footer>(c)</footer>"
    >>> main_blocks(parse_tree(page), "Reefs\\nCoral lives.\\nUpdated 3 May 2024").blocks
    ['Reefs', 'Coral lives.']
    """
    reader = _TreeReader(tree, main)
    reader.read()
    part = MainBlocks(inside=bytearray(len(tree)), plain=bytearray(len(tree)))
    for block in reader.blocks:
        if not block.line:
            continue
        if block.state & OUTSIDE:
            part.furniture.append(block.line)
        else:
            part.blocks.append(block.line)
            for node in block.texts:
                part.inside[node] = 1
            for node in block.plain:
                part.plain[node] = 1
            line = " ".join(" ".join(block.unlinked).split())
            if line := unstamped(line, table=bool(block.state & TABLE)) if line else "":
                part.unlinked.append(line)
    _fill(tree, reader.states, part.inside)
    _fill(tree, reader.states, part.plain)
    part.hrefs = [
        tree.attributes[node]["href"]
        for node in reader.links
        # A list of links below the prose is not part of the text, but new links in it matter.
        if part.inside[node] or reader.states[node] & (CORE | ASIDE | SKIP) == CORE
    ]
    return part


@dataclass(slots=True)
class _Block:
    at: int
    state: int
    texts: list[int] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    plain: list[int] = field(default_factory=list)
    line: str = ""


class _Trace:
    """Matcher of a page's texts, in order, against the main part."""

    def __init__(self, main: str) -> None:
        self.main = "".join(main.split())
        self.at = 0

    def has(self, text: str) -> bool:
        """Return whether a text comes next, or is long enough to be found elsewhere."""
        sought = "".join(text.replace("\xad", "").split())
        if not self.main.startswith(sought, self.at):
            if len(sought) < 12:  # shorter texts have to follow the one before immediately
                return False
            place = self.main.find(sought, max(0, self.at - 200), self.at + 20_000 + len(sought))
            if place < 0:
                return False
            self.at = place
        self.at += len(sought)
        return True


class _TreeReader:
    """Reader of a tree in one linear pass: states of nodes, blocks, link elements."""

    def __init__(self, tree: DomTree, main: str) -> None:
        self.tree = tree
        self.states: list[int] = []
        self.blocks: list[_Block] = []
        self.links: list[int] = []
        self._trace = _Trace(main)
        self._block = _Block(-1, SKIP)
        self._broken = True  # true if the next text begins a block

    def read(self) -> None:
        holders: list[int] = []  # innermost block element of each node
        linked: list[int] = []  # innermost link of each node
        for node, (name, parent) in enumerate(zip(self.tree.names, self.tree.parents, strict=True)):
            state, holder, link = (self.states[parent], holders[parent], linked[parent]) if parent >= 0 else (0, -1, -1)
            if name:
                state = _state(name, state, self.tree.attributes[node])
                if name in _BLOCKS:
                    holder, self._broken = node, True
                elif name in ("td", "th") and not self._broken and self._block.at == holder:
                    self._block.pieces.append(" | ")
                if name == "a" and "href" in self.tree.attributes[node]:
                    link = node
                    self.links.append(node)
            elif not state & SKIP:
                state = self._text(node, state, holder, link)
            self.states.append(state)
            holders.append(holder)
            linked.append(link)
        for block in self.blocks:
            line = " ".join("".join(block.pieces).split())
            if block.state & TITLE:
                line = _UNREAD.sub("", line)
            block.line = unstamped(line, table=bool(block.state & TABLE))

    def _text(self, node: int, state: int, holder: int, link: int) -> int:
        """Append a text to its block, or begin a block where an element or the main part begins or ends."""
        text = self.tree.texts[node]
        if not text or text.isspace():
            if not self._broken:
                self._block.pieces.append(" ")
            return state
        if not state & TITLE and not self._trace.has(text):
            state |= OUTSIDE
        if self._broken or self._block.at != holder or (self._block.state ^ state) & OUTSIDE:
            self._block = _Block(holder, state)
            self.blocks.append(self._block)
            self._broken = False
        block = self._block
        block.texts.append(node)
        if state & STAMPED:
            text = " " + unstamped(" ".join(text.split()), stamped=True) + " "
        block.pieces.append(text)
        if link < 0:
            block.plain.append(node)
            block.unlinked.append(text)
        return state


def _state(name: str, state: int, attributes: dict[str, str]) -> int:
    if name in _SKIPPED:
        return state | SKIP
    if name == "title" and state & SKIP:
        state = state & ~SKIP | TITLE  # the only visible part of the head
    elif name == "tr":
        state |= TABLE
    letter = TAGS.get(name, "")
    if attributes and letter != BOILERPLATE:
        letter = by_attributes(attributes, name, letter)
    if letter in (MAIN, ARTICLE):
        state |= CORE
    elif letter in (BOILERPLATE, NAMED_BOILERPLATE, COMMENTS):
        state |= ASIDE
    if attributes:
        if "hidden" in attributes or ("style" in attributes and _HIDDEN.search(attributes["style"][:1000])):
            state |= SKIP
        names = (attributes.get("class", "") + " " + attributes.get("id", ""))[:1000].split()
        if names and any(map(_DATED.fullmatch, names)):
            state |= STAMPED
    return state


def _fill(tree: DomTree, states: list[int], inside: bytearray) -> None:
    """Add images between marked nodes, and the ancestors of marked nodes."""
    first, last = inside.find(1), inside.rfind(1)
    for node in range(len(tree) - 1, 0, -1):
        if tree.names[node] in _MEDIA and first - NEAR <= node <= last + NEAR and not states[node] & SKIP:
            attributes = tree.attributes[node]
            if not {attributes.get("width"), attributes.get("height")} & {"0", "1"}:
                inside[node] = 1
        if inside[node]:
            inside[tree.parents[node]] = 1


# Remove volatile parts of a line: dates of updates, ages, counters, copyright years, session ids.
#
# The meaning of a number is derived from adjacent words in its segment of the line (a sentence, a table cell, or text
# between bars and dots):
#
#     age         `3 minutes ago`, `vor 3 Minuten`: always removed
#     date, time  removed if the segment contains nothing else, or if a stamp word (`updated`, `Stand`) or a byline
#                 precedes it; a date in a sentence is content and stays
#     counter     a number next to a counting word (`12 comments`, `Views: 1,204`), in a short segment
#     effort      `generated in 0.02 seconds`, `5 min read`
#     copyright   years after the sign or the word
#     session     an id after `session`, `csrf token`, `ray id` and the like
#
# All other numbers stay: prices, scores, water levels, and in tables a date alone in its cell. Months, weekdays and
# similar words are known in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Chinese,
# Japanese and Korean, digits in all scripts. Linear in the line's length.

WORD_NEAR = 6  # tokens between a stamp word and its date


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MONTHS = _set("""
jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov
november dec december januar jänner februar märz mär mai juni juli okt oktober dez dezember janvier janv février févr
fév mars avril avr juin juillet juil août septembre octobre novembre décembre déc enero ene febrero marzo abril abr mayo
junio julio agosto ago septiembre setiembre octubre noviembre diciembre dic gennaio gen febbraio aprile maggio mag
giugno giu luglio lug settembre set ottobre ott dicembre janeiro fevereiro fev março maio junho julho setembro outubro
out novembro dezembro januari februari maart mrt mei augustus stycznia lutego marca kwietnia maja czerwca lipca sierpnia
września października listopada grudnia января февраля марта апреля мая июня июля августа сентября октября ноября
декабря
""")

WEEKDAYS = _set("""
mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday montag dienstag
mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so lundi mardi mercredi jeudi vendredi samedi
dimanche lunes martes miércoles jueves viernes sábado domingo lunedì martedì mercoledì giovedì venerdì sabato domenica
segunda terça quarta quinta sexta feira maandag dinsdag woensdag donderdag vrijdag zaterdag zondag poniedziałek wtorek
środa czwartek piątek sobota niedziela понедельник вторник среда четверг пятница суббота воскресенье
""")

RELATIVE = _set("""
today yesterday now heute gestern jetzt aujourd hui hier maintenant hoy ayer ahora oggi ieri adesso hoje ontem agora
vandaag gisteren nu dziś dzisiaj wczoraj сегодня вчера 今天 昨天 刚刚 今日 昨日
""")

# Tokens that join the parts of dates.
GLUE = _set("""
am pm a p m t z h uhr o clock gmt utc est edt cst cdt pst pdt cet cest bst msk st nd rd th er º ª the of at on um am den
der le la les à de del el at op om o i in is ist est es è é г года в ч 年 月 日 時 时 分 秒 년 월 일 시 just right
""")
CJK_PARTS = _set("年 月 日 時 时 點 点 分 秒 년 월 일 시 분")

STAMPS = _set("""
updated update modified posted published created generated edited revised changed reviewed retrieved accessed printed
today now current currently date time last lastmod timestamp asof stamped refreshed by stand aktualisiert geändert
veröffentlicht erstellt bearbeitet datum uhrzeit zuletzt heute von jour modifié modifiée publié publiée généré rédigé
actualizado actualizada publicado publicada modificado modificada fecha hora aggiornato aggiornata pubblicato pubblicata
modificato ultima último última ultimo atualizado atualizada bijgewerkt geplaatst gewijzigd gepubliceerd laatst
zaktualizowano aktualizacja opublikowano dodano обновлено обновление опубликовано изменено дата 更新 最終更新 更新时间
发布 发布时间 公開 投稿 수정 등록
""")

COUNTED = _set("""
views view hits hit likes like shares share comments comment replies reply followers follower downloads download reads
visits visit visitors visitor impressions retweets reposts upvotes subscribers plays listens bookmarks favourites
favorites reviews ratings pageviews clicks users guests online answers reactions aufrufe aufruf kommentare kommentar
zugriffe antworten klicks besucher gäste benutzer abonnenten mal vues vue commentaires commentaire visiteurs visites
partages abonnés connectés visitas visita visitantes comentarios comentario seguidores descargas compartidos visite
visitatori commenti commento visualizzazioni condivisioni comentários comentário visualizações weergaven reacties
reactie bezoekers komentarzy komentarze komentarz wyświetleń odsłon odwiedzin просмотров просмотра комментариев
комментария посетителей лайков 浏览 次浏览 阅读 次阅读 评论 条评论 点赞 点击 コメント 閲覧 件のコメント 조회 조회수 댓글
""")

_PLEA = _set(
    "viewed visited read aufgerufen gelesen besucht consulté consultée vue visto visitado letto bekeken gezien"
)
_TIMES = _set("times mal fois veces volte vezes keer razy раз 次")
_MADE = _set("generated rendered loaded served created took executed erzeugt generiert geladen générée généré generada")
_SPAN = _set("s sec secs second seconds ms millisecond milliseconds sekunden sekunde secondes segundos secondi queries")
_READING = _set("read lesezeit lecture lectura lettura leitura leestijd reading чтения")
_UNITS = _set("""
s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days w week weeks mo month months y yr yrs
year years sekunde sekunden minuten stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren
seconde secondes heure heures jour jours semaine semaines mois an ans segundo segundos minuto minutos hora horas día
días dia dias semana semanas mes meses mês año años ano anos secondi minuti ore ora giorno giorni settimana settimane
mese mesi anno anni seconden minuut uur uren dag dagen weken maand maanden jaar sekund minut godzin godziny dni tygodni
секунд минут минуты минуту часов часа час дней дня день недель недели месяцев месяца лет года
""")
_AGO = _set("ago geleden fa temu назад atrás")
_SUFFIXES = frozenset(("k", "m", "tsd", "+", ")", "]", "×"))
_PREFIXES = frozenset((":", "(", "[", "#", "=", "№"))
_AGO_JOINED = ("前", "전")

TOKEN = re.compile(r"\d+(?:[.,:/\-'’]\d+)*+|[^\W\d_]+|[^\w\s]|_+")
_DATE = re.compile(r"\d{4}[-./]\d{1,2}(?:[-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./](?:\d{4}|\d{2})")
_CLOCK = re.compile(r"[0-2]?\d:[0-5]\d(?::[0-6]\d)?(?:[.,]\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/](?:19|20)?\d\d)?")
_DAY = re.compile(r"[0-3]?\d")
_SESSION = re.compile(
    r"\b(session|sid|phpsessid|jsessionid|token|csrf|nonce|ray|request|trace|correlation|visitor)"
    r"(?:[ _-]?id)? ?[:=#]? ?(?=[A-Za-z_-]{0,64}\d)[\w-]{8,128}",
    re.IGNORECASE,
)
_WANTED = re.compile(r"\d")
_BREAKS = frozenset("|·•—–»«/;\n!?()[]")
_EMPTY = _set("vor il y a hace há page").union(
    GLUE, STAMPS, COUNTED, _PLEA, _TIMES, _MADE, _SPAN, _READING, _UNITS, _AGO
)


def unstamped(line: str, *, table: bool = False, stamped: bool = False) -> str:
    """Return a line without volatile parts.

    `table`: its segments are cells, where a date is data. `stamped`: the markup declares it a date or a byline.
    """
    if not _WANTED.search(line):  # without digits, only relative times such as "yesterday" are volatile
        return "" if len(line) < 40 and set(line.lower().split()) <= RELATIVE else line
    line = _SESSION.sub(r"\1", line)
    matches = list(TOKEN.finditer(line))
    words = [match[0].lower() for match in matches]
    drop: set[int] = set()
    start = 0
    for end in range(len(words) + 1):
        if end == len(words) or _breaks(words, end):
            if start < end:
                _segment(words, start, end, drop, table, stamped)
            start = end + 1
    _copyright(words, drop)
    if not drop:
        return line
    pieces: list[str] = []
    at = 0
    for number in sorted(drop):
        pieces.append(line[at : matches[number].start()])
        at = matches[number].end()
    pieces.append(line[at:])
    if all(number in drop or not word[0].isalnum() or word in _EMPTY for number, word in enumerate(words)):
        return ""  # only words that accompany a timestamp are left
    return " ".join("".join(pieces).split())


def _breaks(words: list[str], at: int) -> bool:
    word = words[at]
    if word in _BREAKS:
        # brackets contain a counter after its word: `Comments (12)`
        has_number = any(0 <= other < len(words) and words[other][0].isdigit() for other in (at - 1, at + 1))
        return not (word in "()[]" and has_number)
    if word == "-":
        return True
    if word != "." or at == 0 or at + 1 == len(words):
        return False
    before = words[at - 1]
    return before.isalpha() and before not in MONTHS and before not in WEEKDAYS and len(before) > 2


def _segment(words: list[str], start: int, end: int, drop: set[int], table: bool, stamped: bool) -> None:
    numbers = [at for at in range(start, end) if words[at][0].isdigit()]
    dates = _dates(words, start, end) if numbers else {at for at in range(start, end) if words[at] in RELATIVE}
    plain = sum(words[at].isalpha() for at in range(start, end))
    for at in numbers:
        if at not in dates:
            drop.update(_counter(words, at, start, end, plain))
    if dates:
        others = [at for at in range(start, end) if at not in dates and words[at][0].isalnum() and at not in drop]
        alone = not table and all(words[at] in GLUE or words[at] in STAMPS for at in others)
        drop.update(dates if stamped or alone else _stamped(words, start, end, dates))


def _stamped(words: list[str], start: int, end: int, dates: set[int]) -> Iterable[int]:
    last = start - WORD_NEAR - 1
    for at in range(start, end):
        if at in dates and at - last <= WORD_NEAR:
            yield at
            last = max(last, at - WORD_NEAR + 2)  # the rest of the date may be further away
        # `by` starts a byline only at the beginning
        if words[at] in STAMPS and (words[at] not in {"by", "von", "last"} or at == start):
            last = at


def _dates(words: list[str], start: int, end: int) -> set[int]:
    parts: set[int] = set()
    for at in range(start, end):
        word = words[at]
        if word in MONTHS:
            date_parts = [near for near in range(max(start, at - 4), min(end, at + 5)) if _is_part(words, near, at)]
            if date_parts:
                parts.add(at)
                parts.update(date_parts)
        elif word[0].isdigit():
            after = words[at + 1] if at + 1 < end else ""
            if after == "h" and at + 2 < end and _DAY.fullmatch(word) and len(words[at + 2]) == 2:  # 14h30
                parts.update((at, at + 1, at + 2))
            elif _DATE.fullmatch(word) or _CLOCK.fullmatch(word) or _is_cjk_date_part(after) or after == "uhr":
                parts.add(at)
        elif word in RELATIVE:
            parts.add(at)
    for at in range(start, end):  # tokens attached to a date
        if (words[at] in WEEKDAYS or words[at] in ("am", "pm", "gmt", "utc", "z", "t", "uhr", "年", "月", "日")) and (
            any(near in parts for near in (at - 1, at - 2, at + 1, at + 2))
        ):
            parts.add(at)
    return parts


def _is_cjk_date_part(after: str) -> bool:
    """Return whether a CJK token makes the number before it part of a date; false for ages such as `3分钟前`."""
    return after[:1] in CJK_PARTS and not after.endswith(_AGO_JOINED)


def _is_part(words: list[str], at: int, month: int) -> bool:
    word = words[at]
    if not (_DAY.fullmatch(word) or _YEAR.fullmatch(word)):
        return False
    between = words[min(at, month) + 1 : max(at, month)]
    return all(other in GLUE or other in (".", ",") or other[0].isdigit() for other in between)


def _counter(words: list[str], at: int, start: int, end: int, plain: int) -> Iterable[int]:
    """Return the tokens of a volatile number and its counting word; none for other numbers."""
    after = next((place for place in range(at + 1, end) if words[place] not in _SUFFIXES), end)
    before = next((place for place in range(at - 1, start - 1, -1) if words[place] not in _PREFIXES), start - 1)
    then, following, further = (words[place] if place < end else "" for place in range(after, after + 3))
    ahead = words[before] if before >= start else ""
    since = any(_ends(words, start, at, ago) for ago in (("vor",), ("il", "y", "a"), ("hace",), ("há",)))
    if then.endswith(_AGO_JOINED) or (then in _UNITS and (since or following in _AGO)):
        return range(at, after + 1)
    if then in _UNITS and (following in _READING or (following == "de" and further in _READING)):
        return range(at, after)
    if (then in _TIMES and ahead in _PLEA) or (then in _SPAN and not _MADE.isdisjoint(words[max(start, at - 4) : at])):
        return range(at, after)
    if plain <= 6:  # number of other words; a counter, not a sentence
        if then in COUNTED:  # remove the word as well, because it is inflected: one comment, two comments
            return range(at, after + 1)
        if ahead in COUNTED and (before < at - 1 or not then):
            return range(at, after)
    return ()


def _ends(words: list[str], start: int, at: int, wanted: tuple[str, ...]) -> bool:
    return at - len(wanted) >= start and tuple(words[at - len(wanted) : at]) == wanted


def _copyright(words: list[str], drop: set[int]) -> None:
    near = 0
    for at, word in enumerate(words):
        if word in {"©", "copyright"} or (word == "c" and words[max(0, at - 1) : at + 2] == ["(", "c", ")"]):
            near = 8
        elif near:
            near -= 1
            if _YEAR.fullmatch(word):
                drop.add(at)
                if words[at - 1] in "-–—":
                    drop.add(at - 1)
