"""A root for database and memory outside the workspaces that share it: own scopes, and one in common (D18)."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, Settings
from minutebook.aio import Minutebook as Awaited
from minutebook.domain.errors import InputError, MemoryFault


def place(tmp_path: Path, name: str, common: Any = "none", **more: Any) -> Minutebook:
    """A workspace of this name, with a root that it shares with the others."""
    settings = Settings(memory_root=str(tmp_path / "root"), memory_common=common, **more)
    return Minutebook.open(tmp_path / name, settings=settings, automatic=False)


def say(book: Minutebook, content: str) -> None:
    with book.session("s").run() as run:
        run.append({"role": "user", "content": content})


def entries(memory: Any) -> list[str]:
    return [entry.text for entry in memory.entries()]


def shown(book: Minutebook) -> str:
    """What a model of a new session is shown as its system prompt."""
    with book.session().run() as run:
        run.append({"role": "user", "content": "Hello."})
        return str(run.context(system="You help.").system)


def test_what_outlives_a_run_lies_in_the_root_and_only_an_id_in_the_workspace(tmp_path: Path, where: str) -> None:
    with place(tmp_path, "one") as book:
        say(book, "Remember that the build needs make 4.3 or newer.")
        book.curate()
        status = book.memory.status()
        assert (status.state, entries(book.memory)) == ("clean", ["the build needs make 4.3 or newer."])
        assert Path(status.path).read_text() == "the build needs make 4.3 or newer.\n"
        assert Path(status.path).is_relative_to(tmp_path / "root" / "workspaces" / book.settings.workspace_id)
        assert book.workspace == tmp_path / "one"
        assert book.verify().ok
    left = sorted(path.name for path in (tmp_path / "one" / ".tinyagent").iterdir())
    assert left == [".gitignore", "workspace-id"]
    assert (tmp_path / "root" / "minutebook.db").exists() == (where == "sqlite")
    folder = tmp_path / "root" / "workspaces"
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_workspace_that_is_made_anew_goes_on_with_its_memory_by_its_id(tmp_path: Path) -> None:
    with place(tmp_path, "one", workspace_id="project") as book:
        say(book, "Remember that releases are cut on Thursdays.")
        book.curate()
    with place(tmp_path, "checkout-of-tomorrow", workspace_id="project") as book:
        assert entries(book.memory) == ["releases are cut on Thursdays."]
        assert book.memory.status().state == "clean"
        say(book, "Remember that headers live under include.")
        book.curate()
    with place(tmp_path, "one", workspace_id="project") as book:
        assert len(entries(book.memory)) == 2


NAMES = ["a", "ab", "a_", "a%", "a-b", "A", "ａ", "а", "a ", "id-ca978112ca1bbdcafac231b3", "../a", "common"]


def test_each_workspace_sees_its_own_scope_whatever_the_others_are_called(tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        with place(tmp_path, f"w{number}", workspace_id=name) as book:
            say(book, f"Remember that the owner here is team number {number}.")
            book.curate()
    folders = list((tmp_path / "root" / "workspaces").iterdir())
    assert len(folders) == len(NAMES)
    for number, name in enumerate(NAMES):
        with place(tmp_path, f"w{number}", workspace_id=name) as book:
            assert entries(book.memory) == [f"the owner here is team number {number}."]
            assert Path(book.memory.status().path).read_text() == f"the owner here is team number {number}.\n"
            assert len(book.evidence.list()) == 1
            assert [row.session for row in book.sessions()] == ["s"]
            assert f"number {number}." in shown(book)
            assert sum(f"number {other}." in shown(book) for other in range(len(NAMES))) == 1


def test_the_common_scope_is_seen_where_it_is_allowed_and_changed_where_that_is(tmp_path: Path) -> None:
    with place(tmp_path, "keeper", "write") as keeper:
        keeper.common.propose({"operation": "add", "text": "All services log in UTC."})
        assert keeper.common.curate().status == "committed"
        say(keeper, "Remember that the keeper has a garden.")
        keeper.curate()
        assert entries(keeper.common) == ["All services log in UTC."]
        assert entries(keeper.memory) == ["the keeper has a garden."]
        assert "UTC" in shown(keeper)
        assert "garden" in shown(keeper)

    with place(tmp_path, "reader", "read") as reader:
        assert entries(reader.common) == ["All services log in UTC."]
        assert "UTC" in shown(reader)
        assert "garden" not in shown(reader)
        changes: list[Callable[[], Any]] = [
            lambda: reader.common.propose({"operation": "add", "text": "The reader was here, and wrote this."}),
            lambda: reader.common.curate(),
            lambda: reader.common.forget("UTC"),
            lambda: reader.common.sync(),
            lambda: reader.common.restore(1),
            lambda: reader.common.allow("b-000000000000"),
        ]
        for change in changes:
            with pytest.raises(MemoryFault) as refused:
                change()
            assert refused.value.code == "common_read_only"
        say(reader, "Remember that the reader has a lamp.")
        reader.curate()
        assert entries(reader.common) == ["All services log in UTC."]

    with place(tmp_path, "stranger") as stranger:
        assert "UTC" not in shown(stranger)
        with pytest.raises(InputError) as none:
            _ = stranger.common
        assert none.value.code == "no_common_memory"


def test_what_was_shown_is_proved_after_the_common_memory_changed(tmp_path: Path) -> None:
    with place(tmp_path, "one", "write") as book:
        book.common.propose({"operation": "add", "text": "All services log in UTC."})
        book.common.curate()
        session = book.session("long")
        with session.run() as run:
            run.append({"role": "user", "content": "Hello."})
            context = run.context(system="You help.")
        book.common.forget("UTC")
        book.common.curate()
        again = session.context(at=context.position)
        assert "UTC" in again.system
        assert "UTC" not in shown(book)
        assert entries(book.common) == []
        assert book.common.forgotten()[0].text == "All services log in UTC."
        assert book.memory.forgotten() == []


def test_an_edit_of_the_common_file_is_drift_for_all_and_synced_by_one_who_may(tmp_path: Path) -> None:
    with place(tmp_path, "keeper", "write") as keeper, place(tmp_path, "reader", "read") as reader:
        keeper.common.propose({"operation": "add", "text": "All services log in UTC."})
        keeper.common.curate()
        file = Path(keeper.common.status().path)
        file.write_text(file.read_text() + "§\nDates are written as ISO 8601.\n")
        assert keeper.common.status().state == "drift"
        assert reader.common.status().state == "drift"
        assert "ISO" not in shown(reader)
        keeper.common.sync()
        assert entries(reader.common) == ["All services log in UTC.", "Dates are written as ISO 8601."]
        assert keeper.memory.status().state == "clean"


def test_a_root_in_the_workspace_or_around_it_is_refused(tmp_path: Path) -> None:
    for root in (tmp_path / "w" / "inside", tmp_path, tmp_path / "w"):
        with pytest.raises(InputError) as refused:
            Minutebook.open(tmp_path / "w", settings=Settings(memory_root=str(root)))
        assert refused.value.code == "bad_setting"
    for wrong in ({"memory_root": "relative/root"}, {"memory_root": "/a/../b"}, {"memory_common": "read"},
                  {"workspace_id": "@common"}):  # fmt: skip
        with pytest.raises(InputError) as bad:
            Settings.checked(wrong)
        assert bad.value.code == "bad_setting"


def test_a_reader_makes_nothing_in_the_root(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    settings = Settings(memory_root=str(tmp_path / "root"), memory_common="read")
    with Minutebook.open(tmp_path / "w", settings=settings, read_only=True) as book:
        assert book.memory.entries() == []
        assert book.common.entries() == []
        assert book.memory.status().state == "clean"
    assert not (tmp_path / "root").exists()
    assert list((tmp_path / "w").iterdir()) == []


def test_the_commands(
    tmp_path: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setenv("MINUTEBOOK_MEMORY_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("MINUTEBOOK_MEMORY_COMMON", "write")
    assert command("memory", "propose", "add", "All services log in UTC.", "--common").code == 0
    assert command("--common", "memory", "curate", "--json").answer["status"] == "committed"
    assert command("memory", "show", "--common", "--json").answer["entries"][0]["text"] == "All services log in UTC."
    assert command("memory", "show", "--json").answer["entries"] == []
    assert command("memory", "status", "--common").code == 0
    wrong = command("session", "list", "--common", "--json")
    assert (wrong.code, wrong.refusal["error"]) == (1, "bad_option")
    monkeypatch.setenv("MINUTEBOOK_MEMORY_COMMON", "none")
    none = command("memory", "show", "--common", "--json")
    assert (none.code, none.refusal["error"]) == (1, "no_common_memory")


async def _shared(tmp_path: Path) -> list[str]:
    settings = Settings(memory_root=str(tmp_path / "root"), memory_common="write")
    async with Awaited.open(tmp_path / "w", settings=settings, automatic=False) as book:
        await book.common.propose({"operation": "add", "text": "All services log in UTC."})
        await book.common.curate()
        return [entry.text for entry in await book.common.entries()]


def test_the_awaited_twin_has_it_too(tmp_path: Path) -> None:
    import asyncio

    assert asyncio.run(_shared(tmp_path)) == ["All services log in UTC."]


def test_a_store_in_a_root_is_backed_up_and_brought_back_with_what_is_kept_of_it_in_the_root(
    tmp_path: Path, where: str
) -> None:
    settings = Settings(memory_root=str(tmp_path / "root"))
    with place(tmp_path, "one") as book:
        say(book, "Remember that the build needs make 4.3 or newer.")
        book.curate()
        book.backup(tmp_path / "saved")
        say(book, "Remember that releases are cut on Thursdays.")
        book.curate()
        head = book.head
    found = Minutebook.doctor(tmp_path / "one", settings=settings)
    wrong = {finding["code"] for finding in found.findings if finding["level"] == "wrong"}
    assert wrong <= {"server_no_fsync"}, "the server of the tests does not sync"

    done = Minutebook.restore(tmp_path / "one", tmp_path / "saved", settings=settings, replace=True)

    assert (done.ok, done.was, done.memory_file) == (True, head, "clean")
    with place(tmp_path, "one") as book:
        assert entries(book.memory) == ["the build needs make 4.3 or newer."]
        assert Path(book.memory.status().path).read_text() == "the build needs make 4.3 or newer.\n"
    left = sorted(path.name for path in (tmp_path / "one" / ".tinyagent").iterdir())
    assert left == [".gitignore", "workspace-id"]
    assert (tmp_path / "root" / ".tinyagent" / "kept").is_dir()
