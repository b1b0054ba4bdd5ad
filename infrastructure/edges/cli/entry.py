"""The entry point: global options in any place, exit codes, and no traceback whatever happens."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from typing import Any

import typer

from ....domain.errors import MinutebookError
from ...store.system import refusal
from .app import app, state
from .output import Output, safe

DONE, REFUSED, USAGE = 0, 1, 2
SHORT_HELP_CHARS = 60
_FLAGS = frozenset({"--json", "--common"})
_VALUES = frozenset({"--workspace", "--database"})

# Newer typers bring a click of their own, older ones use the package: their public names lead to the right classes.
_UsageError, _ClickException = typer.BadParameter.__mro__[1:3]


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line. Exit status 0: done; 1: the answer is no, or refused; 2: usage (surface.md)."""
    arguments = _global_options_first(list(sys.argv[1:] if argv is None else argv))
    output = Output(as_json="--json" in arguments[: _leading(arguments)])
    state.output = output
    try:
        code = _tree().main(arguments, prog_name="minutebook", standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        code = 130
    except MinutebookError as error:
        code = REFUSED
        output.failure(error.code, error.message)
        _details(output, error)
    except KeyboardInterrupt:
        code = 130
    except SystemExit as left:
        # typer catches a broken pipe itself and leaves with 1; what was asked for was done.
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        code = DONE
    except BrokenPipeError:
        # Whoever read us has enough; writing more would only raise again at exit.
        _be_silent(sys.stdout)
        code = DONE
    except OSError as error:
        code = REFUSED
        told = refusal(error, _subject(error))
        output.failure(told.code, told.message)
        _be_silent(sys.stdout)
    except MemoryError:
        code = REFUSED
        output.failure(
            "out_of_resources",
            "no memory is left: nothing half done was kept; end other programs, raise the limits, or ask for less",
        )
    except Exception as error:
        if isinstance(error, _ClickException):
            raise SystemExit(_misused(output, error)) from None
        code = REFUSED
        if os.environ.get("MINUTEBOOK_DEBUG"):
            traceback.print_exc()
        output.failure(
            "internal_error",
            f"{type(error).__name__}: {error}; this is a fault of minutebook: nothing half done was kept. "
            "Run again with MINUTEBOOK_DEBUG=1 and report what it prints",
        )
    finally:
        state.close()
    raise SystemExit(code if isinstance(code, int) else DONE)


def _subject(error: OSError) -> str:
    """What a call of the system was about: the file that it names, or else what was asked for."""
    names = [repr(os.fsdecode(name)) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    return f"{' and '.join(names)} cannot be used" if names else "the system refused"


def _be_silent(stream: Any) -> None:
    """What a stream still holds goes nowhere: writing it would only fail again, at the exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


@cache
def _tree() -> Any:
    """The command tree: reading every signature takes longer than most commands, so it is made once."""
    tree = typer.main.get_command(app)
    _fit(tree)
    return tree


def _fit(command: Any) -> None:
    """Gives each command a short help that fits its line: of a long sentence what stands before the first pause."""
    for one in getattr(command, "commands", {}).values():
        said = " ".join((one.help or "").split("\n\n")[0].split())
        if one.short_help is None and len(said) > SHORT_HELP_CHARS:
            one.short_help = re.split(r"[;:,] |\. | \(", said)[0].removesuffix(".") + "."
        _fit(one)


def _misused(output: Output, error: Any) -> int:
    """What the command line itself refuses: usage, in one line, with the way to the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        output.console.print(error.format_message(), markup=False)
        return USAGE
    code = USAGE if isinstance(error, _UsageError) else REFUSED
    output.failure("usage" if code == USAGE else "bad_input", error.format_message())
    if code == USAGE and not output.json:
        hint = error.ctx.command_path if error.ctx else "minutebook"
        output.errors.print(f"Try '{hint} --help'.", style="dim", markup=False)
    return code


def _details(output: Output, error: MinutebookError) -> None:
    if output.json:
        return
    problems = error.details.get("problems", ())
    if len(problems) == 1 and problems[0]["message"] in error.message:
        return  # The message says it already.
    for problem in problems[:20]:
        place = ", ".join(f"{name} {value}" for name, value in problem.items() if name not in ("code", "message"))
        output.errors.print(f"  {place}: {problem['code']}: {safe(problem['message'])}", style="dim", markup=False)
    if len(problems) > 20:
        output.errors.print(f"  and {len(problems) - 20} more", style="dim", markup=False)


def _leading(arguments: Sequence[str]) -> int:
    """How many of the arguments stand before the command."""
    count = 0
    while count < len(arguments) and arguments[count].startswith("-"):
        count += 2 if arguments[count] in _VALUES else 1
    return count


def _global_options_first(arguments: list[str]) -> list[str]:
    """``minutebook status --json`` means the same as ``minutebook --json status``."""
    ahead: list[str] = []
    rest: list[str] = []
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if argument == "--":
            rest.extend(arguments[position:])
            break
        if argument in _FLAGS:
            ahead.append(argument)
        elif argument in _VALUES and position + 1 < len(arguments):
            ahead.extend(arguments[position : position + 2])
            position += 1
        elif argument.partition("=")[0] in _VALUES and "=" in argument:
            ahead.append(argument)
        else:
            rest.append(argument)
        position += 1
    return ahead + rest
