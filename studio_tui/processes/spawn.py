"""Start a process in a session of its own, with its streams in files, and learn of its end at once.

``asyncio``'s own subprocess transport is not used: it kills the child when it is closed, and a launched run may be meant to
outlive the console.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from studio_tui.application.ports import LaunchSpec, NotWanted, StopReport
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.processes.liveness import alive, boot_time, host_name, identify
from studio_tui.processes.notes import LaunchNotes
from studio_tui.processes.runlogs import RunLogs
from studio_tui.processes.stop import RUN_MARKER, stop_group

log = logging.getLogger(__name__)

_PRUNE_EVERY = 50


class Processes:
    """Implements :class:`studio_tui.application.ports.ProcessPort` with processes of this machine.

    ``environment`` is what each child begins with; a :class:`LaunchSpec` adds to it and takes from it.
    """

    def __init__(self, *, logs: RunLogs, notes: LaunchNotes, environment: Mapping[str, str]) -> None:
        self._logs, self._notes, self._environment = logs, notes, dict(environment)
        self._launches = 0

    async def launch(self, spec: LaunchSpec) -> LaunchedChild:
        """Start a process in a session of its own.

        Raises :class:`OSError` with the reason when it cannot be started, :class:`NotWanted` when it is not wanted any more.
        """
        starting = asyncio.ensure_future(asyncio.to_thread(self._start, spec))
        try:
            process, identity = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The thread goes on. Nobody will wait for what it starts, so the note has to say that.
            starting.add_done_callback(lambda done: self._abandon(spec.run_id, done))
            raise
        return LaunchedChild(process, identity, spec.run_id, self._notes)

    def alive(self, identity: ProcessIdentity) -> bool | None:
        """Whether exactly this process lives; ``None`` when that cannot be known from here."""
        return alive(identity)

    async def stop(self, identity: ProcessIdentity, *, grace: float) -> StopReport:
        """Stop the group of a process that an earlier host launched."""
        return await stop_group(identity, grace=grace)

    def _abandon(self, run_id: str, started: asyncio.Future[tuple[subprocess.Popen[bytes], ProcessIdentity]]) -> None:
        if not started.cancelled() and started.exception() is None:
            self._notes.release(run_id)

    def _start(self, spec: LaunchSpec) -> tuple[subprocess.Popen[bytes], ProcessIdentity]:
        self._launches += 1
        if self._launches % _PRUNE_EVERY == 1:
            self._logs.prune()
            self._notes.prune()
        streams = self._logs.open(spec.run_id)
        try:
            self._notes.begin(spec.run_id)
            if not spec.wanted():
                raise NotWanted(spec.run_id)
            process = self._spawn(spec, streams)
        except NotWanted:
            self._never_ran(spec.run_id)
            raise
        except (OSError, ValueError) as failure:
            self._never_ran(spec.run_id)
            raise _explained(spec, failure, self._child_environment(spec)) from failure
        finally:
            for descriptor in streams:
                os.close(descriptor)
        return process, self._note_start(spec.run_id, process.pid)

    def _never_ran(self, run_id: str) -> None:
        self._notes.forget(run_id)
        self._logs.discard(run_id)

    def _spawn(self, spec: LaunchSpec, streams: tuple[int, int]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            spec.argv,
            cwd=spec.cwd,
            env=self._child_environment(spec),
            stdin=subprocess.DEVNULL,
            stdout=streams[0],
            stderr=streams[1],
            start_new_session=True,
        )

    def _child_environment(self, spec: LaunchSpec) -> dict[str, str]:
        kept = {name: value for name, value in self._environment.items() if name not in spec.without}
        return {**kept, **spec.environment, RUN_MARKER: spec.run_id}

    def _note_start(self, run_id: str, pid: int) -> ProcessIdentity:
        """The child's identity; it has started, so nothing that fails here may say that it has not."""
        try:
            identity = identify(pid)
        except OSError:
            identity = ProcessIdentity(pid, time.time(), host_name(), boot_time())
        try:
            self._notes.started(run_id, identity)
        except OSError as failure:
            log.warning("firing %s: which process it became could not be noted: %s", run_id, failure)
        return identity


class LaunchedChild:
    """Implements :class:`studio_tui.application.ports.LaunchedProcess` for a child of this process."""

    def __init__(self, process: subprocess.Popen[bytes], identity: ProcessIdentity, run_id: str, notes: LaunchNotes) -> None:
        self._process, self._identity = process, identity
        self._run_id, self._notes = run_id, notes
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[int] = self._loop.create_future()
        self._descriptor: int | None = None
        self._watch()

    @property
    def identity(self) -> ProcessIdentity:
        """What proves that it is ours."""
        return self._identity

    async def wait(self) -> int:
        """Its exit code, as soon as the leader has ended; a death by signal is the negative number."""
        return await asyncio.shield(self._exit)

    async def terminate(self, *, grace: float) -> StopReport:
        """TERM to its group, then KILL to what is left after ``grace`` seconds."""
        return await stop_group(self._identity, grace=grace)

    def release(self) -> None:
        """Supervise it no longer: it lives on by itself, and its note says that nobody waits for it."""
        self._unwatch()
        if not self._exit.done():
            self._exit.cancel()
        with suppress(OSError):
            self._notes.release(self._run_id)

    def _watch(self) -> None:
        """Have the loop told of the end: by a descriptor of the process, or by a thread where there is no such thing."""
        try:
            self._descriptor = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, name=f"wait-{self._process.pid}", daemon=True).start()
            return
        self._loop.add_reader(self._descriptor, self._collect)

    def _collect(self) -> None:
        code = self._process.poll()
        if code is not None:
            self._unwatch()
            self._ended(code)

    def _wait_in_thread(self) -> None:
        code = self._process.wait()
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
            self._loop.call_soon_threadsafe(self._ended, code)

    def _ended(self, code: int) -> None:
        if not self._exit.done():
            self._exit.set_result(code)

    def _unwatch(self) -> None:
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None


def _explained(spec: LaunchSpec, failure: OSError | ValueError, environment: Mapping[str, str]) -> OSError:
    """The failure in words that name what was missing."""
    if isinstance(failure, ValueError):
        return OSError(errno.EINVAL, f"the command line holds a character that cannot be passed: {failure}")
    if not os.path.isdir(spec.cwd):
        return OSError(failure.errno or errno.ENOENT, f"the working directory {spec.cwd} does not exist")
    name = spec.argv[0]
    if isinstance(failure, FileNotFoundError) and failure.filename == name:
        looked = "" if os.sep in name else f" (looked in {environment.get('PATH', os.defpath)})"
        return FileNotFoundError(errno.ENOENT, f"{name} was not found{looked}")
    if failure.errno == errno.E2BIG:
        return OSError(errno.E2BIG, "the command line is longer than this system allows")
    return OSError(failure.errno or errno.EIO, f"{name} could not be started: {failure.strerror or failure}")
