"""Doppel's tools for agents, over the Model Context Protocol (https://modelcontextprotocol.io).

`tools.py` is what they do, `server.py` how a model sees them, `http.py` who may reach them over the network.
"""
