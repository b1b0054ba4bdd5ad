"""Every finding of ``doctor``: its stable code, how bad it is, what it says and the command that mends it.

The reference page about findings is printed from here. ``wrong`` gives exit status 1; a ``risk`` is worth a decision, a
``note`` is good to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["wrong", "risk", "note"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding; ``{...}`` stands for what is found."""

    level: Level
    says: str
    mend: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that doctor found."""

    code: str
    level: Level
    text: str
    mend: str


def finding(code: str, **found: object) -> Finding:
    """A finding of a kind that is listed below."""
    kind = KINDS[code]
    return Finding(code, kind.level, kind.says.format(**found), kind.mend.format(**found))


KINDS: dict[str, Kind] = {
    # --- the machine
    "sqlite_wal_reset": Kind(
        "risk",
        "SQLite {version} has the WAL-reset bug: when two processes checkpoint and write at the same "
        "instant, a commit can be lost or the file damaged; rare, and fixed in 3.51.3 (and 3.50.7, 3.44.6)",
        "install a Python with a newer SQLite, let few processes write at once, and run 'minutebook backup' daily",
    ),
    "disk_nearly_full": Kind(
        "wrong",
        "the disk of {place} has {free} left, and the store takes {size}: neither a write-ahead log nor a "
        "backup may fit",
        "free some space, or move the workspace",
    ),
    "network_file_system": Kind(
        "wrong",
        "{place} lies on a network file system ({kind}), where SQLite's WAL can be damaged by two machines",
        "move the workspace to a local disk, or use PostgreSQL",
    ),
    "clock_behind": Kind(
        "wrong",
        "the clock of this machine says {now}, and the last event is of {last}",
        "set the clock; the order of events does not depend on it, leases and 'log --since' do",
    ),
    "unknown_variable": Kind(
        "risk",
        "the environment sets {name}, which is no setting and changes nothing{near}",
        "correct the name, or unset it; 'minutebook init' lists all settings",
    ),
    "bad_setting": Kind("wrong", "{said}", "correct it where it says"),
    # --- the folder
    "no_store": Kind("note", "there is no book here yet", "'minutebook import FILE' or an agent makes one"),
    "open_to_others": Kind(
        "wrong", "{place} can be read or entered by other users (mode {mode})", "chmod {right} {place}"
    ),
    "other_owner": Kind(
        "risk", "{place} belongs to user {owner}, and this is user {user}", "run as its owner, or chown it"
    ),
    "not_ignored": Kind(
        "wrong",
        "{place} is in a git work tree and git does not ignore it{tracked}",
        "add it to .gitignore (and 'git rm --cached' it, where it is tracked)",
    ),
    "unfinished_copy": Kind(
        "risk", "{place} is a copy that was not finished when its process was killed", "rm {place}"
    ),
    "kept_copies": Kind(
        "note",
        "{place} holds {number} copies ({size}) of what an upgrade or a restore replaced; what is erased in "
        "the store is not erased in them",
        "remove them when you do not need them any more",
    ),
    "unfinished_write": Kind(
        "risk",
        "a write of {name} was cut off and left {left}",
        "the next command that writes ends it, for instance 'minutebook memory sync'",
    ),
    "memory_drift": Kind(
        "wrong", "{detail}", "minutebook memory sync, or minutebook memory restore {revision} --discard-edit"
    ),
    "memory_missing": Kind("wrong", "{detail}", "minutebook memory restore {revision}, or minutebook memory sync"),
    "memory_unadopted": Kind("note", "{detail}", "minutebook memory sync"),
    "memory_remote": Kind("note", "{detail}", "change memory there"),
    # --- the store
    "store_cannot_be_opened": Kind(
        "wrong", "{error}: {said}", "what it says; 'minutebook restore --from FILE' brings a backup back"
    ),
    "wal_large": Kind(
        "risk",
        "the write-ahead log has {size}, more than it should ever need: a reader that never ends keeps it "
        "from being moved into the database",
        "end what has read for long ('log --follow', a backup, another program), then run any command that writes",
    ),
    "pages_damaged": Kind(
        "wrong", "SQLite finds damage: {said}", "minutebook verify, then minutebook restore --from FILE"
    ),
    "guard_missing": Kind(
        "wrong",
        "the log is no longer guarded against change: {said}",
        "minutebook verify, then minutebook restore --from FILE",
    ),
    "head_differs": Kind(
        "wrong",
        "the log's head says {head} events, and the last one is {last}",
        "minutebook verify, then minutebook restore --from FILE",
    ),
    "projection_halted": Kind(
        "wrong",
        "projection {name} is halted: {error}",
        "minutebook projections retry {name}, or minutebook projections skip {name}",
    ),
    "projection_outdated": Kind(
        "risk",
        "projection {name} is not as this code makes it: {note}",
        "minutebook projections rebuild {name}; where the stored version is the newer one, a newer minutebook",
    ),
    "projection_at_rest": Kind(
        "note",
        "projection {name} is {status} and {lag} events behind",
        "minutebook projections resume {name}",
    ),
    "projection_ahead": Kind(
        "wrong",
        "projection {name} stands at {cursor}, beyond the head of the log ({head})",
        "minutebook projections rebuild {name}",
    ),
    "projection_lags": Kind(
        "note", "projection {name} has {lag} events to take in", "minutebook projections list brings it up to date"
    ),
    "projection_not_loaded": Kind(
        "note", "projection {name} is stored and not loaded", "name it in the setting projections"
    ),
    "events_parked": Kind(
        "wrong",
        "projection {name} has put aside {number} events, the first at {first}",
        "minutebook projections retry {name}",
    ),
    "events_skipped": Kind(
        "risk",
        "projection {name} passes over {number} events, the first at {first}; verify says no as long as it does",
        "mend what cannot apply them, then minutebook projections rebuild {name}",
    ),
    "event_of_newer_version": Kind(
        "wrong",
        "{number} events of a kind that this minutebook knows have a newer form, the first at {first}",
        "upgrade minutebook",
    ),
    "revision_unfinished": Kind(
        "risk",
        "revision {revision} was prepared and neither committed nor abandoned",
        "the next command that writes settles it, for instance 'minutebook memory sync'",
    ),
    "run_of_dead_owner": Kind(
        "note",
        "run {run} of session {session} is open, and its owner is gone",
        "the next command that writes ends it as interrupted",
    ),
    "erasure_unfinished": Kind(
        "wrong",
        "erasure {erasure} of {kind} {target} was asked for at {position} and is not done",
        "minutebook erase finish",
    ),
    "stale_lease": Kind(
        "note", "the lease {name} ran out at {expires} and was not given back", "whoever needs it next takes it over"
    ),
    "candidates_wait": Kind("note", "{number} candidates wait for a person", "minutebook memory quarantine list"),
    "candidates_set_aside": Kind(
        "risk", "{number} candidates failed too often and were set aside", "minutebook memory candidates"
    ),
    # --- a server
    "server_no_fsync": Kind(
        "wrong",
        "the server runs with {name} = off: a power loss can damage the whole database",
        "set it on in postgresql.conf and restart the server",
    ),
    "server_old": Kind(
        "wrong", "the server has version {version}, and 14 is the oldest that is supported", "upgrade the server"
    ),
    "server_async_commit": Kind(
        "note",
        "the server's synchronous_commit is {value}; minutebook sets it on for its appends{rest}",
        "set it on in postgresql.conf where other programs write too",
    ),
    "server_encoding": Kind(
        "wrong",
        "the database has the encoding {encoding} and cannot hold every text",
        "createdb --encoding=UTF8 --template=template0, and restore into it",
    ),
    "server_no_privilege": Kind("risk", "role {role} may not {what}", "GRANT it, or open with read_only=True"),
    "kept_schema": Kind(
        "note",
        "schema {schema} holds the store that a restore replaced; what is erased since is not erased in it",
        "DROP SCHEMA {schema} CASCADE, when you do not need it any more",
    ),
    "server_standby": Kind(
        "note", "the server is a standby: it can be read from, not written to", "connect to the primary to write"
    ),
}
