"""An agent asks about its own sessions and processes, over MCP."""
