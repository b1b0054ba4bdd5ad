"""The ways in: each edge knows only the public object."""
