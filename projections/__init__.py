"""Read models: events in, rows out, through the connection that the engine gives."""
