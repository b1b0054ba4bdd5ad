"""The command line: ``minutebook`` and ``python -m minutebook``."""

import signal


def main() -> None:
    """Runs the command line. Ctrl-C while the program is still being loaded ends it as the system does, in silence."""
    held = signal.getsignal(signal.SIGINT)
    if held is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .infrastructure.edges.cli import main as command_line

    signal.signal(signal.SIGINT, held)
    command_line()


if __name__ == "__main__":
    main()
