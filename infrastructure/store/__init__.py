"""The log, its schema and the engine that runs projections."""
