"""Effects in order: compressing, curating, publishing MEMORY.md, reading the workspace."""
