"""The server for agents: tools, resources and prompts, each a thin skin over a call of the client.

Whose memory it is was decided before a model says anything; nothing but protocol is on stdout.
"""
