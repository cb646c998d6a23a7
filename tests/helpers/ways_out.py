"""Ways in which a page may try to bypass the proxy: to this machine, its network, and files."""

from __future__ import annotations

SPELLINGS = (
    "http://127.0.0.1:{port}/", "http://[::1]:{port}/", "http://localhost:{port}/", "http://app.localhost:{port}/",
    "http://0.0.0.0:{port}/", "http://127.1:{port}/", "http://2130706433:{port}/", "http://0x7f.0.0.1:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://rebound.example:{port}/", "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:{gate}/", "https://127.0.0.1:{port}/", "http://printer.local:{port}/",
)  # fmt: skip
"""URLs to which no connection may be made."""

HERE = "http://127.0.0.1:{port}/?"

BY_SCRIPT = {
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', HERE + 'xhr'); x.send()",
    "xhr to ::1": "const x = new XMLHttpRequest(); x.open('GET', 'http://[::1]:PORT/xhr'); x.send()",
    "xhr that blocks": "const x = new XMLHttpRequest(); x.open('GET', HERE + 'sync', false); x.send()",
    "post": "fetch(HERE + 'post', {method: 'POST', body: 'x'})",
    "put": "fetch(HERE + 'put', {method: 'PUT', mode: 'cors', headers: {'x-a': 'b'}})",
    "no-cors": "fetch(HERE + 'nocors', {mode: 'no-cors'})",
    "keepalive": "fetch(HERE + 'keepalive', {keepalive: true})",
    "beacon": "navigator.sendBeacon(HERE + 'beacon', 'x')",
    "websocket": "new WebSocket('ws://127.0.0.1:PORT/')",
    "websocket, tls": "new WebSocket('wss://127.0.0.1:PORT/')",
    "websocket to ::1": "new WebSocket('ws://[::1]:PORT/')",
    "websocket to localhost": "new WebSocket('ws://localhost:PORT/')",
    "events": "new EventSource(HERE + 'events')",
    "webrtc, stun": "const c = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}]});"
    "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))",
    "webrtc of a frame": "const f = add('iframe', {}); const c = new f.contentWindow.RTCPeerConnection({iceServers: "
    "[{urls: ['turn:127.0.0.1:PORT?transport=tcp', 'stun:[::1]:PORT'], username: 'a', credential: 'b'}]});"
    "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))",
    "webrtc of a frame, later": "const f = add('iframe', {srcdoc: '<p>x'}); f.onload = () => { const c = new "
    "f.contentWindow.RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}]});"
    "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }",
    "webtransport": "new WebTransport('https://127.0.0.1:PORT/')",
    "webtransport of a frame": "new (add('iframe', {}).contentWindow.WebTransport)('https://127.0.0.1:PORT/')",
    "image": "new Image().src = HERE + 'image'",
    "image, srcset": "add('img', {srcset: HERE + 'srcset 1x'})",
    "script": "add('script', {src: HERE + 'script'})",
    "module": "import(HERE + 'module')",
    "stylesheet": "add('link', {rel: 'stylesheet', href: HERE + 'style'})",
    "style, import": "add('style', {}).textContent = '@import url(' + HERE + 'import)'",
    "style, background": "document.body.style.background = 'url(' + HERE + 'background)'",
    "style, font": "add('style', {}).textContent = "
    "'@font-face{font-family:x;src:url(' + HERE + 'font)}*{font-family:x}'",
    "video": "add('video', {src: HERE + 'video', autoplay: ''})",
    "audio": "new Audio(HERE + 'audio').play().catch(() => 0)",
    "track": "add('video', {}).appendChild(Object.assign(document.createElement('track'), {src: HERE, default: true}))",
    "object": "add('object', {data: HERE + 'object'})",
    "embedded pdf": "add('embed', {src: HERE + 'file.pdf', type: 'application/pdf'})",
    "object, pdf from a host that redirects": "add("
    "'object', {data: 'http://moved.example/x.pdf', type: 'application/pdf'})",
    "frame": "add('iframe', {src: HERE + 'frame'})",
    "frame, metadata": "add('iframe', {src: 'http://169.254.169.254/'})",
    "frame, srcdoc": "add('iframe', {srcdoc: '<img src=' + HERE + 'a><script src=' + HERE + 'b></script>'})",
    "frame, data": "add('iframe', {src: 'data:text/html,<script>fetch(\"' + HERE + 'data\")</script>'})",
    "frame, blob": "add('iframe', {src: "
    "URL.createObjectURL(new Blob(['<img src=' + HERE + 'blob>'], {type: 'text/html'}))})",
    "frame, script": "add('iframe', {src: 'javascript:fetch(\"' + HERE + 'js\")'})",
    "prefetch": "add('link', {rel: 'prefetch', href: HERE + 'prefetch'})",
    "preload": "add('link', {rel: 'preload', as: 'script', href: HERE + 'preload'})",
    "modulepreload": "add('link', {rel: 'modulepreload', href: HERE + 'modulepreload'})",
    "preconnect": "add('link', {rel: 'preconnect', href: HERE})",
    "preconnect to ::1": "add('link', {rel: 'preconnect', href: 'http://[::1]:PORT/', crossorigin: ''})",
    "dns-prefetch": "add('link', {rel: 'dns-prefetch', href: '//canary.example'})",
    "prerender": "add('script', {type: 'speculationrules'}).textContent = JSON.stringify({prefetch: [{source: 'list',"
    " urls: [HERE + 'rules']}], prerender: [{source: 'list', urls: [HERE + 'rules']}]})",
    "manifest": "add('link', {rel: 'manifest', href: HERE + 'manifest'})",
    "icon": "add('link', {rel: 'icon', href: HERE + 'icon'})",
    "form, get": "const f = add('form', {action: HERE + 'form', target: '_self'}); f.submit()",
    "form, post": "const f = add('form', {action: HERE + 'formpost', method: 'post'}); f.submit()",
    "download": "add('a', {href: HERE + 'download', download: 'x'}).click()",
    "download of a host that redirects": "add('a', {href: 'http://moved.example/x.zip', download: 'x'}).click()",
    "ping": "add('a', {href: '#x', ping: HERE + 'ping'}).click()",
    "popup": "window.open(HERE + 'popup')",
    "popup by a link": "add('a', {href: HERE + 'blank', target: '_blank'}).click()",
    "going there": "location.href = HERE + 'location'",
    "meta refresh": "add('meta', {'http-equiv': 'refresh', content: '0;url=' + HERE + 'refresh'})",
    "worker": "new Worker(URL.createObjectURL(new Blob(['fetch(\"' + HERE + 'worker\").catch(()=>0)'])))",
    "worker, import": "new Worker(URL.createObjectURL(new Blob(['importScripts(\"' + HERE + 'imported\")'])))",
    "shared worker": "new SharedWorker(URL.createObjectURL(new Blob(['fetch(\"' + HERE + 'shared\").catch(()=>0)'])))",
    "service worker": "navigator.serviceWorker.register('/worker.js')",
    "redirect, fetch": "fetch('http://moved.example/fetch', {mode: 'no-cors'})",
    "redirect, script": "add('script', {src: 'http://moved.example/script'})",
    "redirect, frame, twice": "add('iframe', {src: 'http://twice.example/'})",
    "redirect to a file": "fetch('http://moved.example/file', {mode: 'no-cors'})",
    "redirect, websocket": "new WebSocket('ws://moved.example/')",
    "file": "fetch('file:///etc/passwd')",
    "file, frame": "add('iframe', {src: 'file:///etc/passwd'})",
    "file, image": "new Image().src = 'file:///etc/hostname'",
    "ftp": "add('iframe', {src: 'ftp://127.0.0.1:PORT/'})",
    "chrome": "add('iframe', {src: 'chrome://settings'})",
    "view-source": "add('a', {href: 'view-source:' + HERE + 'source'}).click()",
    "mail": "location.href = 'mailto:a@127.0.0.1'",
    "picture in svg": "add('div', {}).innerHTML = "
    "'<svg><image href=\"' + HERE + 'svg\"/><use href=\"' + HERE + 'use\"/></svg>'",
    "credentials in the address": "fetch('http://a:b@127.0.0.1:PORT/', {mode: 'no-cors'})",
    "another protocol's port": "fetch('http://127.0.0.1:22/', {mode: 'no-cors'})",
    "geolocation": "navigator.geolocation.getCurrentPosition(() => 0)",
    "camera": "navigator.mediaDevices && navigator.mediaDevices.getUserMedia({video: true})",
    "payment handler": "new PaymentRequest([{supportedMethods: HERE + 'pay'}], {total: {label: 'x', amount: "
    "{currency: 'EUR', value: '1'}}}).canMakePayment()",
}  # fmt: skip
"""Scripts by name, with HERE for a local URL and PORT for its port; `add` appends an element to the page."""

HEADERS = [
    (b"Content-Type", b"text/html; charset=utf-8"),
    (b"Link", b"<http://127.0.0.1:PORT/?link>; rel=preload; as=script, <http://127.0.0.1:PORT/>; rel=preconnect"),
    (b"Content-Security-Policy-Report-Only", b"default-src 'none'; report-uri http://127.0.0.1:PORT/?csp"),
    (b"Reporting-Endpoints", b'default="http://127.0.0.1:PORT/?reports"'),
    (b"NEL", b'{"report_to":"default","max_age":1000,"success_fraction":1}'),
    (b"Accept-CH", b"Sec-CH-UA-Full"),
]
"""Response headers that cause further requests."""


def page(port: int, gate: int) -> bytes:
    """Return a page that tries all ways."""
    tries = [f"fetch('{url.format(port=port, gate=gate)}', {{mode: 'no-cors'}})" for url in SPELLINGS]
    tries += [code.replace("PORT", str(port)) for code in BY_SCRIPT.values()]
    script = "\n".join(f"attempt(() => {{ {code} }});" for code in tries)
    script = script.replace("</script>", "<\\/script>")
    return (
        "<!DOCTYPE html><html><head><title>Ways out</title></head><body><main id=root></main><script>\n"
        f"const HERE = 'http://127.0.0.1:{port}/?'; let tried = 0;\n"
        "addEventListener('unhandledrejection', event => event.preventDefault());\n"
        "const add = (tag, attributes) => { const element = document.createElement(tag);"
        "for (const name in attributes) element.setAttribute(name, attributes[name]);"
        "document.body.appendChild(element); return element };\n"
        "const attempt = what => { tried++; try { const result = what();"
        " if (result && result.catch) result.catch(() => 0) }"
        " catch {} };\n"
        f"{script}\n"
        "document.getElementById('root').textContent = 'tried ' + tried;\n"
        "</script></body></html>"
    ).encode()


def headers(port: int) -> list[tuple[bytes, bytes]]:
    return [(name, value.replace(b"PORT", str(port).encode())) for name, value in HEADERS]
