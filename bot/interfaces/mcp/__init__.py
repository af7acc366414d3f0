"""Offers Doppel's tools to agents, over the Model Context Protocol (https://modelcontextprotocol.io)."""
