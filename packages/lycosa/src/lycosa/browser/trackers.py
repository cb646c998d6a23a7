"""Hosts of ads and trackers, which are blocked while rendering.

The list is short and our own: hosts that serve only advertisements, counters and session recordings. A page that needs
one of them can be rendered with `render_trackers`.

>>> is_tracker("https://www.google-analytics.com/g/collect"), is_tracker("https://analytics.example.org/")
(True, False)
"""

from __future__ import annotations

import re

from lycosa.web.urls import host

_DOMAINS = frozenset(
    """
    google-analytics.com googletagmanager.com googletagservices.com doubleclick.net googlesyndication.com
    googleadservices.com adservice.google.com pagead2.googlesyndication.com 2mdn.net
    facebook.net connect.facebook.net ads-twitter.com analytics.twitter.com static.ads-twitter.com
    ads.linkedin.com snap.licdn.com px.ads.linkedin.com bat.bing.com clarity.ms
    amazon-adsystem.com adsystem.amazon.com adnxs.com rubiconproject.com pubmatic.com openx.net criteo.com criteo.net
    taboola.com outbrain.com adsrvr.org casalemedia.com smartadserver.com advertising.com moatads.com teads.tv
    sharethrough.com indexww.com bidswitch.net yieldmo.com adform.net adroll.com mgid.com revcontent.com zedo.com
    scorecardresearch.com quantserve.com quantcount.com chartbeat.com chartbeat.net comscore.com imrworldwide.com
    hotjar.com hotjar.io mouseflow.com fullstory.com crazyegg.com luckyorange.com inspectlet.com smartlook.com
    segment.com segment.io mixpanel.com amplitude.com heap.io heapanalytics.com kissmetrics.com statcounter.com
    matomo.cloud plausible.io cloudflareinsights.com nr-data.net newrelic.com optimizely.com omtrdc.net demdex.net
    everesttech.net 2o7.net mc.yandex.ru an.yandex.ru hm.baidu.com cnzz.com top-fwz1.mail.ru counter.yadro.ru
    tiktokcdn-analytics.com analytics.tiktok.com pixel.wp.com stats.wp.com histats.com addthis.com sharethis.com
    """.split()
)
_PATHS = re.compile(r"/(matomo|piwik)\.(js|php)\b|/(gtag|analytics|ga|fbevents|beacon)\.js\b(?!/)", re.IGNORECASE)


def is_tracker(url: str) -> bool:
    name = host(url)
    labels = name.split(".")
    if any(".".join(labels[start:]) in _DOMAINS for start in range(max(0, len(labels) - 4), len(labels) - 1)):
        return True
    return _PATHS.search(url.partition("?")[0][8:]) is not None
