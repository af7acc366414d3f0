"""Doppel's tools for agents, over the Model Context Protocol (https://modelcontextprotocol.io)."""
