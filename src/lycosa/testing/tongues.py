"""Sentences in other languages, and the ways in which pages get their character encoding wrong."""

from __future__ import annotations

from dataclasses import dataclass

SENTENCES: dict[str, tuple[str, ...]] = {
    "fr": (
        "L’été dernier, les visiteurs ont découvert une côte très différente.",
        "Après la tempête, la mer était calme et l’eau était très claire.",
        "Nous avons préparé cette page à partir de nos propres carnets.",
        "Où que l’on regarde, le même problème réapparaît.",
        "Les élèves ont noté chaque détail, même le plus léger.",
        "À la fin de la journée, tout le monde était fatigué mais ravi.",
        "Le musée a gardé les dessins près de la fenêtre.",
        "Ça ne suffit pas: il faut aussi répéter l’expérience.",
    ),
    "de": (
        "Im Frühling beginnt die Arbeit früher, als man möchte.",
        "Die Straße führt über die Brücke und weiter in die Wälder.",
        "Für größere Gruppen müssen wir die Räume rechtzeitig öffnen.",
        "Die Prüfung der Geräte dauerte länger als üblich.",
        "Später erzählte er, dass die Tür nie geschlossen war.",
        "Weiß jemand, warum die Kühe heute so müde sind?",
        "Das Gedächtnis täuscht uns häufig, die Notizbücher seltener.",
        "Schöne Grüße an alle, die uns geschrieben haben.",
    ),
    "ja": (
        "この町の人々は毎朝早く起きて海を見に行きます。",
        "去年の夏、私たちは新しい記録を作りました。",
        "詳しいことは次のページに書いてあります。",
        "水の温度が上がると、魚の数が少なくなります。",
        "先生は古い写真を一枚ずつ説明しました。",
        "雨が降った日は図書館で静かに本を読みます。",
        "来月の集まりについて、みんなで話し合いました。",
        "山の上から見る景色はとても美しいです。",
    ),
    "zh": (
        "去年夏天我们在海边住了很长时间。",
        "这里的水很清，可以看见很多小鱼。",
        "老师把旧照片一张一张地讲给我们听。",
        "下个月的会议将讨论新的计划。",
        "请在下一页查看更多的内容。",
        "天气变暖以后，花开得比往年早。",
        "图书馆每天早上九点开门。",
        "他把所有的记录都写在一个本子里。",
    ),
}


@dataclass(frozen=True, slots=True)
class Charset:
    """How one page of the charset host is labelled and how it is really encoded."""

    header: str  # charset in Content-Type, "" for none
    meta: str  # charset in <meta>, "" for none
    actual: str  # Python codec the bytes are made with
    lang: str


# The page's number on the host chooses the row.
CHARSETS: tuple[Charset, ...] = (
    Charset("utf-8", "", "cp1252", "fr"),
    Charset("iso-8859-1", "", "latin-1", "de"),
    Charset("", "Shift_JIS", "shift_jis", "ja"),
    Charset("", "GBK", "gbk", "zh"),
    Charset("EUC-JP", "", "euc_jp", "ja"),
    Charset("iso-8859-1", "utf-8", "utf-8", "fr"),
    Charset("", "", "utf-8-sig", "fr"),
    Charset("", "", "utf-16", "ja"),
    Charset("x-nonsense", "", "utf-8", "de"),
    Charset("", "", "cp1252", "de"),
    Charset("utf-8", "utf-8", "utf-8", "fr"),
    Charset("utf-8", "utf-8", "utf-8", "ja"),
)
