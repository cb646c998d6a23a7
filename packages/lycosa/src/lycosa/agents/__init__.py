"""A Model Context Protocol server over collections for AI agents (`lycosa mcp`).

desk.py      the operations, within limits that agents cannot change serving.py   the protocol, by the official `mcp`
package: an extra
"""
