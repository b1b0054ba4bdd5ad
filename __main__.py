"""``python -m minutebook``: the command line."""

from .infrastructure.edges.cli import main

if __name__ == "__main__":
    main()
