#!/usr/bin/env python3
"""Build a rich lionagi home with the real lionagi 0.36.0 as a library.

    python peer_home.py --out DIR --now EPOCH    # a home whose "now" is EPOCH
    python peer_home.py --relocate SRC DST       # copy a built home and make its stored paths true for DST

Everything random or clock-driven is pinned (ids come from labels, time.time() is replaced), so two builds with one --now are
equal. Rows go in through the library's own API; the few places where it has no writer are marked RAW.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import shutil
import socket
import sqlite3
import sys
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEMO_HOME = "/srv/demo/lionagi-home"  # what the stored absolute paths claim the home is
DEMO_HOST = "demo-host"
DEFAULT_NOW = 1_796_000_000.0  # 2026-11-30T00:53:20Z
H, D = 3600.0, 86400.0

# --------------------------------------------------------------------------- pinned world


class Clock:
    t = DEFAULT_NOW


def _digest(label: str) -> bytes:
    return hashlib.sha256(("peer-home:" + label).encode()).digest()


_counter = [0]
_RealUUID = uuid.UUID


def _fake_uuid4() -> uuid.UUID:
    _counter[0] += 1
    return _RealUUID(bytes=_digest(f"auto:{_counter[0]}")[:16], version=4)


def uid(label: str) -> str:
    """A stable uuid4-shaped id (dashed) for a label."""
    return str(_RealUUID(bytes=_digest("uuid:" + label)[:16], version=4))


def hid(label: str, n: int = 12) -> str:
    """A stable hex id for a label (12 = the library's short id, 32 = uuid4().hex)."""
    return hashlib.sha256(("peer-home:hex:" + label).encode()).hexdigest()[:n]


def pin_world(now: float, home: Path) -> None:
    Clock.t = now
    time.time = lambda: Clock.t  # type: ignore[assignment]
    uuid.uuid4 = _fake_uuid4  # type: ignore[assignment]
    socket.gethostname = lambda: DEMO_HOST  # type: ignore[assignment]
    for k in list(os.environ):
        if k.startswith("LIONAGI_"):
            del os.environ[k]
    os.environ["LIONAGI_HOME"] = str(home)
    os.environ["LIONAGI_SHOWS_ROOT"] = str(home / "shows")
    os.environ["TZ"] = "UTC"
    from datetime import datetime, timezone

    from lionagi.protocols.generic import element

    element.now_utc = lambda: datetime.fromtimestamp(Clock.t, timezone.utc)


def at(t: float) -> float:
    Clock.t = float(t)
    return Clock.t


# --------------------------------------------------------------------------- messages

CLS = "lionagi.protocols.messages."
LC = {
    "system": CLS + "system.System",
    "instruction": CLS + "instruction.Instruction",
    "assistant": CLS + "assistant_response.AssistantResponse",
    "request": CLS + "action_request.ActionRequest",
    "response": CLS + "action_response.ActionResponse",
}


def _msg(label, kind, t, content, *, role, sender, recipient, meta=None, embedding=None):
    return {
        "id": uid("msg:" + label),
        "created_at": float(t),
        "content": content,
        "embedding": embedding,
        "sender": sender,
        "recipient": recipient,
        "channel": None,
        "role": role,
        "node_metadata": {"lion_class": LC[kind], **(meta or {})},
        "lion_class": LC[kind],
    }


class Talk:
    """Builds the messages of one branch in order."""

    def __init__(self, label: str, branch_id: str, t0: float, step: float = 7.0):
        self.label, self.b, self.t, self.step = label, branch_id, t0, step
        self.out: list[dict] = []

    def _next(self) -> tuple[str, float]:
        t = self.t
        self.t += self.step
        return f"{self.label}:{len(self.out)}", t

    def system(self, text, dt=None):
        lab, t = self._next()
        c = {"system_message": text}
        if dt:
            c["system_datetime"] = dt
        self.out.append(_msg(lab, "system", t, c, role="system", sender="system", recipient=self.b))
        return self

    def user(self, text, **extra):
        lab, t = self._next()
        self.out.append(_msg(lab, "instruction", t, {"instruction": text, **extra}, role="user", sender="user", recipient=self.b))
        return self

    def say(self, text, meta=None, embedding=None):
        lab, t = self._next()
        self.out.append(
            _msg(
                lab,
                "assistant",
                t,
                {"assistant_response": text},
                role="assistant",
                sender=self.b,
                recipient="user",
                meta=meta,
                embedding=embedding,
            )
        )
        return self

    def tool(self, fn, args, output, error=None, answered=True, parallel=None):
        """One call and its answer (or several calls first when parallel=[(fn, args, output)])."""
        calls = [(fn, args, output, error)] + [(f, a, o, None) for f, a, o in (parallel or [])]
        reqs = []
        for f, a, o, e in calls:
            lab, t = self._next()
            req = _msg(
                lab, "request", t, {"function": f, "arguments": a}, role="action", sender=self.b, recipient=hid("tool:" + f, 32)
            )
            self.out.append(req)
            reqs.append((req, f, a, o, e))
        if not answered:
            return self
        for req, f, a, o, e in reqs:
            lab, t = self._next()
            c = {"function": f, "arguments": a, "output": o, "action_request_id": req["id"]}
            if e:
                c["error"] = e
            res = _msg(lab, "response", t, c, role="action", sender=req["recipient"], recipient=self.b)
            req["content"]["action_response_id"] = res["id"]
            self.out.append(res)
        return self


# --------------------------------------------------------------------------- definitions on disk

AGENT_FILES = {
    "reviewer": (
        "---\nprovider: claude_code\nmodel: sonnet\neffort: high\nrole: reviewer\nmode: adversarial\n"
        "description: Reads a change and lists what is wrong with it.\nyolo: true\n---\n"
        "You review changes. List defects first, each with file and line.\n"
    ),
    "implementer": (
        "---\nmodel: codex/gpt-5.3-codex\neffort: xhigh\nrole: implementer\n"
        "description: Writes the change and its tests.\nyolo: true\nfast_mode: false\n"
        "permission_mode: acceptEdits\ntimeout: 3600\nresume_on_timeout: once\n---\n"
        "You write small, tested changes.\n"
    ),
    "researcher": (
        "---\nprovider: openai\nmodel: gpt-5.2\nrole: researcher\nmode: evidential\n"
        "description: Collects sources and dates.\nguidance: Quote the source of every number.\n"
        "x-team-owner: docs\n---\nYou research a question and return notes.\n"
    ),
    "default": (
        "---\nprovider: claude_code\nmodel: haiku\ndescription: Plain assistant.\nlion_system: false\n---\nAnswer briefly.\n"
    ),
    "orchestrator": (
        "---\nprovider: claude_code\nmodel: opus\nlion_system: true\nrole: orchestrator\n"
        "description: Plans and delegates; a system agent, not editable.\n---\nYou plan.\n"
    ),
}

PLAYBOOK_FILES = {
    "release": (
        "name: release\ndescription: Prepare a release branch.\nmodel: claude_code/sonnet\neffort: high\n"
        "argument-hint: '[--version X] [notes...]'\nworkers: 3\nmax-ops: 8\nwith-synthesis: true\n"
        "args:\n  version:\n    type: str\n    default: next\n    help: version to cut\n"
        "  dry:\n    type: bool\n    default: false\n    help: only show what would change\n"
        "prompt: |\n  Cut release {version}. Dry run: {dry}.\n  Extra notes: {input}\n"
        "artifacts:\n  expected:\n    - id: changelog\n      path: CHANGELOG.md\n      required: true\n"
        "      description: the new section\n"
    ),
    "audit": (
        "description: Two reviewers and a summary.\nagent: reviewer\nworkers: 2\nteam_mode: audit\n"
        "prompt: |\n  Audit this area: {input}\n"
    ),
    "pipeline": (
        "name: pipeline\ndescription: Steps with links.\nmodel: codex/gpt-5.3-codex\n"
        "steps:\n  plan:\n    prompt: Plan it.\n  build:\n    prompt: Build it.\n  check:\n    prompt: Check it.\n"
        "links:\n  - {from: plan, to: build}\n  - {from: build, to: check}\n"
        "prompt: |\n  Work on {input}\n"
    ),
}

SKILL_FILES = {
    "changelog": (
        "---\nname: changelog\ndescription: How to write a changelog entry.\nallowed-tools: [Read, Grep]\n---\n"
        "# Changelog\n\nOne line per change, newest first.\n"
    ),
    "bisect": (
        "---\nname: bisect\ndescription: Find the commit that broke a test.\n---\n# Bisect\n\nStart from a known good tag.\n"
    ),
}


async def build_definitions(home: Path, now: float) -> None:
    from lionagi.studio.services import definitions as defs

    t = now - 20 * D
    for i, (name, text) in enumerate(AGENT_FILES.items()):
        at(t + i * 60)
        if name == "orchestrator":  # a protected file cannot be saved through Studio once it exists
            (home / "agents").mkdir(parents=True, exist_ok=True)
            (home / "agents" / f"{name}.md").write_text(text)
            continue
        await defs.save_definition("agent", name, text, "first version")
    # directory layout: agents/<n>/<n>.md
    nested = home / "agents" / "security" / "security.md"
    nested.parent.mkdir(parents=True, exist_ok=True)
    nested.write_text(
        "---\nprovider: claude_code\nmodel: sonnet\nrole: reviewer\nmode: adversarial\n"
        "description: Looks for security problems.\n---\nThink like an attacker.\n"
    )
    (nested.parent / "notes.txt").write_text("not a definition\n")
    at(now - 12 * D)
    await defs.save_definition("agent", "reviewer", AGENT_FILES["reviewer"] + "Say nothing about style.\n", "no style remarks")
    at(now - 6 * D)
    await defs.save_definition(
        "agent",
        "reviewer",
        AGENT_FILES["reviewer"].replace("effort: high", "effort: medium") + "Say nothing about style.\n",
        "cheaper",
    )
    at(now - 5 * D)
    await defs.rollback_definition("agent", "reviewer", 2)
    for i, (name, text) in enumerate(PLAYBOOK_FILES.items()):
        at(now - 19 * D + i * 60)
        await defs.save_definition("playbook", name, text, None if i else "imported")
    at(now - 3 * D)
    await defs.save_definition("playbook", "audit", PLAYBOOK_FILES["audit"].replace("workers: 2", "workers: 4"), "four workers")
    for i, (name, text) in enumerate(SKILL_FILES.items()):
        at(now - 18 * D + i * 60)
        await defs.save_definition("skill", name, text, "added")
    # a legacy flat skill, a shared folder that is skipped, a broken one
    (home / "skills" / "triage.md").write_text(
        "---\nname: triage\ndescription: Sort incoming reports.\n---\nLabel, then assign.\n"
    )
    (home / "skills" / "_shared").mkdir(exist_ok=True)
    (home / "skills" / "_shared" / "SKILL.md").write_text("---\nname: shared\n---\nskipped\n")
    broken = home / "skills" / "broken"
    broken.mkdir(exist_ok=True)
    (broken / "SKILL.md").write_text("---\nname: [unclosed\n---\nbroken front matter\n")
    # an edit made outside Studio, then picked up by "snapshot"
    p = home / "playbooks" / "release.playbook.yaml"
    p.write_text(p.read_text() + "use: changelog\n")
    at(now - 2 * D)
    await defs.snapshot_current("playbook")


# --------------------------------------------------------------------------- engine / workflow defs

ENGINE_DEFS = [
    ("ed-research", "deep-research", "research", "openai/gpt-5.2", 3, 12, None, "Ask, search, write."),
    ("ed-review", "branch-review", "review", "claude_code/sonnet", 2, 6, None, "Review a branch."),
    ("ed-coding", "fix-tests", "coding", "codex/gpt-5.3-codex", None, None, {"test_cmd": "pytest"}, None),
    ("ed-plan", "roadmap", "planning", None, None, 4, {"export_dir": "out"}, "Plan a quarter."),
    ("ed-hypo", "why-slow", "hypothesis", None, 2, 3, None, "Explain a slowdown."),
]

WF_ALL = {
    "version": 1,
    "inputs": ["topic"],
    "outputs": ["summary"],
    "nodes": [
        {"id": "start", "kind": "input", "label": "Topic", "pos": {"x": 0, "y": 80}, "config": {}},
        {
            "id": "draft",
            "kind": "chat",
            "label": "Draft",
            "pos": {"x": 220, "y": 40},
            "config": {"prompt": "Draft a note about {topic}", "model": "openai/gpt-4.1-mini"},
        },
        {"id": "split", "kind": "fanout", "label": "Split", "pos": {"x": 220, "y": 160}, "config": {"count": 3}},
        {
            "id": "facts",
            "kind": "parse",
            "label": "Facts",
            "pos": {"x": 440, "y": 40},
            "config": {"schema": {"facts": "list[str]"}},
        },
        {
            "id": "dig",
            "kind": "engine",
            "label": "Dig",
            "pos": {"x": 440, "y": 160},
            "config": {"engine_def_id": hid("ed-research")},
        },
        {"id": "wrap", "kind": "chat", "label": "Wrap up", "pos": {"x": 660, "y": 100}, "config": {"prompt": "Summarise."}},
    ],
    "edges": [
        {"id": "e1", "from": "start", "to": "draft"},
        {"id": "e2", "from": "start", "to": "split"},
        {"id": "e3", "from": "draft", "to": "facts"},
        {"id": "e4", "from": "split", "to": "dig", "label": "each"},
        {"id": "e5", "from": "facts", "to": "wrap", "condition": "len(facts) > 0"},
        {"id": "e6", "from": "dig", "to": "wrap"},
    ],
}
WF_RUN = {
    "version": 1,
    "inputs": ["topic"],
    "outputs": ["answer"],
    "nodes": [
        {"id": "in", "kind": "input", "pos": {"x": 0, "y": 0}, "config": {}},
        {
            "id": "ask",
            "kind": "chat",
            "label": "Ask",
            "pos": {"x": 200, "y": 0},
            "config": {"prompt": "Answer: {topic}", "model": "claude_code/haiku"},
        },
        {
            "id": "answer",
            "kind": "engine",
            "label": "Research",
            "pos": {"x": 400, "y": 0},
            "config": {"engine_def_id": hid("ed-research")},
        },
    ],
    "edges": [{"id": "e1", "from": "in", "to": "ask"}, {"id": "e2", "from": "ask", "to": "answer"}],
}


async def build_defs_tables(db, now: float) -> None:
    from lionagi.studio.services import engine_defs as eds
    from lionagi.studio.services import workflow_defs as wds

    for i, (lab, name, kind, model, depth, agents, options, desc) in enumerate(ENGINE_DEFS):
        row = {
            "id": hid(lab),
            "name": name,
            "kind": kind,
            "model": model,
            "max_depth": depth,
            "max_agents": agents,
            "options": options,
            "description": desc,
            "created_at": now - 15 * D + i,
            "updated_at": now - 10 * D + i,
        }
        eds._validate_kind(kind)
        eds._validate_options(options)
        eds._validate_kind_options(kind, options)
        at(now - 15 * D + i)
        await db.create_engine_def(row)
    for i, (lab, name, spec, desc) in enumerate(
        [
            ("wf-all", "every-node-kind", WF_ALL, "One node of each kind; can be saved, not run."),
            ("wf-run", "ask-and-research", WF_RUN, "Runs: input, chat, engine."),
            ("wf-empty", "blank", None, None),
        ]
    ):
        wds._validate_spec(spec)
        at(now - 9 * D + i)
        await db.create_workflow_def({"id": hid(lab), "name": name, "description": desc, "spec_json": spec})


# --------------------------------------------------------------------------- projects


async def build_projects(db, now: float) -> None:
    rows = [
        ("atlas", "config_toml", "/srv/demo/atlas", "demo-org/atlas"),
        ("beacon", "git_remote", "/srv/demo/beacon", "demo-org/beacon"),
        ("cobalt", "global_override", "/srv/demo/cobalt", None),
        ("dune", "explicit", None, None),
        ("ember", "cwd_dir", "/srv/demo/ember", None),
    ]
    for i, (name, source, path, gh) in enumerate(rows):
        at(now - 25 * D + i * 100)
        await db.register_project(name, source, path=path, github=gh)
    at(now - 24 * D)
    await db.create_project("fjord", github="demo-org/fjord", description="Created in Studio.", path="/srv/demo/fjord")
    at(now - 24 * D + 5)
    await db.update_project("beacon", description="Signals and lights.")


# --------------------------------------------------------------------------- sessions


class World:
    def __init__(self, db, now: float, home: Path):
        self.db, self.now, self.home = db, now, home
        self.sessions: dict[str, str] = {}
        self.count = 0

    # -- one session ------------------------------------------------------------------
    async def session(
        self,
        label: str,
        *,
        start: float,
        kind: str | None = "agent",
        name: str = "agent",
        talk=None,  # callable(Talk) or list of (branch label, callable, branch kw)
        end: tuple | None = None,  # (status, reason_code, summary, after_seconds, kw)
        sid: str | None = None,
        meta: dict | None = None,
        markers: bool = True,
        usage: tuple | None = None,  # in, out, cost, turns
        contract: dict | None = None,
        verification: dict | None = None,
        artifacts: bool = False,
        tags=(),
        last_activity: float | None = None,
        first_status: str | None = "running",
        **cols,
    ) -> str:
        db = self.db
        sid = sid or uid("session:" + label)
        self.sessions[label] = sid
        self.count += 1
        t0 = self.now - start
        at(t0)
        run_id = cols.pop("run_id", None)
        if run_id is None and cols.get("source_kind", "live") == "live" and kind and markers:
            run_id = time.strftime("%Y%m%dT%H%M%S", time.gmtime(t0)) + "-" + hid("run:" + label, 6)
        if run_id == "":
            run_id = None
        node_meta: dict = {"lion_class": "lionagi.session.session.Session"}
        if markers and first_status == "running":
            node_meta |= {
                "pid": 40_000 + self.count,
                "pid_create_time": round(t0 - 1.5, 2),
                "pid_host": DEMO_HOST,
                "pid_boot_time": self.now - 31 * D,
                "process_identity_mode": "local",
            }
            if kind == "agent":
                node_meta["drains_controls"] = True
        node_meta |= meta or {}
        if markers and cols.get("provider") and cols.get("model") and "/" not in cols["model"]:
            cols["model"] = f"{cols['provider']}/{cols['model']}"  # what live writers store
        sprog = uid("prog:" + label)
        await db.create_progression(sprog)
        row = {
            "id": sid,
            "created_at": t0,
            "updated_at": t0,
            "name": name,
            "progression_id": sprog,
            "run_id": run_id,
            "node_metadata": node_meta,
            "invocation_kind": kind,
            "status": first_status,
            "started_at": t0,
            "artifact_contract_json": contract,
            "artifacts_path": f"{DEMO_HOME}/runs/{run_id}/artifacts" if artifacts and run_id else None,
            **{k: v for k, v in cols.items() if k not in ("user_label",)},
        }
        await db.create_session(row)

        branches = talk if isinstance(talk, list) else [("main", talk, {})]
        first = last = None
        for bi, (blabel, fn, bkw) in enumerate(branches):
            bkw = dict(bkw)
            bid = uid(f"branch:{label}:{blabel}")
            bprog = uid(f"prog:{label}:{blabel}")
            tk = Talk(f"{label}:{blabel}", bid, t0 + 3 + bi * bkw.pop("delay", 2.0), bkw.pop("step", 7.0))
            if fn:
                fn(tk)
            at(t0 + 1 + bi * 0.5)
            await db.create_progression(bprog)
            sysmsg = tk.out[0] if tk.out and tk.out[0]["role"] == "system" else None
            if sysmsg:
                await db.insert_message(sysmsg)
            bstatus, bend = bkw.pop("status", None), bkw.pop("ended", None)
            await db.create_branch(
                {
                    "id": bid,
                    "created_at": t0 + 1 + bi * 0.5,
                    "name": blabel,
                    "session_id": sid,
                    "progression_id": bprog,
                    "system_msg_id": sysmsg["id"] if sysmsg else None,
                    "node_metadata": {"lion_class": "lionagi.session.branch.Branch"},
                    "model": bkw.pop("model", cols.get("model")),
                    "provider": bkw.pop("provider", cols.get("provider")),
                    "agent_name": bkw.pop("agent_name", cols.get("agent_name")),
                }
            )
            for m in tk.out:
                if m is sysmsg and kind == "agent" and markers:
                    continue  # `li agent` links its system message from the branch only
                at(m["created_at"])
                await db.insert_messages([m], progression_ids=[bprog, sprog], session_id=sid, activity_at=m["created_at"])
                first = first or m["id"]
                last = m["id"]
            if bstatus:
                at(t0 + 2)
                await db.update_branch(bid, status=bstatus if bstatus == "running" else "running", started_at=t0 + 1 + bi * 0.5)
                if bstatus != "running":
                    await db.finalize_branch(bid, status=bstatus, ended_at=bend or tk.t)
            t_end = tk.t
        if last_activity is not None:
            at(self.now - last_activity)
            await db.touch_session_activity(sid, at=self.now - last_activity)
        if end:
            status, code, summary, after, *rest = end
            kw = rest[0] if rest else {}
            te = at(t0 + after)
            if first:
                await db.update_session(sid, first_msg_id=first, last_msg_id=last)
            if verification is not None:
                await db.update_artifact_verification(sid, verification)
            if usage:
                i, o, c, n = usage
                await db.update_session(sid, input_tokens=i, output_tokens=o, total_cost_usd=c, num_turns=n)
            await db.update_status(
                "session",
                sid,
                new_status=status,
                reason_code=code,
                reason_summary=summary,
                source=kw.get("source", "executor"),
                actor=kw.get("actor", sid),
                evidence_refs=kw.get("evidence"),
                extra_fields={"ended_at": te, "duration_ms": (te - t0) * 1000, "current_phase": None},
            )
        elif usage:
            i, o, c, n = usage
            await db.update_session(sid, input_tokens=i, output_tokens=o, total_cost_usd=c, num_turns=n)
        if cols.get("user_label"):
            await db.set_session_user_label(sid, cols["user_label"])
        for tag in tags:
            from lionagi.studio.services import run_tags

            await run_tags.add_tag(sid, tag)
        return sid


OK = ("completed", "run.completed.ok", "completed")


def chat(topic, turns=2, tool=True, err=False):
    def fn(t: Talk):
        t.system(f"You are a careful assistant. Area: {topic}.")
        t.user(f"Look at {topic} and tell me what to do.", prompt_context=[{"area": topic}])
        for i in range(turns):
            if tool:
                t.tool("read_file", {"path": f"src/{topic}/part{i}.py"}, f"def part{i}():\n    return {i}\n")
            t.say(f"Step {i + 1} for {topic}: checked part {i}, nothing surprising.")
        if err:
            t.tool("bash", {"command": "pytest -q"}, "Exit code: 1\n1 failed, 12 passed", None)
            t.say("One test fails; see above.")

    return fn


def every_message_type(t: Talk):
    t.system("You review changes.", dt="2026-11-30 00:40")
    t.user(
        "Review the diff and return a verdict.",
        guidance="Be brief.",
        prompt_context=[{"file": "src/atlas/core.py"}, "second context item"],
        plain_content="Review the diff",
        tool_schemas=[{"type": "function", "function": {"name": "read_file"}}],
    )
    t.say("I will read the file first.", meta={"model_response": {"model": "sonnet", "usage": {"output_tokens": 9}}})
    t.tool(
        "read_file", {"path": "src/atlas/core.py"}, {"text": "x = 1\n", "lines": 1}, parallel=[("grep", {"pattern": "TODO"}, [])]
    )
    t.tool("bash", {"command": "ruff check ."}, "Exit code: 2\nerror: unused import", error="command failed")
    t.tool("edit_file", {"path": "src/atlas/core.py", "old": "x = 1", "new": "x = 2"}, {"ok": True, "path": "src/atlas/core.py"})
    t.say("## Verdict\n\n- **1 defect**: unused import\n- fixed in place\n\n```python\nx = 2\n```\n")
    t.user("Show the picture again", images=["https://example.invalid/a.png"], image_detail="low")
    t.say({"verdict": "approve", "score": 0.9})  # structured answer kept as an object
    t.say("A vector is attached", embedding=[0.5, -0.25, 1.0])
    t.say("Unicode: café, 漢字, emoji 🙂, tabs\tand\u001b[31m escape")


def long_talk(n):
    def fn(t: Talk):
        t.system("Long session.")
        for i in range(n):
            t.user(f"Question {i}")
            t.tool("lookup", {"i": i}, {"value": i * i})
            t.say(f"Answer {i}: " + "lorem ipsum " * (i % 9 + 1))

    return fn


def profile_hash(name: str) -> str:
    return hashlib.sha256(AGENT_FILES[name].encode()).hexdigest()[:16]


async def build_sessions(w: World) -> None:
    db, now = w.db, w.now
    S = w.session
    cc = {
        "model": "sonnet",
        "provider": "claude_code",
        "agent_name": "reviewer",
        "effort": "high",
        "agent_hash": profile_hash("reviewer"),
    }
    cx = {
        "model": "gpt-5.3-codex",
        "provider": "codex",
        "agent_name": "implementer",
        "effort": "xhigh",
        "agent_hash": profile_hash("implementer"),
    }
    oa = {"model": "gpt-5.2", "provider": "openai", "agent_name": "researcher"}
    pa = {"project": "atlas", "project_source": "config_toml"}
    pb = {"project": "beacon", "project_source": "git_remote"}
    pc = {"project": "cobalt", "project_source": "global_override"}

    # ---- running -------------------------------------------------------------------
    await S(
        "run-fresh",
        start=130,
        talk=every_message_type,
        last_activity=20,
        artifacts=True,
        usage=(1800, 420, 0.031, 3),
        tags=("hot",),
        **cc,
        **pa,
    )
    await S("run-idle", start=3 * H, talk=chat("billing"), last_activity=2 * H, artifacts=True, **cx, **pb)
    await S("run-stale", start=10 * H, talk=chat("exports"), last_activity=8 * H, artifacts=True, **oa, **pb)
    await S("run-orphan", start=9 * H, talk=None, last_activity=9 * H, **cc)
    await S(
        "run-pending-tool",
        start=300,
        artifacts=True,
        talk=lambda t: (
            t.system("Worker.").user("Run the tests").tool("bash", {"command": "pytest -q tests/"}, None, answered=False)
        ),
        last_activity=60,
        **cx,
        **pa,
    )
    # ---- completed -----------------------------------------------------------------
    contract = {
        "expected": [
            {"id": "report", "path": "report.md", "required": True, "description": "findings", "source": "agent_profile"},
            {"id": "data", "path": "data.json", "required": False, "source": "playbook"},
        ]
    }
    await S(
        "done-artifacts",
        start=5 * H,
        talk=chat("core", 3),
        end=(*OK, 640),
        artifacts=True,
        contract=contract,
        verification={
            "status": "warning",
            "checked_at": now - 5 * H + 639,
            "missing_required": [],
            "missing_optional": [{"id": "data", "path": "data.json"}],
            "produced": [{"id": "report", "path": "report.md", "size": 2480, "present": True}],
        },
        usage=(12000, 3100, 0.2145, 9),
        tags=("release", "keep"),
        **cc,
        **pa,
    )
    await S(
        "done-labelled",
        start=20 * H,
        talk=chat("docs"),
        end=(*OK, 95),
        user_label="Docs sweep (label)",
        usage=(4000, 900, 0.045, 4),
        tags=("docs",),
        **cc,
        **pa,
    )
    await S("done-openai", start=26 * H, talk=chat("search", 1, tool=False), end=(*OK, 33), usage=(900, 250, None, 2), **oa)
    await S(
        "done-codex", start=28 * H, talk=chat("parser", 2, err=True), end=(*OK, 410), usage=(50000, 8100, None, 21), **cx, **pb
    )
    await S("done-free", start=30 * H, talk=chat("cache", 1), end=(*OK, 18), usage=(100, 20, 0.0, 1), **cc, **pc)
    await S(
        "done-long",
        start=2 * D,
        talk=[("main", long_talk(70), {"step": 4.0})],
        end=(*OK, 1300),
        usage=(180000, 22000, 1.75, 70),
        tags=("long",),
        **cc,
        **pa,
    )
    await S(
        "done-gate",
        start=2.2 * D,
        kind="play",
        name="play",
        playbook_name="release",
        talk=chat("release"),
        end=("completed", "run.completed.gate_rejected", "gate 'check' rejected; 2 operations skipped", 720),
        usage=(9000, 1500, 0.12, 6),
        **cc,
        **pa,
    )
    await S(
        "done-spawn-refused",
        start=2.4 * D,
        kind="flow",
        name="flow",
        talk=chat("spawn"),
        end=("completed", "run.completed.spawn_refused", "1 spawn request refused", 300),
        **cx,
        **pa,
    )
    await S(
        "done-finalize",
        start=2.6 * D,
        kind="flow",
        name="flow",
        talk=chat("finalize"),
        end=(
            "completed",
            "run.completed.finalize_error",
            "OSError: disk full",
            300,
            {"evidence": [{"kind": "finalize_error", "id": "OSError", "label": "disk full"}]},
        ),
        **cx,
        **pa,
    )
    await S(
        "empty-1",
        start=7 * H,
        talk=chat("noop", 1, tool=False),
        end=("completed_empty", "run.completed_empty.no_evidence", "no commits or artifacts", 44),
        **cx,
        **pb,
    )
    await S(
        "empty-2",
        start=3.1 * D,
        talk=chat("noop2", 1, tool=False),
        end=("completed_empty", "run.completed_empty.no_evidence", "no commits or artifacts", 61),
        **cx,
    )
    # ---- failed --------------------------------------------------------------------
    fails = [
        ("fail-exc", 1.5 * H, "run.failed.exception", "ValueError: bad row 17", 61),
        ("fail-exit", 4 * H, "run.failed.exit_nonzero", "exit code 3", 15),
        ("fail-retry", 6 * H, "run.failed.provider_retryable", "429 rate limited", 9),
        ("fail-noretry", 27 * H, "run.failed.provider_nonretryable", "401 unauthorized", 4),
        ("fail-write", 3 * D, "run.failed.artifact_write", "could not write report.md", 90),
        ("fail-esc", 4 * D, "run.failed.escalated", "declared output missing", 200),
    ]
    for lab, ago, code, summary, dur in fails:
        await S(
            lab,
            start=ago,
            talk=chat(lab, 1, err=True),
            end=("failed", code, summary, dur),
            usage=(700, 120, 0.009, 1),
            **cc,
            **(pa if ago < D else {}),
        )
    await S(
        "fail-missing",
        start=8 * H,
        talk=chat("reports", 1),
        artifacts=True,
        contract=contract,
        verification={
            "status": "failed",
            "checked_at": now - 8 * H + 70,
            "missing_required": [{"id": "report", "path": "report.md"}],
            "missing_optional": [],
            "produced": [],
        },
        end=(
            "failed",
            "run.failed.missing_artifact",
            "missing required artifact: report",
            71,
            {"evidence": [{"kind": "expected_artifact", "id": "report", "label": "report.md"}]},
        ),
        **cc,
        **pa,
    )
    # ---- timed out / aborted / cancelled --------------------------------------------
    await S(
        "timeout-1",
        start=11 * H,
        talk=chat("slow", 1),
        end=("timed_out", "run.timed_out.deadline", "deadline 3600s", 3600),
        **cc,
        **pa,
    )
    await S(
        "timeout-2",
        start=5 * D,
        kind="fanout",
        name="fanout",
        talk=chat("slow2", 1),
        end=("timed_out", "run.timed_out.deadline", "deadline 7200s", 7200),
        **cx,
    )
    await S("aborted-1", start=13 * H, talk=chat("oops", 1), end=("aborted", "run.aborted.user", "user abort", 20), **cc)
    for lab, code in (
        ("cancel-int", "run.cancelled.sigint"),
        ("cancel-term", "run.cancelled.sigterm"),
        ("cancel-kill", "run.cancelled.manual_kill"),
        ("cancel-force", "run.cancelled.force_kill"),
        ("cancel-orch", "run.cancelled.orchestrator"),
    ):
        await S(lab, start=14 * H + len(lab) * 400, talk=chat(lab, 1), end=("cancelled", code, "stopped", 120), **cc, **pb)

    # ---- flows / fanouts with several branches ---------------------------------------
    agents = ["planner", "builder", "checker"]

    def graph(status=None, spawned=False):
        ops = [
            {"id": "planner", "agent_id": "planner", "control": False, "depends_on": []},
            {"id": "builder", "agent_id": "builder", "control": False, "depends_on": ["planner"]},
            {"id": "checker", "agent_id": "checker", "control": False, "depends_on": ["planner", "builder"]},
        ]
        return {
            "reactive": False,
            "max_spawn": 0,
            "agents": [{"id": a, "name": a, "model": "codex/gpt-5.3-codex"} for a in agents],
            "operations": ops,
        }

    def legs(statuses):
        return [("orchestrator", chat("plan", 1, tool=False), {"model": "claude_code/opus"})] + [
            (a, chat(a, 2), {"status": st, "model": "codex/gpt-5.3-codex", "agent_name": a, "delay": 30.0})
            for a, st in zip(agents, statuses)
        ]

    await S(
        "flow-running",
        start=900,
        kind="flow",
        name="flow",
        artifacts=True,
        talk=legs(["completed", "running", None]),
        last_activity=45,
        meta={**graph(), "flow_control_poller": "active"},
        **pa,
        model="opus",
        provider="claude_code",
        agent_name="orchestrator",
    )
    await db.update_session(w.sessions["flow-running"], current_phase="builder")
    await S(
        "flow-done",
        start=1.1 * D,
        kind="flow",
        name="flow",
        artifacts=True,
        talk=legs(["completed", "completed", "completed"]),
        meta={**graph(), "flow_control_poller": "stopped"},
        usage=(42000, 9000, 0.92, 18),
        end=(*OK, 1500),
        **pa,
        model="opus",
        provider="claude_code",
        agent_name="orchestrator",
    )
    await S(
        "flow-failed",
        start=1.7 * D,
        kind="flow",
        name="flow",
        talk=legs(["completed", "failed", None]),
        meta={**graph(), "flow_control_poller": "stopped"},
        end=("failed", "run.failed.exception", "builder failed: exit code 2", 800),
        **pb,
        model="opus",
        provider="claude_code",
        agent_name="orchestrator",
    )
    await S(
        "fanout-done",
        start=2.9 * D,
        kind="fanout",
        name="fanout",
        talk=[(f"worker-{i}", chat(f"w{i}", 1), {"model": "openai/gpt-5.2"}) for i in (1, 2, 3)],
        meta={
            "workers": ["openai/gpt-5.2"] * 3,
            "synthesis_model": None,
            "agents": [{"id": f"worker-{i}", "name": f"worker-{i}", "model": "openai/gpt-5.2"} for i in (1, 2, 3)],
            "operations": [
                {"id": f"worker-{i}", "agent_id": f"worker-{i}", "control": False, "spawned": False, "depends_on": []}
                for i in (1, 2, 3)
            ],
        },
        end=(*OK, 260),
        usage=(6000, 2400, 0.08, 3),
        **pb,
        model="gpt-5.2",
        provider="openai",
    )
    # a workflow-defs run: authored graph stored as early_graph
    from lionagi.studio.services.workflow_compile import build_early_graph

    await S(
        "workflow-run",
        start=3.3 * D,
        kind="flow",
        name="ask-and-research",
        meta={"early_graph": build_early_graph(WF_RUN)},
        talk=chat("workflow", 1),
        end=(*OK, 75),
        **pa,
        model="haiku",
        provider="claude_code",
    )
    # ---- plays ---------------------------------------------------------------------
    await S(
        "play-running",
        start=1500,
        kind="play",
        name="play",
        playbook_name="audit",
        artifacts=True,
        talk=chat("audit", 2),
        last_activity=100,
        meta={"flow_control_poller": "pending"},
        **cc,
        **pb,
    )
    await S(
        "play-failed",
        start=1.2 * D,
        kind="play",
        name="play",
        playbook_name="pipeline",
        talk=chat("pipeline", 1),
        end=("failed", "run.failed.exception", "step build failed", 222),
        **cx,
        **pb,
    )
    # ---- show plays ----------------------------------------------------------------
    for lab, topic, play, ago, end in (
        ("sp-parser", "atlas-v2", "parser", 30 * H, (*OK, 1800)),
        ("sp-lexer", "atlas-v2", "lexer", 29 * H, (*OK, 1500)),
        ("sp-docs", "atlas-v2", "docs", 3.5 * H, None),
        ("sp-bench", "atlas-v2", "bench", 22 * H, ("failed", "run.failed.exception", "bench crashed", 300)),
        ("sp-ui", "beacon-ui", "ui", 6 * D, (*OK, 2000)),
        ("sp-api", "beacon-ui", "api", 6.1 * D, (*OK, 2100)),
    ):
        await S(
            lab,
            start=ago,
            kind="show-play",
            name=f"show_{topic}_{play}",
            show_topic=topic,
            show_play_name=play,
            talk=chat(play, 1),
            end=end,
            artifacts=True,
            last_activity=None if end else 600,
            **cx,
            **(pa if topic == "atlas-v2" else pb),
        )
    # ---- imported / mirrored ---------------------------------------------------------
    for i in (1, 2):
        await S(
            f"imp-fs-{i}",
            start=(8 + i) * D,
            kind="agent",
            name="agent",
            source_kind="imported_fs",
            first_status="completed",
            markers=False,
            talk=chat(f"old{i}", 1),
            ended_at=now - (8 + i) * D + 50,
            model="sonnet",
            provider="claude_code",
        )
    await S(
        "imp-fs-approx",
        start=12 * D,
        kind="flow",
        name="flow",
        source_kind="imported_fs",
        first_status="failed",
        markers=False,
        talk=chat("old3", 1),
    )  # no end given -> approximate
    for i, (end, ago) in enumerate(((OK, 16 * H), (None, 0.3 * H), (OK, 3.6 * D))):
        await S(
            f"mirror-cc-{i}",
            start=ago,
            kind="agent",
            name="fix the login page",
            markers=False,
            agent_name="claude-code",
            model="<synthetic>" if i == 2 else "claude-sonnet-4-5",
            provider="claude_code",
            run_id="",
            cc_session_id=uid(f"cc:{i}"),
            meta={"process_identity_mode": "external"},
            talk=chat(f"mirror{i}", 2),
            last_activity=None if end else 200,
            end=(*end, 500) if end else None,
            usage=(3000, 800, 0.05, 4),
            **pa,
        )
    for i, ago in enumerate((18 * H, 5.5 * D)):
        await S(
            f"mirror-cx-{i}",
            start=ago,
            kind="agent",
            name="codex session",
            markers=False,
            source_kind="imported_codex",
            model="gpt-5.3-codex",
            provider="codex",
            run_id="",
            cc_session_id=uid(f"cx:{i}"),
            meta={"process_identity_mode": "external", "codex_import": {"version": 1}},
            talk=chat(f"codex{i}", 1),
            end=(*OK, 300),
            usage=(2000, 500, None, None),
        )
    # ---- odd rows ------------------------------------------------------------------
    await S("null-kind", start=6.3 * D, kind=None, name="session", markers=False, talk=chat("loose", 1), end=(*OK, 12))
    await S("null-status", start=7.5 * D, kind="agent", name="session", markers=False, first_status=None, talk=chat("ancient", 1))
    # resumed: terminal -> running through the reopen override, then completed again
    sid = await S(
        "resumed", start=15 * H, talk=chat("retry", 1), end=("failed", "run.failed.exit_nonzero", "exit code 1", 60), **cc, **pa
    )
    at(now - 14 * H)
    await db.update_status(
        "session",
        sid,
        new_status="running",
        reason_code="session.reopened.by_resume",
        reason_summary="resumed",
        source="executor",
        actor=sid,
        override=True,
        override_actor="li agent -r",
        override_justification="resume of a finished run",
        extra_fields={"ended_at": None, "duration_ms": None},
    )
    at(now - 14 * H + 90)
    await db.update_status(
        "session",
        sid,
        new_status="completed",
        reason_code="run.completed.ok",
        reason_summary="completed",
        source="executor",
        actor=sid,
        extra_fields={"ended_at": now - 14 * H + 90},
    )
    # phantom reaped: what the daemon's reaper leaves
    await S(
        "phantom",
        start=1.4 * D,
        talk=chat("gone", 1),
        end=(
            "failed",
            "session.phantom.process_dead",
            "phantom_reaped",
            2 * H,
            {
                "source": "system",
                "actor": "phantom_reaper",
                "evidence": [{"kind": "phantom_classification", "reason": "process_dead", "session_id": uid("session:phantom")}],
            },
        ),
        **cc,
        **pb,
    )
    # history rows for statistics
    for i in range(8):
        await S(
            f"hist-{i}",
            start=(6.5 + i * 0.9) * D,
            talk=chat(f"hist{i}", 1, tool=i % 2 == 0),
            end=(*OK, 40 + i * 11),
            usage=(1000 * (i + 1), 200 * (i + 1), 0.01 * (i + 1), i + 1),
            **(cc if i % 2 else cx),
            **(pc if i % 3 == 0 else pb),
        )

    # body removed by retention: the marker lionagi leaves in place of the content
    mid = uid("msg:hist-0:main:3")
    await db.execute(  # RAW: prune_message_bodies works on age, here one row is enough
        "UPDATE messages SET content = :c WHERE id = :id",
        {"c": json.dumps({"lion_content_pruned": {"at": now - D, "original_bytes": 18234}}), "id": mid},
    )
    # an id in a progression whose message was pruned away
    prog = uid("prog:hist-1:main")
    ids = await db.get_progression(prog)
    await db.set_progression(prog, ids[:2] + [uid("msg:gone")] + ids[2:])
    # refused transition: terminal rows stay terminal (writes an admin event)
    from lionagi.state.db import TransitionRejectedError

    at(now - 4.5 * H)
    try:
        await db.update_status(
            "session",
            w.sessions["done-artifacts"],
            new_status="failed",
            reason_code="run.failed.exception",
            reason_summary="late failure",
            source="executor",
            actor="late-writer",
        )
    except TransitionRejectedError:
        pass
    # signals: what a small run emits
    sid = w.sessions["flow-running"]
    seq = [
        ("RunStart", "", {"name": "flow"}),
        ("NodeSpawned", "op-planner", {"name": "planner", "parent_id": None, "depends_on": []}),
        ("NodeQueued", "op-planner", {"name": "planner", "depends_on": []}),
        ("NodeStarted", "op-planner", {"name": "planner", "depends_on": []}),
        (
            "MessageAdded",
            "",
            {"message_ref": {"id": uid("msg:flow-running:planner:1"), "role": "user", "sender": "user", "recipient": "planner"}},
        ),
        ("NodeCompleted", "op-planner", {"name": "planner", "elapsed": 61.2, "depends_on": []}),
        ("NodeStarted", "op-builder", {"name": "builder", "depends_on": ["op-planner"]}),
        ("NodeAwaitingApproval", "op-builder", {"name": "builder"}),
        ("NodeQueued", "op-checker", {"name": "checker", "depends_on": ["op-planner", "op-builder"]}),
    ]
    for i, (k, op, p) in enumerate(seq):
        at(now - 880 + i * 30)
        await db.insert_session_signal(session_id=sid, kind=k, op_id=op, ts=now - 880 + i * 30, payload=p)
    sid = w.sessions["flow-failed"]
    for i, (k, op, p) in enumerate(
        [
            ("RunStart", "", {"name": "flow"}),
            ("NodeStarted", "op-builder", {"name": "builder"}),
            ("NodeFailed", "op-builder", {"name": "builder", "elapsed": 12.0, "error": "exit code 2"}),
            ("NodeSkipped", "op-checker", {"name": "checker", "depends_on": ["op-builder"]}),
            ("GateDenied", "op-checker", {"name": "checker", "reason": "upstream failed"}),
            ("RunFailed", "", {"error": "builder failed"}),
        ]
    ):
        await db.insert_session_signal(session_id=sid, kind=k, op_id=op, ts=now - 1.7 * D + i * 60, payload=p)
    sid = w.sessions["done-artifacts"]
    for i, (k, p) in enumerate(
        [
            ("RunStart", {"name": "agent"}),
            ("StructuredOutput", {"name": "report"}),
            (
                "RunEnd",
                {
                    "input_tokens": 12000,
                    "output_tokens": 3100,
                    "cached_tokens": 400,
                    "total_cost_usd": 0.2145,
                    "num_turns": 9,
                    "duration_ms": 640000.0,
                    "usage_valid": True,
                },
            ),
        ]
    ):
        await db.insert_session_signal(session_id=sid, kind=k, ts=now - 5 * H + i * 300, payload=p)
    # controls: pending, applied, rejected, claimed; one per verb
    fr, rf = w.sessions["flow-running"], w.sessions["run-fresh"]
    at(now - 500)
    c1 = await db.insert_session_control(session_id=fr, verb="pause", created_at=now - 500)
    await db.mark_session_control_applying(c1, owner="poller-1")
    await db.finalize_session_control(c1, result="applied")
    at(now - 400)
    c2 = await db.insert_session_control(session_id=fr, verb="resume", created_at=now - 400)
    await db.finalize_session_control(c2, result="applied")
    at(now - 90)
    c3 = await db.insert_session_control(
        session_id=fr, verb="message", payload={"text": "Skip the benchmarks."}, created_at=now - 90
    )
    await db.mark_session_control_applying(c3, owner="poller-1")
    at(now - 15)
    await db.insert_session_control(session_id=rf, verb="message", payload={"text": "Please hurry."}, created_at=now - 15)
    at(now - 10)
    c5 = await db.insert_session_control(session_id=fr, verb="stop", created_at=now - 10)
    await db.finalize_session_control(c5, result="rejected: not supported for this run")


# --------------------------------------------------------------------------- invocations


async def build_invocations(w: World) -> None:
    """(label, skill, plugin, prompt, ago, final, sessions that belong to it)"""
    db, now = w.db, w.now
    rows = [
        ("inv-running", "launch:flow", "studio_launch", "build the parser", 1000, None, ["flow-running"]),
        ("inv-running2", "scheduled:hourly-triage", "interval", "triage", 150, None, ["run-fresh"]),
        (
            "inv-done",
            "launch:agent",
            "studio_launch",
            "check core",
            5 * H,
            ("completed", "run.completed.ok", 640),
            ["done-artifacts"],
        ),
        ("inv-done-cmd", "scheduled:refresh-index", "interval", None, 3 * H, ("completed", "run.completed.ok", 12), []),
        (
            "inv-empty",
            "launch:agent",
            "studio_launch",
            "noop",
            7 * H,
            ("completed_empty", "run.completed_empty.no_evidence", 44),
            ["empty-1"],
        ),
        (
            "inv-failed",
            "scheduled:nightly-review",
            "cron",
            "review yesterday",
            27 * H,
            ("failed", "run.failed.provider_nonretryable", 4),
            ["fail-noretry"],
        ),
        (
            "inv-timeout",
            "launch:play",
            "studio_launch",
            "audit",
            11 * H,
            ("timed_out", "run.timed_out.deadline", 7200),
            ["timeout-1"],
        ),
        ("inv-aborted", "launch:agent", "studio_launch", "oops", 13 * H, ("aborted", "run.aborted.user", 20), ["aborted-1"]),
        (
            "inv-cancelled",
            "launch:agent",
            "studio_launch",
            "stop me",
            14 * H,
            ("cancelled", "run.cancelled.manual_kill", 120),
            ["cancel-kill"],
        ),
        (
            "inv-multi",
            "launch:fanout",
            "studio_launch",
            "three ways",
            2.9 * D,
            ("completed", "run.completed.ok", 260),
            ["fanout-done", "flow-done"],
        ),
        (
            "inv-reaped",
            "launch:agent",
            "studio_launch",
            "never started",
            1.9 * D,
            ("timed_out", "run.timed_out.deadline", 300),
            [],
        ),
    ]
    for lab, skill, plugin, prompt, ago, final, sess in rows:
        iid = hid(lab)
        t0 = at(now - ago - 2)
        meta = {"action_kind": "command"} if lab == "inv-done-cmd" else {"action_kind": "agent"}
        await db.create_invocation(
            {
                "id": iid,
                "skill": skill,
                "plugin": plugin,
                "prompt": prompt,
                "started_at": t0,
                "created_at": t0,
                "updated_at": t0,
                "node_metadata": meta,
            }
        )
        for s in sess:
            await db.attach_session_invocation(w.sessions[s], iid)
        if final:
            st, code, dur = final
            at(t0 + dur)
            reaped = lab == "inv-reaped"
            await db.update_status(
                "invocation",
                iid,
                new_status=st,
                reason_code=code,
                reason_summary="no session appeared" if reaped else st,
                source="system" if reaped else "executor",
                actor="invocation_reaper" if reaped else "studio_launch",
                evidence_refs=[{"kind": "invocation", "id": iid, "label": skill}] if reaped else None,
                extra_fields={"ended_at": t0 + dur},
            )


# --------------------------------------------------------------------------- artifacts


async def build_artifacts(w: World) -> None:
    db, now = w.db, w.now
    inv, ses = hid("inv-done"), w.sessions["done-artifacts"]
    items = [
        ("report", "findings", {"verdict": "approve", "defects": 1}, inv, ses, "report.md"),
        ("report", "summary", {"text": "inline only"}, inv, ses, None),
        ("log", "launch", {"lines": 12}, inv, None, "launch.log"),
        ("metric", "tokens", {"input": 12000, "output": 3100}, inv, None, None),
        ("diff", "patch", {"files": ["src/core.py"]}, None, ses, "patches/core.diff"),
        ("note", "todo", {"items": ["rename", "retest"]}, None, ses, None),
        ("dataset", "baseline", {"rows": 42}, None, None, "baselines/rows.csv"),
        ("note", "unattached", {"text": "belongs to nothing"}, None, None, None),
    ]
    for i, (kind, name, content, i_, s_, fp) in enumerate(items):
        at(now - 5 * H + 600 + i)
        await db.insert_artifact(kind=kind, name=name, content=content, invocation_id=i_, session_id=s_, file_path=fp)
    at(now - 4 * H)  # upsert by natural key: same id and created_at, new content and updated_at
    await db.insert_artifact(
        kind="report",
        name="findings",
        content={"verdict": "approve", "defects": 0},
        invocation_id=inv,
        session_id=ses,
        file_path="report.md",
    )


# --------------------------------------------------------------------------- runs on disk


async def build_run_dirs(w: World) -> None:
    """A few runs/<run_id>/ directories as `li agent` leaves them."""
    for lab in ("done-artifacts", "run-fresh", "flow-done"):
        row = await w.db.get_session(w.sessions[lab])
        rid = row["run_id"]
        d = w.home / "runs" / rid
        d.mkdir(parents=True)
        bid = (await w.db.list_branches(row["id"]))[0]["id"]
        (d / "run.json").write_text(
            json.dumps(
                {
                    "run_id": rid,
                    "state_root": f"{DEMO_HOME}/runs/{rid}",
                    "artifact_root": f"{DEMO_HOME}/runs/{rid}/artifacts",
                    "branch_id": bid,
                    "agent_name": row["agent_name"],
                    "provider": row["provider"],
                    "model": row["model"],
                    **({"invocation_kind": row["invocation_kind"]} if row["invocation_kind"] != "agent" else {}),
                    "status": row["status"],
                    "started_at": row["started_at"],
                    "ended_at": row["ended_at"],
                    "cwd": "/srv/demo/atlas",
                    "mcp_config_source": None,
                    "mcp_config_searched_from": "/srv/demo/atlas",
                    "mcp_config_explicit": False,
                    "mcp_config_reason": "no_config_found",
                },
                indent=2,
            )
        )
        (w.home / "last_branch.json").write_text(json.dumps({"run_id": rid, "branch_id": bid}))
        if lab == "done-artifacts":
            (d / "artifacts").mkdir()
            (d / "artifacts" / "report.md").write_text("# Findings\n\n" + "One defect, fixed.\n" * 130)
            (d / "artifacts" / "patches").mkdir()
            (d / "artifacts" / "patches" / "core.diff").write_text("--- a/core.py\n+++ b/core.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n")


# --------------------------------------------------------------------------- engine runs


async def build_engine_runs(w: World) -> None:
    db, now = w.db, w.now

    def envelope(status, kind, t0, t1, *, degraded=False, why=None, code=None, skipped=(), text=True):
        return {
            "version": 1,
            "status": status,
            "degraded": degraded,
            "degrade_reason": why,
            "reason_code": code,
            "skipped": list(skipped),
            "skipped_count": len(skipped),
            "result": {"kind": "text" if text else "none", "size_bytes": 2048 if text else 0},
            "output": {"present": False, "kind": None},
            "engine": {
                "kind": kind,
                "config_fingerprint": hid("cfg:" + kind, 16),
                "effective_model": None,
                "effective_model_source": "unknown",
            },
            "timing": {"started_at": t0, "ended_at": t1, "duration_ms": (t1 - t0) * 1000},
        }

    runs = [
        ("er-run", "research", {"topic": "solid state batteries"}, 700, None, {}),
        ("er-done", "research", {"topic": "pagination"}, 9 * H, ("completed", 420, None), {"reg": "x"}),
        (
            "er-degraded",
            "review",
            {"artifact": "branch feature/parser"},
            26 * H,
            ("completed", 300, None),
            {"degraded": True, "why": "emission_failure", "skipped": ["critic-2: no parseable output"]},
        ),
        (
            "er-failed",
            "coding",
            {"task": "make tests green", "test_cmd": "pytest"},
            30 * H,
            ("failed", 120, "RuntimeError: tests still red"),
            {"code": "all_agents_failed"},
        ),
        ("er-cancel", "planning", {"goal": "Q1"}, 3 * D, ("cancelled", 15, None), {}),
        ("er-hypo", "hypothesis", {"question": "why is export slow"}, 4 * D, ("completed", 600, None), {}),
    ]
    for lab, kind, spec, ago, final, opt in runs:
        rid = hid(lab, 32)
        t0 = now - ago
        await w.session(
            lab,
            start=ago,
            sid=rid,
            kind="engine",
            name=f"engine:{kind}",
            markers=True,
            talk=chat(kind, 1, tool=False),
            run_id="",
            last_activity=90 if final is None else None,
            end=None
            if final is None
            else (
                "completed" if final[0] == "completed" else final[0],
                {"completed": "run.completed.ok", "failed": "run.failed.exception", "cancelled": "run.cancelled.sigint"}[
                    final[0]
                ],
                final[0],
                final[1],
            ),
            project="atlas",
            project_source="config_toml",
        )
        at(t0)
        await db.insert_engine_run(run_id=rid, kind=kind, spec_json=spec, started_at=t0, session_id=rid)
        await db.set_engine_run_lineage(
            rid,
            invocation_id=hid("inv-multi") if lab == "er-hypo" else None,
            signal_session_id=rid,
            parent_session_id=w.sessions["workflow-run"] if lab == "er-hypo" else None,
        )
        if final:
            st, dur, err = final
            t1 = at(t0 + dur)
            await db.update_engine_run(
                rid, status=st, ended_at=t1, error=err, export_dir=f"{DEMO_HOME}/exports/{rid[:8]}" if lab == "er-done" else None
            )
            await db.record_engine_run_outcome(
                rid,
                envelope(
                    st,
                    kind,
                    t0,
                    t1,
                    degraded=opt.get("degraded", False),
                    why=opt.get("why"),
                    code=opt.get("code"),
                    skipped=opt.get("skipped", ()),
                    text=st == "completed",
                ),
            )


# --------------------------------------------------------------------------- schedules

FLOW_YAML = "name: digest\nmodel: claude_code/sonnet\nworkers: 2\nprompt: |\n  Write the weekly digest.\n"


async def build_schedules(w: World) -> None:
    from lionagi.state.lifecycle import ReasonRecord, ScheduleAuditContext
    from lionagi.studio.services import schedules as svc

    db, now = w.db, w.now
    day0 = now - (now % D)

    def ctx(origin):
        if origin == "browser":
            return ScheduleAuditContext(origin="browser", source="browser", failure_category="browser_unavailable")
        if origin == "scheduler":
            return ScheduleAuditContext(
                actor="scheduler",
                origin="scheduler",
                source="scheduler",
                assurance="system",
                actor_status="available",
                failure_category="cwd_unavailable",
            )
        return ScheduleAuditContext(
            actor="demo",
            submitting_cwd="/srv/demo/atlas",
            origin=origin,
            source=origin,
            assurance="client_reported" if origin == "http" else "client_resolved",
            actor_status="available",
            cwd_status="available",
            failure_category=None,
        )

    origins = {
        "nightly-review": "cli",
        "hourly-triage": "http",
        "pr-poll": "browser",
        "release-once": "cli",
        "beacon/nightly-beacon": "declaration",
        "fail-alarm": "mcp",
        "spent": "cli",
        "doomed": "cli",
    }

    member = {
        "description": "Nightly review of beacon.",
        "enabled": True,
        "trigger": {
            "cron": {"expression": "0 6 * * *", "timezone": "America/New_York"},
            "every": None,
            "at": None,
            "github": None,
        },
        "target": {"kind": "agent", "profile": "reviewer", "prompt": "Review yesterday's changes.", "model": None},
        "execution": {"cwd": "/srv/demo/beacon"},
        "policies": {
            "missedFire": "skip",
            "overlap": "skip",
            "maxRuns": None,
            "budget": {"usd": 2.0, "tokens": None},
            "rateLimit": None,
        },
        "notify": {"on": ["failed", "timed_out"], "command": "notify-send 'nightly review failed'"},
    }
    resolved = {
        "trigger": {"kind": "cron", "expression": "0 6 * * *", "timezone": "America/New_York"},
        "target": {
            "kind": "agent",
            "profile": "reviewer",
            "prompt": "Review yesterday's changes.",
            "model": "sonnet",
            "profile_digest": hashlib.sha256(b"reviewer").hexdigest(),
        },
        "execution": {"cwd": "/srv/demo/beacon", "project": "beacon"},
        "policies": member["policies"],
        "notify": member["notify"],
        "enabled": True,
    }
    digest = hashlib.sha256(json.dumps(resolved, sort_keys=True).encode()).hexdigest()

    L: list[dict] = [
        dict(
            lab="nightly-review",
            trigger_type="cron",
            cron_expr="0 2 * * *",
            action_kind="agent",
            action_model="claude_code/sonnet",
            action_prompt="Review yesterday's changes.",
            action_agent="reviewer",
            action_project="atlas",
            action_cwd="/srv/demo/atlas",
            description="Reads yesterday's commits.",
            next_fire_at=day0 + 2 * H + (D if now > day0 + 2 * H else 0),
            last_fired_at=day0 - D + 2 * H,
            budget_usd=5.0,
            budget_tokens=2_000_000,
            project="atlas",
            effective_timezone="UTC",
            effective_timezone_source="env:TZ",
            overlap_policy="skip",
            on_fail={"kind": "agent", "model": "claude_code/haiku", "prompt": "Explain the failure: {{parent_status}}"},
        ),
        dict(
            lab="hourly-triage",
            trigger_type="interval",
            interval_sec=3600,
            action_kind="agent",
            action_model="openai/gpt-5.2",
            action_prompt="Triage new reports.",
            action_project="beacon",
            project="beacon",
            next_fire_at=now + 3450,
            last_fired_at=now - 150,
            rate_limit={"max_fires": 6, "window_sec": 21600},
            on_success={
                "kind": "play",
                "playbook": "audit",
                "prompt": "--",
                "on_success": {"kind": "agent", "model": "claude_code/haiku", "prompt": "Summarise"},
            },
        ),
        dict(
            lab="pr-poll",
            trigger_type="github_poll",
            github_repo="demo-org/atlas",
            poll_interval_sec=120,
            github_filter={"event": "pr_opened", "base": "main", "draft": False, "same_repo_only": True},
            github_cursor="2026-11-29T22:10:00Z",
            action_kind="flow",
            action_model="codex/gpt-5.3-codex",
            action_prompt="Review PR {{number}}: {{title}}",
            action_project="atlas",
            project="atlas",
            next_fire_at=now + 60,
            last_fired_at=now - 6 * H,
        ),
        dict(
            lab="release-once",
            trigger_type="at",
            action_kind="play",
            action_playbook="release",
            action_prompt="--version 1.4",
            next_fire_at=now + 2 * D,
            max_runs=1,
            project="atlas",
            managed_by="cli",
            spec_version="lionagi.io/v1alpha1",
            authored_spec={
                "trigger": {"at": "2026-12-02T00:53:20+00:00"},
                "target": {"kind": "playbook", "name": "release", "args": {}},
            },
            resolved_target={
                "trigger": {"kind": "at", "at": "2026-12-02T00:53:20+00:00", "epoch": now + 2 * D},
                "target": {"kind": "playbook", "name": "release", "args": {}},
                "execution": {"cwd": "/srv/demo/atlas", "project": "atlas"},
                "policies": {"missedFire": "skip", "overlap": "skip", "maxRuns": None, "budget": None, "rateLimit": None},
                "notify": None,
                "enabled": True,
            },
            resolved_digest=hashlib.sha256(b"release-once").hexdigest(),
            action_cwd="/srv/demo/atlas",
        ),
        dict(
            lab="weekly-digest",
            trigger_type="cron",
            cron_expr="0 9 * * MON",
            action_kind="flow_yaml",
            action_flow_yaml=FLOW_YAML,
            project="cobalt",
            action_project="cobalt",
            missed_fire_policy="run_once",
            next_fire_at=day0 + 7 * D + 9 * H,
        ),
        dict(
            lab="refresh-index",
            trigger_type="interval",
            interval_sec=900,
            action_kind="command",
            action_command="refresh-index",
            action_command_args=["nightly", "{{fired_at}}"],
            action_cwd="/srv/demo/cobalt",
            project="cobalt",
            next_fire_at=now + 120,
            last_fired_at=now - 780,
            notify_on=["failed"],
            notify_command="notify-send 'index failed'",
            overlap_policy="allow",
        ),
        dict(
            lab="ideas-fanout",
            trigger_type="cron",
            cron_expr="30 7 1 * *",
            action_kind="fanout",
            action_model="openai/gpt-5.2",
            action_prompt="Ten ideas for the roadmap.",
            action_extra_args=["--effort", "high"],
            next_fire_at=day0 + 1 * D + 7.5 * H,
        ),
        dict(
            lab="cost-alarm",
            trigger_type="interval",
            interval_sec=600,
            action_kind="agent",
            action_model="claude_code/haiku",
            action_prompt="Spend is {{metric_value}} over {{threshold}}.",
            threshold_config={"metric": "total_cost_usd", "op": "gt", "value": 25.0, "window_minutes": 1440},
            next_fire_at=now + 200,
            last_alert_at=now - 3 * D,
        ),
        dict(
            lab="fail-alarm",
            trigger_type="interval",
            interval_sec=300,
            action_kind="command",
            action_command="page-oncall",
            action_command_args=["failures"],
            threshold_config={"metric": "failed_sessions", "op": "gte", "value": 5, "window_minutes": 60},
            next_fire_at=now + 90,
            max_runs=3,
        ),
        dict(
            lab="paused-audit",
            trigger_type="cron",
            cron_expr="15 3 * * *",
            action_kind="play",
            action_playbook="audit",
            action_prompt="everything",
            enabled=1,
            next_fire_at=day0 + 3 * H + 900,
            project="beacon",
        ),
        dict(
            lab="beacon/nightly-beacon",
            trigger_type="cron",
            cron_expr="0 6 * * *",
            action_kind="agent",
            action_model="sonnet",
            action_prompt="Review yesterday's changes.",
            action_agent="reviewer",
            action_project="beacon",
            action_cwd="/srv/demo/beacon",
            budget_usd=2.0,
            description="Nightly review of beacon.",
            spec_version="lionagi.io/v1alpha1",
            managed_by="declaration",
            owner_key="beacon/automation",
            authored_spec=member,
            resolved_target=resolved,
            resolved_digest=digest,
            resolved_timezone="America/New_York",
            effective_timezone="America/New_York",
            effective_timezone_source="schedule:resolved_timezone",
            notify_on=["failed", "timed_out"],
            notify_command="notify-send 'nightly review failed'",
            next_fire_at=day0 + 11 * H,
            project=None,
        ),
        dict(
            lab="overdue-poll",
            trigger_type="interval",
            interval_sec=600,
            action_kind="agent",
            action_model="claude_code/haiku",
            action_prompt="Poll.",
            next_fire_at=now - 5 * H,
            last_fired_at=now - 5 * H - 600,
        ),
        dict(
            lab="never-fired",
            trigger_type="cron",
            cron_expr="0 0 29 2 *",
            action_kind="agent",
            action_model="claude_code/haiku",
            action_prompt="Leap day greetings.",
        ),
        dict(
            lab="spent",
            trigger_type="interval",
            interval_sec=1800,
            action_kind="agent",
            budget_usd=0.5,
            action_model="claude_code/haiku",
            action_prompt="Spend the last cents.",
            project="cobalt",
        ),
        dict(
            lab="doomed",
            trigger_type="interval",
            interval_sec=60,
            action_kind="agent",
            action_model="claude_code/haiku",
            action_prompt="short life",
        ),
    ]
    for i, s in enumerate(L):
        s = dict(s)
        lab = s.pop("lab")
        t = at(now - 14 * D + i * 600)
        row = {"id": hid("sched:" + lab), "name": lab, "created_at": t, "updated_at": t, **s}
        svc._svc_validate_github_filter(row.get("github_filter"))
        svc._svc_validate_github_cursor(row.get("github_cursor"))
        svc._svc_validate_threshold_config(row.get("threshold_config"))
        svc._svc_validate_rate_limit(row.get("rate_limit"))
        if row.get("cron_expr"):
            svc._svc_validate_cron_expr(row["cron_expr"], required=True)
        try:
            await db.create_schedule(row, audit_context=ctx(origins[lab]) if lab in origins else None)
        except Exception as exc:  # a clear message beats a traceback here
            raise SystemExit(f"schedule {lab}: {exc}") from exc
    # operator pauses one with a reason, another without; one is deleted
    at(now - 6 * D)
    await svc.disable_schedule(hid("sched:paused-audit"), reason="too noisy this week")
    at(now - 5 * D)
    await db.delete_schedule(hid("sched:doomed"), audit_context=ctx("cli"))
    at(now - 4 * D)
    await db.update_schedule(
        hid("sched:spent"),
        enabled=0,
        audit_context=ctx("scheduler"),
        reason=ReasonRecord(code="schedule_definition.disabled.budget_exhausted", summary="budget 0.5 USD used up"),
    )
    at(now - 3 * D)
    await db.update_schedule(hid("sched:hourly-triage"), enabled=0, audit_context=ctx("http"))
    at(now - 3 * D + 600)
    await db.update_schedule(hid("sched:hourly-triage"), enabled=1, audit_context=ctx("http"))
    at(now - 1.5 * D)
    await db.update_schedule(hid("sched:nightly-review"), action_prompt="Review yesterday's changes and list risks.")

    # ---- schedule_runs -------------------------------------------------------------------
    async def run(
        lab,
        sched,
        ago,
        status,
        *,
        code=None,
        summary="",
        exit_code=None,
        dur=None,
        inv=None,
        kind="agent",
        args=None,
        ctxx=None,
        parent=None,
        depth=0,
        error=None,
        dispatched=True,
    ):
        rid = hid("srun:" + lab)
        t0 = at(now - ago)
        born = status if status in ("skipped",) else "running"
        await db.create_schedule_run(
            {
                "id": rid,
                "schedule_id": hid("sched:" + sched),
                "invocation_id": inv,
                "trigger_context": ctxx if ctxx is not None else {"scheduled": True, "fired_at": t0},
                "action_kind": kind,
                "action_args": args
                if args is not None
                else [
                    "li",
                    "agent",
                    "--agent",
                    "reviewer",
                    "--project",
                    "atlas",
                    "--",
                    "claude_code/sonnet",
                    "Review yesterday's changes.",
                ],
                "status": born,
                "fired_at": t0,
                "created_at": t0,
                "chain_parent_id": parent,
                "chain_depth": depth,
                "ended_at": t0 if born == "skipped" else None,
                "error_detail": error if born == "skipped" else None,
            }
        )
        if born == "skipped":
            await db.update_status(
                "schedule_run",
                rid,
                new_status="skipped",
                reason_code=code,
                reason_summary=summary,
                source="executor",
                actor="scheduler",
            )
            return rid
        if dispatched:
            await db.execute(
                "UPDATE schedule_runs SET dispatched_at = :t WHERE id = :id",  # RAW: engine-only column
                {"t": t0 + 0.4, "id": rid},
            )
        if status != "running":
            at(t0 + dur)
            await db.update_status(
                "schedule_run",
                rid,
                new_status=status,
                reason_code=code,
                reason_summary=summary or status,
                source="executor",
                actor="scheduler",
                extra_fields={"ended_at": t0 + dur, "exit_code": exit_code, "error_detail": error},
            )
        return rid

    okc = dict(code="run.completed.ok", exit_code=0)
    # nightly-review: 10 nights, streak of failures at the end
    for i in range(10, 3, -1):
        await run(f"nr-{i}", "nightly-review", i * D - 2 * H + (now % D), "completed", dur=300 + i, **okc)
    for i in (3, 2, 1):
        p = await run(
            f"nr-{i}",
            "nightly-review",
            i * D - 2 * H + (now % D),
            "failed",
            code="run.failed.exit_nonzero",
            exit_code=1,
            dur=9,
            error="exit code 1: 401 unauthorized",
            inv=hid("inv-failed") if i == 2 else None,
        )
        await run(
            f"nr-{i}-onfail",
            "nightly-review",
            i * D - 2 * H + (now % D) - 12,
            "completed",
            dur=6,
            parent=p,
            depth=1,
            ctxx={"scheduled": True, "fired_at": now - i * D, "chain_from": p, "parent_exit_code": 1, "parent_status": "failed"},
            args=["li", "agent", "--", "claude_code/haiku", "Explain the failure: failed"],
            **okc,
        )
    # hourly-triage with a two-step chain
    for i in (5, 4, 3, 2):
        await run(f"ht-{i}", "hourly-triage", i * H, "completed", dur=50, **okc)
    p = await run("ht-1", "hourly-triage", 1 * H + 150, "completed", dur=50, **okc)
    q = await run(
        "ht-1-a",
        "hourly-triage",
        1 * H + 95,
        "completed",
        dur=80,
        parent=p,
        depth=1,
        kind="play",
        args=["li", "play", "audit", "--"],
        ctxx={"scheduled": True, "chain_from": p, "parent_exit_code": 0, "parent_status": "completed"},
        **okc,
    )
    await run(
        "ht-1-b",
        "hourly-triage",
        1 * H + 10,
        "completed",
        dur=5,
        parent=q,
        depth=2,
        ctxx={"scheduled": True, "chain_from": q, "parent_exit_code": 0, "parent_status": "completed"},
        **okc,
    )
    await run("ht-0", "hourly-triage", 150, "running", inv=hid("inv-running2"))
    # github poll
    ev = {
        "repo": "demo-org/atlas",
        "github_events": [{"number": 41, "title": "Add parser", "state": "open"}],
        "number": 41,
        "title": "Add parser",
        "fired_at": now - 6 * H,
    }
    await run(
        "pp-1",
        "pr-poll",
        6 * H,
        "completed",
        dur=700,
        kind="flow",
        ctxx=ev,
        args=["li", "o", "flow", "--project", "atlas", "--", "codex/gpt-5.3-codex", "Review PR 41: Add parser"],
        **okc,
    )
    await run("pp-0", "pr-poll", 30 * H, "timed_out", code="run.timed_out.deadline", exit_code=124, dur=7200, kind="flow")
    # commands
    await run(
        "ri-1",
        "refresh-index",
        3 * H,
        "completed",
        dur=12,
        kind="command",
        args=["refresh-index", "nightly"],
        inv=hid("inv-done-cmd"),
        **okc,
    )
    await run(
        "ri-2",
        "refresh-index",
        780,
        "failed",
        code="run.failed.exit_nonzero",
        exit_code=2,
        dur=3,
        kind="command",
        args=["refresh-index", "nightly"],
        error="index locked",
    )
    await run(
        "ri-3", "refresh-index", 2 * H, "cancelled", code="run.cancelled.orchestrator", exit_code=143, dur=30, kind="command"
    )
    # skipped, one per reason
    for lab, code, c in (
        ("overlap", "schedule.skipped.overlap", {"skipped_overlap": True}),
        ("missed", "schedule.skipped.missed_fire", {"skipped_missed_fire": True, "missed_fire_at": now - 2 * D}),
        ("capacity", "schedule.deferred.capacity", {"deferred_capacity": True}),
        ("budget", "schedule.budget.exhausted", {"budget_exhausted": True}),
        ("precond", "schedule.skipped.precondition", {"scheduled": True}),
    ):
        await run(
            f"skip-{lab}",
            "overdue-poll",
            20 * H - len(lab) * 60,
            "skipped",
            code=code,
            summary=lab.replace("_", " "),
            ctxx={**c, "fired_at": now - 20 * H},
            args=[],
            error=f"skipped: {lab}",
        )
    await run(
        "wd-1",
        "weekly-digest",
        7 * D,
        "completed",
        dur=400,
        kind="flow_yaml",
        ctxx={"missed_recovery": True, "fired_at": now - 7 * D},
        **okc,
    )
    await run("od-1", "overdue-poll", 5 * H + 600, "completed", dur=20, **okc)
    await run(
        "never-dispatched",
        "paused-audit",
        7 * D,
        "failed",
        code="run.failed.never_dispatched",
        dur=600,
        kind="play",
        dispatched=False,
        error="never dispatched",
        summary="undispatched schedule run replaced during recovery",
    )
    # queue: ad-hoc task applications
    from lionagi.state.lifecycle import ActorRecord  # noqa: F401  (documented type)
    from lionagi.state.transitions import Actor, StateReason, TransitionRequest, transition
    from lionagi.studio.services.task_applications import TaskApplication, cancel_task, submit_task

    async def hop(rid, a, b, code, **patch):
        await transition(
            db,
            TransitionRequest(
                entity_type="schedule_run",
                entity_id=rid,
                from_state=a,
                to_state=b,
                reason=StateReason(code=code, summary=f"{a} to {b}"),
                actor=Actor(type="scheduler", id="worker-demo"),
                idempotency_key=uid(rid + b),
            ),
            patch=patch or None,
        )

    ids = []
    for i in range(5):
        at(now - 1000 + i * 100)
        ids.append(
            await submit_task(
                db,
                TaskApplication(
                    action_kind="agent",
                    args={"model": "claude_code/haiku", "prompt": f"Ad-hoc task {i}"},
                    execution_target="host",
                    required_capabilities=["gpu-exclusive"] if i == 4 else [],
                ),
            )
        )
    at(now - 300)
    await cancel_task(db, ids[1], actor=Actor(type="operator", id="demo"))
    await hop(ids[2], "queued", "running", "run.started.ok", leased_by="worker-demo", lease_expires_at=now + 600)
    await hop(ids[3], "queued", "waiting_dependency", "schedule.queued.created")
    rid = ids[0]
    await hop(rid, "queued", "running", "run.started.ok", leased_by="worker-demo", lease_expires_at=now - 100)
    await hop(rid, "running", "retry_wait", "run.queued.lease_expired")
    from lionagi.studio.scheduler import worker as _worker

    at(now - 30)
    await _worker.register_heartbeat(
        db, worker_id="worker-demo", advertised_capabilities=["gpu-exclusive"], execution_targets=["host"], now=now - 30
    )


# --------------------------------------------------------------------------- shows

SHOWS = {
    # topic: (status, final_verdict, plays)
    "atlas-v2": dict(
        goal="Ship version two of atlas.",
        repo="demo-org/atlas",
        integration="show/atlas-v2",
        base="main",
        status="active",
        ago=2 * D,
        plays=[
            dict(
                name="parser",
                status="merged",
                meta=dict(attempt=1, merge_sha="a1b2c3d4", exit_code=0),
                gate=True,
                fb="fine",
                sess="sp-parser",
            ),
            dict(
                name="lexer",
                status="merged",
                meta=dict(attempt=2, merge_sha="e5f60718", exit_code=0),
                gate=True,
                fb="second try",
                sess="sp-lexer",
                deps=["parser"],
            ),
            dict(name="docs", status="running", meta=dict(attempt=1), sess="sp-docs", deps=["parser"]),
            dict(
                name="bench",
                status="gate_failed",
                meta=dict(attempt=1, exit_code=1),
                gate=False,
                fb="slower than before",
                sess="sp-bench",
                deps=["lexer"],
            ),
            dict(name="wiring", status="gated", meta=dict(attempt=1, exit_code=0), gate=False, fb="missing tests"),
            dict(name="cleanup", status="pending", meta={}, deps=["docs", "bench"]),
            dict(name="migrate", status="blocked", meta=dict(block_reason="dep_failed"), deps=["bench"]),
            dict(name="notes", status="prepared", meta=dict(attention_opt_in=True)),  # opt-in counts for "gated" only
            dict(
                name="polish",
                status="gated",
                meta=dict(attempt=1, exit_code=0, attention_opt_in=True),
                gate=True,
                fb="please look",
            ),
        ],
    ),
    "beacon-ui": dict(
        goal="New face for beacon.",
        repo="demo-org/beacon",
        integration="show/beacon-ui",
        base="main",
        status="completed",
        ago=7 * D,
        final=True,
        plays=[
            dict(
                name="ui",
                status="merged",
                meta=dict(attempt=1, merge_sha="0a0b0c0d", exit_code=0),
                gate=True,
                fb="",
                sess="sp-ui",
            ),
            dict(
                name="api",
                status="merged",
                meta=dict(attempt=1, merge_sha="1a1b1c1d", exit_code=0),
                gate=True,
                fb="",
                sess="sp-api",
            ),
        ],
    ),
    "cobalt-cache": dict(
        goal="Cache, abandoned.",
        repo="demo-org/cobalt",
        integration=None,
        base="main",
        status="aborted",
        ago=5 * D,
        abort=True,
        plays=[
            dict(name="design", status="aborted_after_finish", meta=dict(attempt=1, exit_code=0)),
            dict(name="store", status="escalated", meta=dict(attempt=2, exit_code=1), gate=False, fb="failed twice"),
        ],
    ),
    "legacy-port": dict(
        goal="Imported from an older tree.",
        repo=None,
        integration=None,
        base=None,
        status="imported",
        ago=18 * D,
        plays=[
            dict(name="port", status="redoing", meta=dict(attempt=2)),
            dict(name="verify", status="running_complete", meta=dict(attempt=1, exit_code=0)),
        ],
    ),
}
# only on disk, not yet imported
DISK_ONLY = {"fresh-idea": dict(goal="Not imported yet.", plays=["one", "two"])}

PLAY_CODE = {
    "merged": "play.merged.ok",
    "gate_failed": "play.gate_failed.verdict",
    "escalated": "play.escalated.gate_twice",
    "blocked": "play.blocked.dep_failed",
    "pending": "play.pending.waiting_on_deps",
}


async def build_shows(w: World) -> None:
    db, now, root = w.db, w.now, w.home / "shows"
    iso = lambda t: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t))  # noqa: E731
    for topic, s in SHOWS.items():
        t0 = at(now - s["ago"])
        d = root / topic
        d.mkdir(parents=True)
        head = [f"# {topic}", ""]
        if s["repo"]:
            head += [f"- Repo: {s['repo']}"]
        if s["integration"]:
            head += [f"- Integration branch: {s['integration']} (from {s['base']})"]
        if s["base"]:
            head += [f"- Base for final merge: {s['base']}"]
        (d / "_show.md").write_text(
            "\n".join(head + ["", "## Goal", "", s["goal"], "", "## Plays", ""] + [f"- {p['name']}" for p in s["plays"]]) + "\n"
        )
        if s.get("abort"):
            (d / "_ABORT").write_text("stopped by operator\n")
        if s.get("final"):
            (d / "_final_verdict.json").write_text(json.dumps({"show_passed": True, "summary": "all good"}, indent=2))
        show_id = uid("show:" + topic)
        await db.create_show(
            {
                "id": show_id,
                "topic": topic,
                "goal": s["goal"],
                "repo": s["repo"],
                "base_branch": s["base"],
                "integration_branch": s["integration"],
                "status": "imported" if s["status"] == "imported" else "active",
                "show_dir": f"{DEMO_HOME}/shows/{topic}",
                "created_at": t0,
            }
        )
        for i, p in enumerate(s["plays"]):
            pd = d / p["name"]
            pd.mkdir()
            st = t0 + 600 + i * 900
            en = st + 1200
            running = p["status"] in ("running", "pending", "prepared", "redoing")
            meta = {"status": p["status"], **p["meta"]}
            if p["status"] != "pending":
                meta["started_at"] = iso(st)
                meta["worktree"] = f"/srv/demo/worktrees/{topic}-{p['name']}"
                meta["branch"] = f"play/{topic}/{p['name']}"
                meta["effort"] = "high"
            if not running:
                meta["ended_at"] = iso(en)
            if p["status"] == "merged":
                meta["merged_at"] = iso(en + 300)
            (pd / "_meta.json").write_text(json.dumps(meta, indent=2))
            (pd / "_intent.md").write_text(f"# Intent: {p['name']}\n\nWhat this play is for: {p['name']} of {topic}.\n")
            (pd / "_prompt.md").write_text(f"Do {p['name']}.\n")
            if "gate" in p:
                (pd / "_verdict.json").write_text(json.dumps({"gate_passed": p["gate"], "feedback": p["fb"]}, indent=2))
            pid = uid(f"play:{topic}:{p['name']}")
            at(t0 + i)
            await db.create_play(
                {
                    "id": pid,
                    "show_id": show_id,
                    "name": p["name"],
                    "playbook": "release" if i % 2 == 0 else None,
                    "effort": "high",
                    "status": "pending",
                    "attempt": p["meta"].get("attempt", 1),
                    "session_id": w.sessions.get(p.get("sess", "")),
                    "depends_on": p.get("deps", []),
                    "sort_order": i,
                    "created_at": t0 + i,
                    "worktree": meta.get("worktree"),
                    "branch": meta.get("branch"),
                }
            )
            if p["status"] != "pending":
                at(st)
                await db.update_play(pid, started_at=st)
                chain = ["prepared"] if p["status"] == "prepared" else ["prepared", "running"]
                if p["status"] in ("merged", "gate_failed", "gated", "escalated", "aborted_after_finish", "running_complete"):
                    chain += ["running_complete"]
                if p["status"] not in chain and p["status"] != "pending":
                    chain += [p["status"]]
                if p["status"] == "blocked":
                    chain = ["blocked"]
                for j, c in enumerate(chain):
                    at(min(now - 1, st + 300 * j))
                    final = c == p["status"]
                    await db.update_status(
                        "play",
                        pid,
                        new_status=c,
                        reason_code=PLAY_CODE.get(c, "play.pending.ready") if final else "play.pending.ready",
                        reason_summary=f"{p['name']}: {c}",
                        source="executor",
                        actor="show-runner",
                        extra_fields={"ended_at": en} if final and not running else None,
                    )
                fields = {
                    k: v
                    for k, v in dict(
                        exit_code=p["meta"].get("exit_code"),
                        merge_sha=p["meta"].get("merge_sha"),
                        merged_at=en + 300 if p["status"] == "merged" else None,
                        gate_passed=None if "gate" not in p else int(p["gate"]),
                        gate_feedback=p.get("fb"),
                    ).items()
                    if v is not None
                }
                if fields:
                    await db.update_play(pid, **fields)
        if s["status"] in ("completed", "aborted"):
            at(t0 + 6 * H)
            await db.update_status(
                "show",
                show_id,
                new_status=s["status"],
                reason_code="show.completed.final_gate" if s["status"] == "completed" else "show.aborted.operator",
                reason_summary="final verdict passed" if s["status"] == "completed" else "_ABORT found",
                source="executor",
                actor="show-runner",
            )
    for topic, s in DISK_ONLY.items():
        d = root / topic
        d.mkdir(parents=True)
        (d / "_show.md").write_text(f"# {topic}\n\n- Repo: demo-org/idea\n- Base: main\n\n## Goal\n\n{s['goal']}\n")
        for p in s["plays"]:
            (d / p).mkdir()
            (d / p / "_meta.json").write_text(json.dumps({"status": "pending"}))
            (d / p / "_intent.md").write_text(f"# Intent: {p}\n")
    (root / "fresh-idea" / "two" / "_meta.json").write_text("{not json")


# --------------------------------------------------------------------------- teams


async def build_teams(w: World) -> None:
    from datetime import datetime, timezone

    now = w.now
    iso = lambda t: datetime.fromtimestamp(t, timezone.utc).isoformat()  # noqa: E731
    tdir = w.home / "teams"
    tdir.mkdir(parents=True)
    a, b = hid("team:audit"), hid("team:empty")

    def m(lab, frm, to, text, t, kind="message", read=()):
        return {
            "id": hid("tm:" + lab),
            "from": frm,
            "to": to,
            "content": text,
            "timestamp": iso(t),
            "read_by": {r: iso(t + 30) for r in read},
            "kind": kind,
        }

    audit = {
        "id": a,
        "name": "audit",
        "members": ["lead", "critic", "scribe"],
        "created_at": iso(now - 2 * D),
        "messages": [
            m("1", "lead", ["*"], "Split the files between you.", now - 2 * D + 60, read=("critic", "scribe")),
            m("2", "critic", ["lead"], "I take src/core.", now - 2 * D + 90, read=("lead",)),
            m("3", "scribe", ["lead", "critic"], "Notes so far: " + "nothing unusual; " * 20, now - 2 * D + 400),
            m("4", "critic", ["*"], "done: 2 defects", now - 2 * D + 900, kind="done", read=("lead",)),
        ],
    }
    empty = {"id": b, "name": "night-shift", "members": ["solo"], "messages": [], "created_at": iso(now - 9 * D)}
    for t in (audit, empty):
        (tdir / f"{t['id']}.json").write_text(json.dumps(t, indent=2))
    at(now - 1 * D)
    for p in tdir.glob("*.json"):  # the importer takes created_at from the file's mtime
        os.utime(p, (now - 2 * D, now - 2 * D))
    from lionagi.cli import state as cli_state

    fn = getattr(cli_state, "import_teams", None) or getattr(cli_state, "_import_teams")
    res = fn(w.db) if fn.__code__.co_argcount else fn()
    if asyncio.iscoroutine(res):
        await res
    at(now - 8 * D)
    await w.db.update_status(
        "team",
        b,
        new_status="archived",
        reason_code="team.archived.operator",
        reason_summary="idle for a week",
        source="admin",
        actor="demo",
    )


# --------------------------------------------------------------------------- approvals, attention, dispatch, admin


async def build_governance(w: World) -> None:
    from lionagi.studio.services import approvals as ap
    from lionagi.studio.services import attention as att

    db, now, s = w.db, w.now, w.sessions

    async def propose(lab, ago, kind, params, session=None):
        at(now - ago)
        return (await ap.create_approval(action_kind=kind, params=params, session_id=session))["id"]

    p1 = await propose("a", 3 * D, "session.delete", {"session_id": s["hist-2"]})
    at(now - 3 * D + 20)
    await ap.grant_approval(p1)
    at(now - 3 * D + 40)
    await ap.require_approval(p1, action_kind="session.delete", params={"session_id": s["hist-2"]})
    p2 = await propose("b", 2 * D, "schedule.delete", {"schedule_id": hid("sched:paused-audit"), "force": True})
    at(now - 2 * D + 30)
    await ap.deny_approval(p2, justification_class="policy", justification_reason="Keep it paused instead.")
    p3 = await propose("c", 1 * D, "db.vacuum", {})
    at(now - 1 * D + 400)
    await ap.get_approval(p3)  # lazily expires
    p4 = await propose("d", 20 * H, "db.prune", {"days": 30})
    at(now - 20 * H + 10)
    await ap.deny_approval(p4)  # no justification
    p5 = await propose("e", 120, "session.kill", {"session_id": s["run-stale"]}, s["run-stale"])
    p6 = await propose("f", 60, "db.checkpoint", {"mode": "TRUNCATE"})
    at(now - 30)
    await ap.grant_approval(p6)
    _ = p5  # stays pending until now+180

    # attention: one of each state, an undone one, a re-done one
    play = lambda t, n: f"play:{t}:{n}"  # noqa: E731
    steps = [
        (5 * H, f"run:{s['fail-exc']}", dict(state="acknowledged", source_status="failed")),
        (5 * H - 60, f"run:{s['fail-exit']}", dict(state="resolved", source_status="failed", note="fixed in main")),
        (4 * H, f"sched:{hid('sched:nightly-review')}", dict(state="snoozed", source_status="failing", expires_at=now + 6 * H)),
        (
            3 * H,
            f"inv:{hid('inv-timeout')}",
            dict(state="expected", source_status="timed_out", note="long job", expires_at=now + 2 * D),
        ),
        (2 * H, play("atlas-v2", "bench"), dict(state="acknowledged", source_status="gate_failed")),
        (90 * 60, f"run:{s['fail-retry']}", dict(state="snoozed", source_status="failed", expires_at=now - 600)),  # lapsed
        (60 * 60, f"run:{s['timeout-1']}", dict(state="acknowledged", source_status="timed_out")),
    ]
    rev = {}
    for ago, item, kw in steps:
        at(now - ago)
        rev[item] = (await att.upsert_disposition(item, actor="demo", **kw))["revision"]
    item = f"run:{s['timeout-1']}"
    at(now - 50 * 60)
    await att.delete_disposition(item, actor="demo")
    at(now - 40 * 60)
    item2 = f"run:{s['fail-exit']}"
    await att.upsert_disposition(
        item2, actor="demo", state="expected", note="flaky host", source_status="failed", expires_at=now + D
    )

    # dispatch outbox: every status
    from lionagi.dispatch.outbox import enqueue_dispatch
    from lionagi.state.transitions import Actor, StateReason, TransitionRequest, transition

    async def q(lab, ago, **kw):
        at(now - ago)
        return await enqueue_dispatch(
            db,
            kind=kw.pop("kind", "terminal_notify"),
            deliver_to=kw.pop("to", "agent:demo"),
            body={"session_id": s["fail-exc"], "status": "failed", "note": lab},
            dedup_key=f"fixture:{lab}",
            **kw,
        )

    async def hop(did, a, b, code, ago, patch=None):
        at(now - ago)
        await transition(
            db,
            TransitionRequest(
                entity_type="dispatch",
                entity_id=did,
                from_state=a,
                to_state=b,
                reason=StateReason(code=code, summary=f"{a} to {b}"),
                actor=Actor(type="system", id="dispatch_daemon"),
                idempotency_key=uid(did + b),
            ),
            patch=patch,
        )

    await q("pending", 40, session_id=s["fail-exc"])
    d = await q("delivering", 90)
    await hop(d, "pending", "delivering", "dispatch.delivering.attempt", 80, {"attempt": 1})
    d = await q("delivered", 6 * H, session_id=s["fail-retry"])
    await hop(d, "pending", "delivering", "dispatch.delivering.attempt", 6 * H - 5, {"attempt": 1})
    await hop(d, "delivering", "delivered", "dispatch.delivered.transport_ok", 6 * H - 6)
    d = await q("acked", 7 * H, ack_required=True)
    await hop(d, "pending", "delivering", "dispatch.delivering.attempt", 7 * H - 5, {"attempt": 1})
    await hop(d, "delivering", "acked", "dispatch.acked.consumer", 7 * H - 60)
    d = await q("dead", 2 * D, max_attempts=2)
    await hop(d, "pending", "delivering", "dispatch.delivering.attempt", 2 * D - 5, {"attempt": 2, "last_error": "exit 1"})
    await hop(d, "delivering", "dead_letter", "dispatch.dead_letter.max_attempts", 2 * D - 60, {"last_error": "exit 1"})
    d = await q("expired", 3 * D, expires_at=now - 2.9 * D, kind="revival_ping")
    await hop(d, "pending", "expired", "dispatch.expired.deadline", 2.9 * D)

    # admin events as the maintenance services record them
    for ago, action, target, details in (
        (6 * D, "prune", None, {"keep_days": 30, "sessions": 12, "messages": 840}),
        (5 * D, "checkpoint", None, {"mode": "PASSIVE", "busy": 0, "log": 120, "checkpointed": 120}),
        (4 * D, "vacuum", None, {"before_bytes": 4_100_000, "after_bytes": 2_050_000}),
        (26 * H, "transition", None, {"session_ids": [s["phantom"]], "to_status": "failed", "transitioned": 1}),
        (25 * H, "prune_phantoms", None, {"removed": 0}),
    ):
        at(now - ago)
        await db.insert_admin_event(action=action, details=details, target_id=target)

    # RAW: terminal_deliveries — normally written by an in-process consumer after a terminal transition
    rows = await db.fetch_all(
        "SELECT id, created_at FROM status_transitions WHERE entity_type='schedule_run' AND status='completed' "
        "ORDER BY created_at, id LIMIT 2"
    )
    for r in rows:
        await db.execute(
            "INSERT INTO terminal_deliveries (transition_id, consumer, acked_at) VALUES (:t, :c, :a)",
            {"t": r["id"], "c": "schedule_notify", "a": r["created_at"] + 1},
        )


# --------------------------------------------------------------------------- main


async def build(home: Path, now: float) -> dict:
    from lionagi.state.db import StateDB

    at(now - 30 * D)
    async with StateDB(home / "state.db") as db:
        await build_projects(db, now)
        await build_defs_tables(db, now)
        w = World(db, now, home)
        await build_sessions(w)
        await build_invocations(w)
        await build_artifacts(w)
        await build_run_dirs(w)
        await build_engine_runs(w)
        await build_schedules(w)
        await build_shows(w)
        await build_teams(w)
        await build_governance(w)
    await build_definitions(home, now)
    at(now)
    return {"sessions": w.count, "labels": dict(sorted(w.sessions.items()))}


TEXT_ROOTS = ("agents", "playbooks", "skills", "shows", "teams", "runs")


def relocate(src: Path, dst: Path) -> None:
    """Copy a built home and make its stored absolute paths true for DST."""
    if dst.exists():
        raise SystemExit(f"{dst} exists")
    shutil.copytree(src, dst)
    real = str(dst.resolve())
    con = sqlite3.connect(dst / "state.db")
    for table, col in (("shows", "show_dir"), ("sessions", "artifacts_path"), ("engine_runs", "export_dir")):
        con.execute(f"UPDATE {table} SET {col} = replace({col}, ?, ?) WHERE {col} LIKE ?", (DEMO_HOME, real, DEMO_HOME + "%"))
    con.commit()
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    con.close()
    for sub in ("state.db-wal", "state.db-shm"):
        (dst / sub).unlink(missing_ok=True)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", type=Path, default=HERE / "fixture-home")
    ap.add_argument("--now", type=float, default=DEFAULT_NOW)
    ap.add_argument("--relocate", nargs=2, type=Path, metavar=("SRC", "DST"))
    a = ap.parse_args()
    if a.relocate:
        return relocate(*a.relocate)
    home = a.out.resolve()
    if home.exists():
        shutil.rmtree(home)
    home.mkdir(parents=True)
    pin_world(a.now, home)
    info = asyncio.run(build(home, a.now))
    con = sqlite3.connect(home / "state.db")
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # the library creates indexes in set order; recreate them by name so two builds are equal
    for name, sql in con.execute(
        "SELECT name, sql FROM sqlite_master WHERE type='index' AND sql IS NOT NULL ORDER BY name"
    ).fetchall():
        con.execute(f"DROP INDEX {name}")
        con.execute(sql)
    con.commit()
    con.execute("VACUUM")
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    counts = {
        t: con.execute(f"SELECT count(*) FROM {t}").fetchone()[0]
        for (t,) in con.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")
    }
    con.close()
    for p in ("state.db-wal", "state.db-shm"):
        (home / p).unlink(missing_ok=True)
    for p in sorted(home.rglob("*")):
        if "teams" not in p.parts:
            os.utime(p, (a.now - D, a.now - D))
    (home / "FIXTURE.json").write_text(
        json.dumps(
            {
                "now": a.now,
                "stored_home": DEMO_HOME,
                "host": DEMO_HOST,
                "lionagi": "0.36.0",
                "tables": counts,
                "sessions": info["labels"],
            },
            indent=1,
        )
        + "\n"
    )
    print(json.dumps(counts, indent=1))


if __name__ == "__main__":
    sys.exit(main())
