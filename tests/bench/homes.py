#!/usr/bin/env python3
"""Build a LIONAGI_HOME of a chosen size for side-by-side performance runs.

The empty store is created by lionagi's own StateDB (so the schema is the real
one), then rows are bulk-inserted with sqlite3 executemany. Everything that is
random comes from --seed; the only outside input is --now (default: the current
time), which anchors the timestamps.

    python make_bench_home.py OUT --sessions 10000
    python make_bench_home.py OUT --touch     # before each measurement
    python make_bench_home.py OUT --sessions 0 --schedules 2000 \
        --schedule-kind tick --interval 300    # scheduler-only home

OUT is the LIONAGI_HOME; OUT/shows is the LIONAGI_SHOWS_ROOT;
OUT/bench_manifest.json names the ids a benchmark should open.

--touch moves the rows that must look alive (running sessions/plays, active
shows, running invocations) to "now", because lionagi's daemon reaps a running
row that has been quiet for an hour when it starts.

Needs: python >= 3.11 with lionagi 0.36.0 importable (only to create the schema).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import socket
import sqlite3
import sys
import time
from pathlib import Path

PROJECTS = ["lionagi", "khive", "studio", "docs", "kron", "pydapter", "atlas", "orchard", "meridian", "basalt", "quill", "harbor"]
AGENTS = [
    "implementer",
    "reviewer",
    "architect",
    "tester",
    "researcher",
    "critic",
    "analyst",
    "writer",
    "auditor",
    "scout",
    "planner",
    "fixer",
    "triager",
    "integrator",
]
MODELS = [
    ("claude-code/sonnet-4-6", "claude_code"),
    ("claude-code/opus-4-7", "claude_code"),
    ("codex/gpt-5.3-codex", "codex"),
    ("gemini-code/gemini-3.1-pro", "gemini_code"),
    ("openai/gpt-4.1-mini", "openai"),
]
WORDS = (
    "the run reads schedule cursor window session branch message table index commit review "
    "finding patch test fixture daemon worker lease queue retry timeout signal artifact "
    "contract verify evidence gate verdict merge rebase worktree plan step operation graph "
    "node edge token cost budget limit stale health probe process record row column schema "
    "migration query latency bound cache result error detail summary reason status state "
    "open close write append progress render page filter sort project agent model provider "
    "effort prompt context tool call response output input change file path line function "
    "class module import export config option flag default value check assert raise handle"
).split()
TOOLS = ["read_file", "write_file", "edit_file", "bash", "grep", "glob", "list_dir"]

CLS = {"system": 1, "instruction": 2, "assistant": 3, "request": 4, "response": 5}
CLS_NAME = {
    1: "lionagi.protocols.messages.system.System",
    2: "lionagi.protocols.messages.instruction.Instruction",
    3: "lionagi.protocols.messages.assistant_response.AssistantResponse",
    4: "lionagi.protocols.messages.action_request.ActionRequest",
    5: "lionagi.protocols.messages.action_response.ActionResponse",
}
NODE_META = {i: json.dumps({"lion_class": n}) for i, n in CLS_NAME.items()}

TERMINAL_REASON = {
    "completed": "run.completed.ok",
    "failed": "run.failed.exception",
    "timed_out": "run.timed_out.deadline",
    "cancelled": "run.cancelled.manual_kill",
    "aborted": "run.aborted.user",
    "completed_empty": "run.completed_empty.no_evidence",
}
REASON_TEXT = {
    "completed": "",
    "failed": "RuntimeError: provider returned 529 after 3 retries",
    "timed_out": "run exceeded its deadline",
    "cancelled": "killed by operator",
    "aborted": "aborted by user",
    "completed_empty": "no commits or artifacts were produced",
}


class Gen:
    def __init__(self, out: Path, args: argparse.Namespace) -> None:
        self.out = out
        self.a = args
        self.rng = random.Random(args.seed)
        self.now = float(args.now) if args.now else float(int(time.time()))
        self.host = socket.gethostname()
        # A pool of paragraphs, cut from per message: cheaper than word-by-word and still varied.
        r = random.Random(args.seed + 1)
        self.corpus = " ".join(r.choice(WORDS) for _ in range(60_000))
        self.con: sqlite3.Connection | None = None
        self.manifest: dict = {}

    # -- helpers -------------------------------------------------------------
    def uid(self) -> str:
        h = f"{self.rng.getrandbits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"

    def hex(self, n: int = 12) -> str:
        return f"{self.rng.getrandbits(4 * n):0{n}x}"

    def text(self, n: int) -> str:
        i = self.rng.randrange(0, len(self.corpus) - n - 1)
        return self.corpus[i : i + n]

    def pick(self, seq, weights):
        return self.rng.choices(seq, weights)[0]

    def many(self, sql: str, rows: list) -> None:
        if rows:
            self.con.executemany(sql, rows)
            rows.clear()

    def run_id(self, ts: float) -> str:
        return time.strftime("%Y%m%dT%H%M%S", time.gmtime(ts)) + "-" + self.hex(6)

    # -- database ------------------------------------------------------------
    def create_schema(self) -> None:
        os.environ["LIONAGI_HOME"] = str(self.out)
        os.environ.pop("LIONAGI_STATE_DB_URL", None)
        from lionagi.state.db import StateDB

        async def m() -> None:
            async with StateDB() as db:
                assert db.path == (self.out / "state.db").resolve(), db.path

        asyncio.run(m())
        self.con = sqlite3.connect(self.out / "state.db", isolation_level=None)
        self.con.execute("PRAGMA journal_mode=DELETE")
        self.con.execute("PRAGMA synchronous=OFF")
        self.con.execute("PRAGMA cache_size=-400000")
        self.con.execute("PRAGMA foreign_keys=OFF")
        known = dict(self.con.execute("SELECT type_id, lion_class FROM message_types"))
        for i, n in CLS_NAME.items():
            if known.get(i) != n:
                raise SystemExit(f"message_types {i} is {known.get(i)!r}, expected {n!r}")

    def message(self, kind: str, ts: float, size: int, *, tool=None, req=None, resp=None):
        """One messages row; returns (id, row)."""
        mid = self.uid()
        c = CLS[kind]
        if kind == "system":
            content = {"system_message": self.text(size)}
            role, snd, rcp = "system", "system", "assistant"
        elif kind == "instruction":
            content = {"instruction": self.text(size)}
            role, snd, rcp = "user", "user", "assistant"
        elif kind == "assistant":
            content = {"assistant_response": self.text(size)}
            role, snd, rcp = "assistant", "assistant", "user"
        elif kind == "request":
            content = {"function": tool, "arguments": self._args(tool), "action_response_id": resp}
            role, snd, rcp = "action", "assistant", "tool"
        else:
            content = {"function": tool, "arguments": self._args(tool), "output": self.text(size), "action_request_id": req}
            role, snd, rcp = "action", "tool", "assistant"
        return mid, [mid, ts, NODE_META[c], json.dumps(content), None, snd, rcp, None, role, c]

    def _args(self, tool):
        if tool == "bash":
            return {"command": "pytest -q tests/" + self.rng.choice(WORDS)}
        if tool in ("grep", "glob"):
            return {"pattern": self.rng.choice(WORDS)}
        return {"file_path": f"src/{self.rng.choice(WORDS)}/{self.rng.choice(WORDS)}.py"}

    def conversation(self, n: int, t0: float, t1: float, rows: list, *, tools: float, size: int | None = None) -> list[str]:
        """n messages between t0 and t1; `tools` is the share that are action pairs."""
        ids: list[str] = []
        dt = (t1 - t0) / max(1, n)
        k = 0
        rr = self.rng

        def sz() -> int:
            return size if size is not None else rr.choice((120, 240, 400, 700, 1100, 2400))

        mid, row = self.message("system", t0, 600)
        rows.append(row)
        ids.append(mid)
        k = 1
        flip = True
        while k < n:
            ts = t0 + dt * k
            if tools and n - k >= 2 and rr.random() < tools / 2:
                tool = rr.choice(TOOLS)
                qid, q = self.message("request", ts, 0, tool=tool)
                pid, p = self.message("response", ts + dt * 0.5, sz(), tool=tool, req=qid)
                body = json.loads(q[3])
                body["action_response_id"] = pid
                q[3] = json.dumps(body)
                rows.append(q)
                rows.append(p)
                ids += (qid, pid)
                k += 2
                continue
            mid, row = self.message("instruction" if flip else "assistant", ts, sz())
            flip = not flip
            rows.append(row)
            ids.append(mid)
            k += 1
        return ids

    MSG_SQL = "INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?,?)"
    PROG_SQL = "INSERT INTO progressions VALUES (?,?,?)"
    TR_SQL = (
        "INSERT INTO status_transitions (id,entity_type,entity_id,previous_status,status,"
        "reason_code,reason_summary,evidence_refs,source,actor,created_at,metadata)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
    )
    BR_SQL = (
        "INSERT INTO branches (id,created_at,node_metadata,user,name,session_id,"
        "progression_id,system_msg_id,model,provider,agent_name,status,started_at,ended_at)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    )
    SES_COLS = (
        "id",
        "cc_session_id",
        "run_id",
        "created_at",
        "node_metadata",
        "name",
        "user_label",
        "user",
        "progression_id",
        "first_msg_id",
        "last_msg_id",
        "updated_at",
        "playbook_name",
        "agent_name",
        "invocation_kind",
        "show_topic",
        "show_play_name",
        "artifacts_path",
        "source_kind",
        "status",
        "started_at",
        "ended_at",
        "ended_at_is_approximate",
        "last_message_at",
        "current_phase",
        "invocation_id",
        "model",
        "provider",
        "effort",
        "agent_hash",
        "project",
        "project_source",
        "status_reason_code",
        "status_reason_summary",
        "status_evidence_refs",
        "artifact_contract_json",
        "artifact_verification_json",
        "input_tokens",
        "output_tokens",
        "total_cost_usd",
        "num_turns",
        "duration_ms",
    )
    SES_SQL = (
        f"INSERT INTO sessions ({','.join(c if c != 'user' else chr(34) + c + chr(34) for c in SES_COLS)})"
        f" VALUES ({','.join('?' * len(SES_COLS))})"
    )

    def trans(self, et: str, eid: str, prev, status: str, code: str, summary: str, ts: float, source="executor"):
        return (self.hex(32), et, eid, prev, status, code, summary, "[]", source, eid, ts, "{}")

    # -- sections ------------------------------------------------------------
    def projects(self) -> None:
        self.con.executemany(
            "INSERT INTO projects (name,source,path,github,description,created_at,updated_at,last_seen_at)"
            " VALUES (?,?,?,?,?,?,?,?)",
            [
                (p, "git_remote", f"/home/dev/{p}", f"example/{p}", None, self.now - 9e6, self.now - 9e4, self.now - 3600)
                for p in PROJECTS
            ],
        )

    def sessions(self) -> None:
        a, rng, now = self.a, self.rng, self.now
        n = a.sessions
        ses, brs, progs, msgs, trs, tags, sigs = [], [], [], [], [], [], []
        step = a.days * 86400.0 / max(1, n)
        n_inv = max(1, n // 5) if n else 0
        inv_meta: dict[int, dict] = {}
        running_ids, typical, flow_id, three_branch = [], [], None, None
        run_dirs = []
        n_running = min(30, n // 20)
        self.ses_ids: list[str] = []
        self.ses_meta: list[tuple] = []
        kinds = ["agent", "flow", "play", "fanout", "show-play", "engine", None]
        kw = [55, 15, 12, 8, 6, 3, 1]
        sts = ["completed", "failed", "cancelled", "timed_out", "completed_empty", "aborted"]
        sw = [79, 9, 4, 3, 3, 2]
        pw = [30, 18, 12, 9, 7, 5, 4, 4, 3, 3, 3, 2]
        inv_ids = [self.hex(12) for _ in range(n_inv)]
        self.inv_ids = inv_ids
        with_msgs = min(n, a.message_sessions)
        for i in range(n):
            sid = self.uid()
            self.ses_ids.append(sid)
            updated = now - 120.0 - i * step - rng.random() * step * 0.9
            dur = rng.choice((12, 40, 95, 240, 600, 1900)) * (0.5 + rng.random())
            started = updated - dur
            kind = self.pick(kinds, kw)
            running = i < n_running
            status = "running" if running else self.pick(sts, sw)
            if running:
                updated = now - i
                started = now - 30 - i * 7
            proj = None if rng.random() < 0.1 else self.pick(PROJECTS, pw)
            agent = rng.choice(AGENTS)
            model, provider = self.pick(MODELS, [40, 20, 25, 10, 5])
            rid = self.run_id(started)
            run_dirs.append((rid, started))
            nb = 1 if kind in ("agent", None) and rng.random() < 0.8 else rng.choice((1, 2, 2, 3))
            meta = {
                "pid": 3_900_000 + i % 9000,
                "pid_create_time": round(started - 0.4, 2),
                "pid_host": self.host,
                "pid_boot_time": round(now - 8e6, 1),
                "process_identity_mode": "local",
                "drains_controls": kind == "agent",
            }
            if kind in ("flow", "fanout", "play"):
                m = rng.choice((3, 4, 5, 7, 9))
                meta["agents"] = [
                    {
                        "id": f"{agent}-{j}",
                        "name": rng.choice(AGENTS),
                        "model": model,
                        "artifact_dir": f"/home/dev/.lionagi/runs/{rid}/artifacts/{agent}-{j}",
                        "spawned": False,
                    }
                    for j in range(m)
                ]
                meta["operations"] = [
                    {
                        "id": f"op{j}",
                        "agent_id": f"{agent}-{j}",
                        "control": False,
                        "spawned": False,
                        "depends_on": [f"op{j - 1}"] if j and rng.random() < 0.7 else [],
                    }
                    for j in range(m)
                ]
                if flow_id is None and not running:
                    flow_id = sid
            if rng.random() < 0.01:
                meta["engine_parent_run_id"] = self.run_id(started)
            have = i < with_msgs
            nm = a.messages_per_session
            per = [nm // nb + (1 if b < nm % nb else 0) for b in range(nb)]
            sids: list[str] = []
            for b in range(nb):
                bid, pid = self.uid(), self.uid()
                if have:
                    ids = self.conversation(per[b], started, updated, msgs, tools=0.4)
                else:
                    # Rows pruned by retention: the progression still names them.
                    ids = [self.uid() for _ in range(per[b])]
                sids += ids
                progs.append((pid, started, json.dumps(ids)))
                brs.append(
                    (
                        bid,
                        started + b,
                        None,
                        None,
                        f"{agent}-{b}" if nb > 1 else "main",
                        sid,
                        pid,
                        ids[0] if have else None,
                        model,
                        provider,
                        agent,
                        None if running else status,
                        started,
                        None if running else updated,
                    )
                )
            spid = self.uid()
            progs.append((spid, started, json.dumps(sids)))
            inv = None
            if n_inv and rng.random() < 0.6:
                j = int(i / n * n_inv)
                j = min(n_inv - 1, max(0, j + rng.randrange(-2, 3)))
                inv = inv_ids[j]
                d = inv_meta.setdefault(j, {"n": 0, "t0": started, "t1": updated, "run": False, "st": status})
                d["n"] += 1
                d["t0"] = min(d["t0"], started)
                d["t1"] = max(d["t1"], updated)
                d["run"] |= running
            code = "run.started.ok" if running else TERMINAL_REASON[status]
            summ = "" if running else REASON_TEXT[status]
            topic = play = None
            if kind == "show-play":
                topic, play = f"show-{rng.randrange(50):03d}", f"play-{rng.randrange(10):02d}"
            cost = None if rng.random() < 0.35 else round(rng.random() ** 3 * 4, 4)
            ses.append(
                (
                    sid,
                    None,
                    rid,
                    started,
                    json.dumps(meta),
                    self.text(60),
                    "labelled " + rng.choice(WORDS) if rng.random() < 0.03 else None,
                    None,
                    spid,
                    sids[0] if have else None,
                    sids[-1] if have else None,
                    updated,
                    f"pb-{rng.randrange(100):03d}" if kind == "play" else None,
                    agent,
                    kind,
                    topic,
                    play,
                    f"/home/dev/.lionagi/runs/{rid}/artifacts" if rng.random() < 0.7 else None,
                    "live",
                    status,
                    started,
                    None if running else updated,
                    0,
                    updated,
                    "execute" if running else None,
                    inv,
                    model,
                    provider,
                    rng.choice(("low", "medium", "high", None)),
                    self.hex(16),
                    proj,
                    "git_remote" if proj else None,
                    code,
                    summ,
                    "[]",
                    None,
                    None,
                    rng.randrange(2000, 90_000),
                    rng.randrange(200, 9000),
                    cost,
                    rng.randrange(1, 40),
                    None if running else dur * 1000,
                )
            )
            self.ses_meta.append((sid, started, updated, status, kind))
            trs.append(self.trans("session", sid, None, "running", "run.started.ok", "", started, "system"))
            if not running:
                trs.append(self.trans("session", sid, "running", status, code, summ, updated))
            else:
                running_ids.append(sid)
            if have and not running and nb == 1 and len(typical) < 20:
                typical.append(sid)
            if have and not running and nb == 3 and three_branch is None:
                three_branch = sid
            if rng.random() < 0.05:
                tags.append((sid, rng.choice(("keep", "flaky", "release", "bisect", "demo")), updated))
            if i < 500 and kind in ("flow", "play", "fanout"):
                for q in range(20):
                    sigs.append(
                        (
                            self.uid(),
                            sid,
                            q + 1,
                            rng.choice(("NodeStarted", "NodeCompleted", "MessageAdded")),
                            f"op{q % 5}",
                            started + q,
                            json.dumps({"op_id": f"op{q % 5}", "name": agent, "elapsed": q * 1.5}),
                        )
                    )
            if len(ses) >= 2000:
                self.flush(ses, brs, progs, msgs, trs, tags, sigs)
        if n:
            # The two special sessions sit just below the running rows so page 1 shows them.
            giant = self.special("giant", a.giant, now - 95.0, ses, brs, progs, msgs, trs, tools=0.0, size=930)
            tool = self.special("tools", a.tools, now - 100.0, ses, brs, progs, msgs, trs, tools=0.7, size=None, sigs=sigs)
            self.manifest.update(giant_session=giant, tools_session=tool)
        self.flush(ses, brs, progs, msgs, trs, tags, sigs)
        # invocations for the sessions above
        invs = []
        for j, iid in enumerate(inv_ids):
            d = inv_meta.get(j)
            if d is None:
                t1 = now - 200 - j * step * 5
                d = {"n": 0, "t0": t1 - 60, "t1": t1, "run": False, "st": "completed"}
            st = "running" if d["run"] else d["st"]
            invs.append(
                (
                    iid,
                    rng.choice(("show", "review", "orchestrate", "research", "resolve")),
                    rng.choice(("lion", None, "team")),
                    self.text(180),
                    d["t0"],
                    None if st == "running" else d["t1"],
                    st,
                    d["n"],
                    d["t0"],
                    d["t1"],
                    json.dumps({"action_kind": "agent"}),
                    "run.started.ok" if st == "running" else TERMINAL_REASON[st],
                    "",
                    "[]",
                )
            )
            trs.append(self.trans("invocation", iid, None, "running", "run.started.ok", "", d["t0"], "system"))
            if st != "running":
                trs.append(self.trans("invocation", iid, "running", st, TERMINAL_REASON[st], "", d["t1"]))
        self.many(self.INV_SQL, invs)
        self.many(self.TR_SQL, trs)
        busiest = max(inv_meta.items(), key=lambda kv: kv[1]["n"])[0] if inv_meta else None
        self.manifest.update(
            running_sessions=running_ids,
            typical_sessions=typical,
            flow_session=flow_id,
            three_branch_session=three_branch,
            busiest_invocation=inv_ids[busiest] if busiest is not None else None,
            projects=PROJECTS,
        )
        self.run_dirs = run_dirs

    INV_SQL = (
        "INSERT INTO invocations (id,skill,plugin,prompt,started_at,ended_at,status,session_count,"
        "created_at,updated_at,node_metadata,status_reason_code,status_reason_summary,"
        "status_evidence_refs) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    )

    def flush(self, ses, brs, progs, msgs, trs, tags, sigs) -> None:
        self.many(self.PROG_SQL, progs)
        self.many(self.MSG_SQL, msgs)
        self.many(self.SES_SQL, ses)
        self.many(self.BR_SQL, brs)
        self.many(self.TR_SQL, trs)
        self.many("INSERT OR IGNORE INTO run_tags VALUES (?,?,?)", tags)
        self.many("INSERT INTO session_signals VALUES (?,?,?,?,?,?,?)", sigs)

    def special(self, name, n, updated, ses, brs, progs, msgs, trs, *, tools, size, sigs=None) -> str:
        sid, spid, pid, bid = self.uid(), self.uid(), self.uid(), self.uid()
        started = updated - 86400.0
        ids = self.conversation(n, started, updated, msgs, tools=tools, size=size)
        blob = json.dumps(ids)
        progs.append((spid, started, blob))
        progs.append((pid, started, blob))
        brs.append(
            (
                bid,
                started,
                None,
                None,
                "main",
                sid,
                pid,
                ids[0],
                MODELS[0][0],
                MODELS[0][1],
                "implementer",
                "completed",
                started,
                updated,
            )
        )
        meta = {
            "pid": 3_999_999,
            "pid_create_time": started,
            "pid_host": self.host,
            "pid_boot_time": self.now - 8e6,
            "process_identity_mode": "local",
            "drains_controls": True,
        }
        ses.append(
            (
                sid,
                None,
                self.run_id(started),
                started,
                json.dumps(meta),
                f"{name} session",
                f"{name} session",
                None,
                spid,
                ids[0],
                ids[-1],
                updated,
                None,
                "implementer",
                "agent",
                None,
                None,
                None,
                "live",
                "completed",
                started,
                updated,
                0,
                updated,
                None,
                None,
                MODELS[0][0],
                MODELS[0][1],
                "high",
                self.hex(16),
                PROJECTS[0],
                "git_remote",
                "run.completed.ok",
                "",
                "[]",
                None,
                None,
                1_900_000,
                240_000,
                41.5,
                n // 2,
                86_400_000.0,
            )
        )
        trs.append(self.trans("session", sid, None, "running", "run.started.ok", "", started, "system"))
        trs.append(self.trans("session", sid, "running", "completed", "run.completed.ok", "", updated))
        if sigs is not None:
            for q in range(5000):
                sigs.append(
                    (
                        self.uid(),
                        sid,
                        q + 1,
                        "MessageAdded",
                        "",
                        started + q * 17,
                        json.dumps({"message_id": ids[q % len(ids)], "role": "assistant"}),
                    )
                )
        self.ses_ids.append(sid)
        return sid

    def schedules(self) -> None:
        a, rng, now = self.a, self.rng, self.now
        cols = [r[1] for r in self.con.execute("PRAGMA table_info(schedules)")]
        ids, rows = [], []
        dow = (int(time.strftime("%w", time.gmtime(now))) + 3) % 7  # never due while a benchmark runs
        tick = a.schedule_kind == "tick"
        for i in range(a.schedules):
            sid = self.hex(12)
            ids.append(sid)
            d = dict.fromkeys(cols)
            created = now - 60 * 86400 - i
            d.update(
                id=sid,
                name=f"bench-{i:05d}",
                description=self.text(60),
                enabled=1,
                missed_fire_policy="skip",
                overlap_policy="skip",
                action_extra_args="[]",
                action_command_args="[]",
                poller_consecutive_401=0,
                predispatch_refusal_count=0,
                created_at=created,
                updated_at=now - rng.random() * 8e5,
                project=None if rng.random() < 0.2 else rng.choice(PROJECTS),
            )
            if tick:  # scheduler load: every row an interval command
                d.update(
                    trigger_type="interval",
                    interval_sec=a.interval,
                    action_kind="command",
                    action_command=a.command,
                    action_cwd=str(self.out),
                    project=None,
                    next_fire_at=now + a.first_due + (a.interval * i / max(1, a.schedules) if a.spread else 0),
                    effective_timezone="UTC",
                    effective_timezone_source="system:localtime",
                )
                d["missed_fire_policy"] = a.missed_policy
            else:
                t = self.pick(["interval", "cron", "at", "github_poll"], [68, 25, 5, 2])
                d["trigger_type"] = t
                if rng.random() < 0.15 or t == "github_poll":
                    d["enabled"] = 0
                if t == "interval":
                    d["interval_sec"] = rng.choice((900, 3600, 7200, 21600, 86400))
                    d["next_fire_at"] = now + 43_200 + rng.random() * 86_400
                elif t == "cron":
                    d["cron_expr"] = f"{rng.randrange(60)} {rng.randrange(24)} * * {dow}"
                    d["next_fire_at"] = now + 3 * 86_400
                    d["effective_timezone"], d["effective_timezone_source"] = "UTC", "system:localtime"
                elif t == "at":
                    d["next_fire_at"] = now + 10 * 86_400
                else:
                    d["github_repo"], d["poll_interval_sec"] = "example/repo", 300
                    d["github_filter"] = json.dumps({"event": "pr_merged"})
                k = self.pick(["command", "agent", "flow", "play", "fanout", "flow_yaml"], [38, 30, 10, 14, 5, 3])
                d["action_kind"] = k
                if k == "command":
                    d["action_command"] = "true"
                else:
                    d["action_model"], d["action_prompt"] = MODELS[0][0], self.text(200)
                    if k == "agent":
                        d["action_agent"] = rng.choice(AGENTS)
                    if k == "play":
                        d["action_playbook"] = f"pb-{rng.randrange(100):03d}"
                    if k == "flow_yaml":
                        d["action_flow_yaml"] = "prompt: " + self.text(300)
                if rng.random() < 0.05:
                    d["max_runs"] = 100_000
                if rng.random() < 0.03:
                    d["budget_usd"] = 500.0
            d["last_fired_at"] = None
            rows.append(tuple(d[c] for c in cols))
        self.con.executemany(f"INSERT INTO schedules ({','.join(cols)}) VALUES ({','.join('?' * len(cols))})", rows)
        self.manifest["schedules"] = {"count": len(ids), "first": ids[0] if ids else None, "ids": ids[:20]}
        # runs, newest last, each non-skipped one with its own invocation (as the scheduler writes it)
        runs, invs, trs = [], [], []
        kinds = dict(self.con.execute("SELECT id, action_kind FROM schedules"))
        per_inv: list[str] = []
        last: dict[str, float] = {}
        for j in range(a.schedule_runs if ids else 0):
            sid = ids[j % len(ids)] if j < 2 * len(ids) else ids[int(rng.random() ** 1.6 * len(ids))]
            fired = now - 60 * 86400.0 * (1 - j / a.schedule_runs) - 300
            st = self.pick(["completed", "failed", "timed_out", "skipped", "cancelled"], [80, 8, 2, 8, 2])
            rid = self.hex(12)
            iid = None
            k = kinds[sid]
            end = fired + rng.choice((1, 3, 20, 90, 400))
            if st != "skipped":
                iid = self.hex(12)
                ist = st
                invs.append(
                    (
                        iid,
                        f"scheduled:bench-{ids.index(sid):05d}" if len(ids) <= 300 else "scheduled:bench",
                        "interval",
                        None,
                        fired,
                        end,
                        ist,
                        0,
                        fired,
                        end,
                        json.dumps({"action_kind": k}),
                        TERMINAL_REASON[ist],
                        "",
                        "[]",
                    )
                )
                trs.append(self.trans("invocation", iid, None, "running", "run.started.ok", "", fired, "system"))
                trs.append(self.trans("invocation", iid, "running", ist, TERMINAL_REASON[ist], "", end))
                if k != "command":
                    per_inv.append(iid)
                code, summ = (
                    TERMINAL_REASON[st],
                    ("Scheduled process completed successfully." if st == "completed" else REASON_TEXT[st]),
                )
                trs.append(self.trans("schedule_run", rid, None, "running", "run.started.ok", "", fired, "system"))
                trs.append(
                    self.trans(
                        "schedule_run",
                        rid,
                        "running",
                        "running",
                        "schedule.fired.due",
                        "Schedule run fired because the trigger was due.",
                        fired,
                        "system",
                    )
                )
                trs.append(self.trans("schedule_run", rid, "running", st, code, summ, end))
                last[sid] = fired
            else:
                code, summ = (
                    "schedule.skipped.overlap",
                    ("Schedule fire skipped because overlap_policy=skip and a prior run is still active."),
                )
                trs.append(self.trans("schedule_run", rid, None, "skipped", code, summ, fired, "system"))
            runs.append(
                (
                    rid,
                    sid,
                    iid,
                    json.dumps({"scheduled": True, "fired_at": fired, "next_fire_at": fired - 9}),
                    k,
                    json.dumps(["true"]) if k == "command" else json.dumps(["li", k]),
                    st,
                    None if st == "skipped" else (0 if st == "completed" else 1),
                    None,
                    0,
                    fired,
                    None if st == "skipped" else end,
                    "Traceback (most recent call last): RuntimeError: boom" if st == "failed" else None,
                    fired,
                    end,
                    code,
                    summ,
                    "[]",
                    None if st == "skipped" else fired + 0.02,
                )
            )
            if len(runs) >= 5000:
                self._flush_runs(runs, invs, trs)
        self._flush_runs(runs, invs, trs)
        self.con.executemany("UPDATE schedules SET last_fired_at=? WHERE id=?", [(t, s) for s, t in last.items()])
        # 10% of sessions belong to a scheduled invocation
        if per_inv and self.a.sessions:
            pairs = []
            for sid, *_ in self.ses_meta[50::10]:
                pairs.append((rng.choice(per_inv), sid))
            self.con.executemany("UPDATE sessions SET invocation_id=? WHERE id=?", pairs)
            self.con.executemany("UPDATE invocations SET session_count=session_count+1 WHERE id=?", [(p[0],) for p in pairs])

    def _flush_runs(self, runs, invs, trs) -> None:
        self.many(self.INV_SQL, invs)
        self.many(
            "INSERT INTO schedule_runs (id,schedule_id,invocation_id,trigger_context,action_kind,action_args,"
            "status,exit_code,chain_parent_id,chain_depth,fired_at,ended_at,error_detail,created_at,updated_at,"
            "status_reason_code,status_reason_summary,status_evidence_refs,dispatched_at)"
            " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            runs,
        )
        self.many(self.TR_SQL, trs)

    def shows(self) -> None:
        a, rng, now = self.a, self.rng, self.now
        root = self.out / "shows"
        root.mkdir(exist_ok=True)
        srows, prows, trs = [], [], []
        pool = [m for m in getattr(self, "ses_meta", []) if m[3] != "running"]
        topics = []
        for i in range(a.shows):
            topic = f"show-{i:03d}"
            topics.append(topic)
            sdir = root / topic
            sdir.mkdir()
            state = "completed" if i % 10 < 7 else ("active" if i % 10 < 9 else "aborted")
            goal = self.text(240)
            (sdir / "_show.md").write_text(
                f"# {topic}\n\n## Goal\n{goal}\n\n## Setup\n- Repo: /home/dev/lionagi\n"
                f"- Integration branch: show/{topic}\n- Base for final merge: main\n\n## Plays\n"
                + "\n".join(f"- play-{p:02d}: {self.text(120)}" for p in range(a.plays))
                + "\n"
            )
            if state == "completed":
                (sdir / "_final_verdict.json").write_text(json.dumps({"show_passed": True, "feedback": self.text(200)}))
            if state == "aborted":
                (sdir / "_ABORT").write_text("operator\n")
            show_id = self.uid()
            t0 = now - (i + 1) * 86400.0
            srows.append(
                (
                    show_id,
                    topic,
                    goal,
                    "/home/dev/lionagi",
                    "main",
                    f"show/{topic}",
                    state,
                    str(sdir),
                    "sqlite",
                    t0,
                    now - 60 if state == "active" else t0 + 5e4,
                    {
                        "completed": "show.completed.final_gate",
                        "active": "show.active.created",
                        "aborted": "show.aborted.operator",
                    }[state],
                    "",
                    "[]",
                )
            )
            trs.append(self.trans("show", show_id, None, "active", "show.active.created", "", t0, "system"))
            for p in range(a.plays):
                name = f"play-{p:02d}"
                pdir = sdir / name
                pdir.mkdir()
                if state == "completed":
                    st = "merged"
                elif state == "active":
                    st = (
                        "merged",
                        "merged",
                        "merged",
                        "gated",
                        "gate_failed",
                        "running",
                        "pending",
                        "pending",
                        "blocked",
                        "escalated",
                    )[p % 10]
                else:
                    st = ("merged", "merged", "aborted_after_finish", "blocked", "pending")[p % 5]
                ps = t0 + p * 900
                pe = ps + 700 if st not in ("running", "pending") else None
                gate = {"merged": 1, "gated": 1, "gate_failed": 0, "escalated": 0}.get(st)
                meta = {
                    "status": st,
                    "attempt": 2 if st == "escalated" else 1,
                    "effort": "high",
                    "started_at": None if st == "pending" else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ps)),
                    "ended_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(pe)) if pe else None,
                    "exit_code": 0 if pe else None,
                    "worktree": f"/home/dev/wt/{topic}/{name}",
                    "branch": f"{topic}/{name}",
                    "merge_sha": self.hex(40) if st == "merged" else None,
                }
                (pdir / "_meta.json").write_text(json.dumps(meta))
                (pdir / "_intent.md").write_text(f"# {name}\n\n" + self.text(900) + "\n")
                if gate is not None:
                    (pdir / "_verdict.json").write_text(json.dumps({"gate_passed": bool(gate), "feedback": self.text(400)}))
                link = rng.choice(pool)[0] if pool and st != "pending" and rng.random() < 0.8 else None
                prows.append(
                    (
                        self.uid(),
                        show_id,
                        name,
                        f"pb-{p:03d}",
                        "high",
                        st,
                        meta["attempt"],
                        link,
                        None if st == "pending" else ps,
                        pe,
                        meta["exit_code"],
                        meta["worktree"],
                        meta["branch"],
                        meta["merge_sha"],
                        pe if st == "merged" else None,
                        gate,
                        self.text(200) if gate is not None else None,
                        json.dumps([f"play-{p - 1:02d}"] if p else []),
                        p,
                        t0,
                        now - 30 if st == "running" else (pe or t0),
                        {
                            "merged": "play.merged.ok",
                            "gate_failed": "play.gate_failed.verdict",
                            "escalated": "play.escalated.gate_twice",
                            "blocked": "play.blocked.dep_failed",
                        }.get(st, "play.pending.created"),
                        "",
                        "[]",
                    )
                )
        self.many(
            "INSERT INTO shows (id,topic,goal,repo,base_branch,integration_branch,status,show_dir,"
            "status_source,created_at,updated_at,status_reason_code,status_reason_summary,"
            "status_evidence_refs) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            srows,
        )
        self.many(
            "INSERT INTO plays (id,show_id,name,playbook,effort,status,attempt,session_id,started_at,ended_at,"
            "exit_code,worktree,branch,merge_sha,merged_at,gate_passed,gate_feedback,depends_on,sort_order,"
            "created_at,updated_at,status_reason_code,status_reason_summary,status_evidence_refs)"
            " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            prows,
        )
        self.many(self.TR_SQL, trs)
        self.manifest["shows"] = topics

    def definitions(self) -> None:
        a, rng, now = self.a, self.rng, self.now
        names = []
        (self.out / "agents").mkdir(exist_ok=True)
        (self.out / "playbooks").mkdir(exist_ok=True)
        for i in range(a.definitions * 2 // 3):
            names.append(("agent", f"agent-{i:03d}"))
        for i in range(a.definitions - len(names)):
            names.append(("playbook", f"pb-{i:03d}"))

        def body(kind: str, name: str) -> str:
            if kind == "agent":
                return (
                    f"---\nname: {name}\nmodel: claude-code/sonnet-4-6\neffort: high\n"
                    f"description: {self.text(80)}\n---\n\n# {name}\n\n{self.text(rng.choice((900, 1800, 3600)))}\n"
                )
            return (
                f"name: {name}\ndescription: {self.text(80)}\nmodel: claude-code/sonnet-4-6\n"
                f"prompt: |\n  {self.text(rng.choice((600, 1500, 2800)))}\n"
            )

        rows = []
        per = (
            [
                a.definition_versions // len(names) + (1 if i < a.definition_versions % len(names) else 0)
                for i in range(len(names))
            ]
            if names
            else []
        )
        for (kind, name), nv in zip(names, per):
            path = f"{kind}s/{name}" + (".md" if kind == "agent" else ".playbook.yaml")
            text = ""
            for v in range(1, nv + 1):
                text = body(kind, name)
                rows.append((self.uid(), kind, name, path, text, v, now - 60 * 86400 + v * 7e5, f"edit {v}"))
            (self.out / path).write_text(text or body(kind, name))
        self.con.executemany(
            "INSERT INTO definitions (id,kind,name,path,content,version,created_at,message) VALUES (?,?,?,?,?,?,?,?)", rows
        )
        for i in range(30):
            d = self.out / "skills" / f"skill-{i:02d}"
            d.mkdir(parents=True)
            (d / "SKILL.md").write_text(f"---\nname: skill-{i:02d}\ndescription: {self.text(70)}\n---\n\n{self.text(1500)}\n")
        self.manifest["definitions"] = {"agent": "agent-007", "playbook": "pb-007", "files": len(names), "versions": len(rows)}

    def artifacts(self) -> None:
        rows = []
        ids = getattr(self, "ses_ids", [])
        if not ids:
            return
        for i in range(self.a.artifacts):
            s = ids[i % len(ids)]
            t = self.now - i * 60
            rows.append(
                (
                    self.hex(12),
                    None,
                    s,
                    t,
                    t,
                    self.rng.choice(("finding", "review", "decision", "report")),
                    f"artifact-{i:05d}",
                    json.dumps({"title": self.text(60), "severity": "medium", "body": self.text(600)}),
                    f"reports/{i:05d}.md" if i % 3 == 0 else None,
                )
            )
        self.con.executemany(
            "INSERT INTO artifacts (id,invocation_id,session_id,created_at,updated_at,kind,name,content,"
            "file_path) VALUES (?,?,?,?,?,?,?,?,?)",
            rows,
        )
        self.manifest["artifact"] = rows[0][0]
        self.manifest["artifact_session"] = ids[0]

    def disk_runs(self) -> None:
        root = self.out / "runs"
        root.mkdir(exist_ok=True)
        k = self.a.run_dirs if self.a.run_dirs is not None else 10_000
        made = 0
        for rid, started in getattr(self, "run_dirs", [])[:k]:
            d = root / rid
            (d / "artifacts").mkdir(parents=True, exist_ok=True)
            (d / "run.json").write_text(
                json.dumps(
                    {
                        "run_id": rid,
                        "state_root": str(d),
                        "artifact_root": str(d / "artifacts"),
                        "kind": "agent",
                        "status": "completed",
                        "cwd": "/home/dev/lionagi",
                        "started_at": started,
                    },
                    indent=2,
                )
            )
            (d / "artifacts" / "result.md").write_text("# result\n")
            os.utime(d, (started, started))
            made += 1
        self.manifest["run_dirs"] = made

    # -- driver --------------------------------------------------------------
    def build(self) -> None:
        t0 = time.perf_counter()
        self.create_schema()
        self.con.execute("BEGIN")
        self.projects()
        self.sessions()
        self.schedules()
        self.shows()
        self.definitions()
        self.artifacts()
        self.con.execute("COMMIT")
        bad = self.con.execute("PRAGMA foreign_key_check").fetchmany(5)
        if bad:
            raise SystemExit(f"foreign keys broken: {bad}")
        self.con.execute("PRAGMA journal_mode=WAL")
        counts = {}
        for (t,) in self.con.execute("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'").fetchall():
            counts[t] = self.con.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0]
        # A content fingerprint, so two machines can show that they measured the same data.
        h = hashlib.sha256()
        for t in ("sessions", "branches", "schedules", "schedule_runs", "plays"):
            for r in self.con.execute(f"SELECT id FROM {t} ORDER BY id"):
                h.update(r[0].encode())
        self.con.close()
        self.disk_runs()
        self.manifest.update(
            now=self.now,
            seed=self.a.seed,
            counts={k: v for k, v in counts.items() if v},
            db_bytes=(self.out / "state.db").stat().st_size,
            id_sha256=h.hexdigest(),
            build_seconds=round(time.perf_counter() - t0, 1),
            argv=sys.argv[1:],
        )
        (self.out / "bench_manifest.json").write_text(json.dumps(self.manifest, indent=1))


def touch(out: Path) -> None:
    """Move the rows that must look alive to the present (see the module docstring)."""
    m = json.loads((out / "bench_manifest.json").read_text())
    now = time.time()
    con = sqlite3.connect(out / "state.db", isolation_level=None, timeout=30)
    con.execute("BEGIN IMMEDIATE")
    for i, sid in enumerate(m.get("running_sessions", [])):
        con.execute(
            "UPDATE sessions SET status='running', status_reason_code='run.started.ok', ended_at=NULL,"
            " current_phase='execute', updated_at=?, last_message_at=?, started_at=? WHERE id=?",
            (now - i, now - i, now - 30 - i * 7, sid),
        )
    con.execute(
        "UPDATE invocations SET status='running', ended_at=NULL, started_at=?, updated_at=? WHERE id IN"
        " (SELECT invocation_id FROM sessions WHERE status='running' AND invocation_id IS NOT NULL)",
        (now - 300, now - 5),
    )
    con.execute("UPDATE plays SET updated_at=? WHERE status IN ('running','running_complete','prepared','redoing')", (now,))
    con.execute("UPDATE shows SET updated_at=? WHERE status='active'", (now,))
    con.execute("COMMIT")
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    con.close()


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=Path)
    ap.add_argument("--touch", action="store_true", help="only refresh the live rows of an existing home")
    ap.add_argument("--force", action="store_true", help="replace OUT if it holds a bench home")
    ap.add_argument("--sessions", type=int, default=1000)
    ap.add_argument("--days", type=float, default=90.0, help="span of the session history")
    ap.add_argument("--message-sessions", type=int, default=2000, help="newest N sessions keep their messages")
    ap.add_argument("--messages-per-session", type=int, default=20)
    ap.add_argument("--giant", type=int, default=50_000)
    ap.add_argument("--tools", type=int, default=5_000)
    ap.add_argument("--schedules", type=int, default=200)
    ap.add_argument("--schedule-runs", type=int, default=50_000)
    ap.add_argument("--shows", type=int, default=50)
    ap.add_argument("--plays", type=int, default=10)
    ap.add_argument("--definitions", type=int, default=300)
    ap.add_argument("--definition-versions", type=int, default=2000)
    ap.add_argument("--artifacts", type=int, default=5000)
    ap.add_argument("--run-dirs", type=int, default=None, help="run directories on disk (default min(N,10000))")
    ap.add_argument("--seed", type=int, default=7)
    ap.add_argument("--now", type=float, default=None, help="epoch anchor (default: current time)")
    g = ap.add_argument_group("scheduler-only homes")
    g.add_argument("--schedule-kind", choices=("mixed", "tick"), default="mixed")
    g.add_argument("--interval", type=int, default=300)
    g.add_argument("--command", default="true", help="bare executable name (the scheduler allow-lists names)")
    g.add_argument("--first-due", type=float, default=5.0, help="seconds after --now that the first fire is due")
    g.add_argument("--spread", action="store_true", help="spread due times over one interval")
    g.add_argument("--missed-policy", default="skip", choices=("skip", "run_once"))
    a = ap.parse_args()
    out = a.out.resolve()
    if a.touch:
        touch(out)
        return 0
    if out.exists():
        if not a.force or not (out / "bench_manifest.json").exists():
            if any(out.iterdir()):
                print(f"{out} is not empty (use --force to replace a bench home)", file=sys.stderr)
                return 2
        else:
            shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench_manifest.json").write_text("{}")
    g_ = Gen(out, a)
    g_.build()
    m = g_.manifest
    print(json.dumps({k: m[k] for k in ("counts", "db_bytes", "build_seconds", "id_sha256", "run_dirs")}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
