"""For agents: a Model Context Protocol server over collections (`lycosa mcp`).

desk.py      what an agent may ask for, within limits that it can't change
serving.py   the protocol, by the official `mcp` package: an extra
"""
