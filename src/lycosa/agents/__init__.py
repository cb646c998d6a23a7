"""For agents: a Model Context Protocol server over collections (`lycosa mcp`).

desk.py      what an agent may ask for, within limits that it can't change
tokens.py    who may ask over HTTP
serving.py   the protocol, by the official `mcp` package: an extra
"""
