"""Where people, agents and hosts look in: dashboard, set-up, MCP, monitoring, doctor."""
