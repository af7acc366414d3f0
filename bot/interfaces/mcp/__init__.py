"""Doppel's tools for agents, over the Model Context Protocol (https://modelcontextprotocol.io).

`tools.py` is what they do, `offered.py` how a model sees them, `server.py` who may reach them and in which protocol.
"""
