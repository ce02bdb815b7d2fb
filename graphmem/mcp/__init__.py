"""MCP server for agents: tools, resources and prompts, each a thin wrapper of a client call.

The tenant and scope are fixed before any model runs; only protocol messages are on stdout.
"""
