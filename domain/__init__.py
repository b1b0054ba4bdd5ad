"""Decisions and facts: what may happen, and why not. Imports pydantic and ``eventsourcing.domain`` only."""
