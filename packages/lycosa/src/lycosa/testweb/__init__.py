"""An embedded web: small or huge, deterministic, served over real HTTP on loopback.

A page is a function of the web's seed and the page's URL.  The web knows the truth about every page, so that
what a crawler gathers can be scored, and the server remembers every request, so that how it behaved can be
proved.

>>> web = Web(seed=7, pages=500, hosts=20, traps=())
>>> web.query("marine biology/coral reefs")
'coral reef bleaching'
>>> web.topic(next(web.relevant("marine biology/coral reefs")))
'marine biology/coral reefs'
"""

from lycosa.testweb.embedded_web import Web
from lycosa.testweb.reply import ServedResponse
from lycosa.testweb.server import ServedRequest, Server, gaps, most_at_once, serve
from lycosa.testweb.traps import Trap

__all__ = ["ServedRequest", "ServedResponse", "Server", "Trap", "Web", "gaps", "most_at_once", "serve"]
