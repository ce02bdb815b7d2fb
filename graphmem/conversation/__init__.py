"""Conversations: read their messages, store them once, show what is remembered, and summarise."""
