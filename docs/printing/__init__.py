"""The reference pages as functions of the code, one module a page; ``docs/generate.py`` writes them."""
