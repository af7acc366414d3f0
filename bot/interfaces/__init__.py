"""The interfaces besides GitHub: dashboard, set-up, MCP, monitoring, doctor."""
