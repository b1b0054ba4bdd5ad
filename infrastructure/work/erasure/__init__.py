"""Erasing a session, a message or an entry of memory, and what was derived from it (E8)."""
