"""The store, the effects, the wiring and the edges; inside it edges > book > work > store > settings."""
