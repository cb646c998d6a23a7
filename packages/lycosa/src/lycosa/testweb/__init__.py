"""An embedded web: deterministic, of any size, served over HTTP on loopback.

Each page is a function of the web's seed and the URL. The web knows the topic of every page, so the results of a crawl
can be scored, and its server logs every request, so the crawler's behaviour can be verified.

>>> web = Web(seed=7, pages=500, hosts=20, traps=())
>>> web.query("marine biology/coral reefs")
'coral reef bleaching'
>>> web.topic(next(web.relevant("marine biology/coral reefs")))
'marine biology/coral reefs'
"""

from lycosa.testweb.embedded_web import Web
from lycosa.testweb.reply import ServedResponse
from lycosa.testweb.server import ServedRequest, Server, gaps, max_in_flight, serve
from lycosa.testweb.traps import Trap

__all__ = ["ServedRequest", "ServedResponse", "Server", "Trap", "Web", "gaps", "max_in_flight", "serve"]
