"""A Model Context Protocol server over collections for AI agents (`lycosa mcp`)."""
