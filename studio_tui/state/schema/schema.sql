-- The schema of a new store; made by studio_tui.state.schema.snapshot, checked by a test.
CREATE TABLE admin_events (
	id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	action TEXT NOT NULL,
	target_id TEXT,
	details JSON NOT NULL,
	actor TEXT DEFAULT 'admin' NOT NULL,
	PRIMARY KEY (id)
);
CREATE INDEX idx_admin_events_action ON admin_events (action);
CREATE INDEX idx_admin_events_created ON admin_events (created_at);
CREATE INDEX idx_admin_events_target ON admin_events (target_id) WHERE target_id IS NOT NULL;
CREATE TABLE attention_disposition_history (
	id TEXT NOT NULL,
	item_id TEXT NOT NULL,
	sequence INTEGER NOT NULL,
	prior_state TEXT,
	new_state TEXT NOT NULL,
	note TEXT,
	actor TEXT NOT NULL,
	source_status TEXT,
	created_at FLOAT NOT NULL,
	PRIMARY KEY (id)
);
CREATE INDEX idx_attention_disposition_history_item ON attention_disposition_history (item_id, created_at);
CREATE UNIQUE INDEX idx_attention_disposition_history_sequence ON attention_disposition_history (sequence);
CREATE TABLE attention_disposition_revisions (
	item_id TEXT NOT NULL,
	revision INTEGER NOT NULL,
	PRIMARY KEY (item_id)
);
CREATE TABLE attention_dispositions (
	item_id TEXT NOT NULL,
	state TEXT NOT NULL CONSTRAINT ck_attention_dispositions_state CHECK (state IN ('acknowledged','resolved','expected','snoozed')),
	note TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	expires_at FLOAT,
	actor TEXT NOT NULL,
	source_status TEXT NOT NULL,
	revision INTEGER DEFAULT '1' NOT NULL,
	PRIMARY KEY (item_id)
);
CREATE TABLE definitions (
	id TEXT NOT NULL,
	kind TEXT NOT NULL CONSTRAINT ck_definitions_kind CHECK (kind IN ('agent','playbook','skill')),
	name TEXT NOT NULL,
	path TEXT NOT NULL,
	content TEXT NOT NULL,
	version INTEGER NOT NULL,
	created_at FLOAT NOT NULL,
	message TEXT,
	PRIMARY KEY (id),
	CONSTRAINT idx_def_unique_version UNIQUE (kind, name, version)
);
CREATE INDEX idx_def_kind_name ON definitions (kind, name, version);
CREATE TABLE engine_defs (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	model TEXT,
	max_depth INTEGER,
	max_agents INTEGER,
	options JSON,
	description TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name)
);
CREATE INDEX idx_engine_defs_kind ON engine_defs (kind);
CREATE INDEX idx_engine_defs_name ON engine_defs (name);
CREATE INDEX idx_engine_defs_updated ON engine_defs (updated_at);
CREATE TABLE invocations (
	id TEXT NOT NULL,
	skill TEXT NOT NULL,
	plugin TEXT,
	prompt TEXT,
	started_at FLOAT NOT NULL,
	ended_at FLOAT,
	status TEXT DEFAULT 'running' NOT NULL CONSTRAINT ck_invocations_status CHECK (status IN ('running','completed','completed_empty','failed','timed_out','aborted','cancelled')),
	session_count INTEGER DEFAULT '0' NOT NULL,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	node_metadata JSON,
	status_reason_code TEXT,
	status_reason_summary TEXT,
	status_evidence_refs JSON,
	PRIMARY KEY (id)
);
CREATE INDEX idx_invocations_reaper ON invocations (status, started_at, id);
CREATE INDEX idx_invocations_skill ON invocations (skill);
CREATE INDEX idx_invocations_status ON invocations (status);
CREATE INDEX idx_invocations_updated ON invocations (updated_at);
CREATE TABLE message_types (
	type_id INTEGER NOT NULL,
	lion_class TEXT NOT NULL,
	PRIMARY KEY (type_id),
	UNIQUE (lion_class)
);
CREATE TABLE progressions (
	id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	collection TEXT DEFAULT '[]' NOT NULL,
	PRIMARY KEY (id)
);
CREATE TABLE projects (
	name TEXT NOT NULL,
	source TEXT NOT NULL,
	path TEXT,
	github TEXT,
	description TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	last_seen_at FLOAT,
	PRIMARY KEY (name)
);
CREATE INDEX idx_projects_source ON projects (source);
CREATE INDEX idx_projects_updated ON projects (updated_at);
CREATE TABLE schedules (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	enabled INTEGER DEFAULT '1' NOT NULL CONSTRAINT ck_schedules_enabled CHECK (enabled IN (0,1)),
	trigger_type TEXT NOT NULL CONSTRAINT ck_schedules_trigger_type CHECK (trigger_type IN ('cron','interval','github_poll','at')),
	cron_expr TEXT,
	interval_sec INTEGER,
	github_repo TEXT,
	github_filter JSON,
	github_cursor TEXT,
	poll_interval_sec INTEGER,
	action_kind TEXT NOT NULL CONSTRAINT ck_schedules_action_kind CHECK (action_kind IN ('agent','flow','fanout','play','flow_yaml','command')),
	action_model TEXT,
	action_prompt TEXT,
	action_agent TEXT,
	action_playbook TEXT,
	action_flow_yaml TEXT,
	action_project TEXT,
	action_cwd TEXT,
	action_extra_args JSON DEFAULT '[]',
	action_command TEXT,
	action_command_args JSON DEFAULT '[]',
	on_success JSON,
	on_fail JSON,
	last_fired_at FLOAT,
	next_fire_at FLOAT,
	missed_fire_policy TEXT DEFAULT 'skip' NOT NULL CONSTRAINT ck_schedules_missed_fire_policy CHECK (missed_fire_policy IN ('skip','run_once')),
	overlap_policy TEXT DEFAULT 'skip' NOT NULL CONSTRAINT ck_schedules_overlap_policy CHECK (overlap_policy IN ('skip','allow')),
	max_runs INTEGER,
	budget_usd FLOAT,
	budget_tokens INTEGER,
	rate_limit JSON,
	project TEXT,
	threshold_config JSON,
	last_alert_at FLOAT,
	last_evaluated_at FLOAT,
	last_healthy_poll_at FLOAT,
	poller_consecutive_401 INTEGER DEFAULT '0' NOT NULL,
	predispatch_refusal_event TEXT,
	predispatch_refusal_count INTEGER DEFAULT '0' NOT NULL,
	spec_version TEXT,
	managed_by TEXT CONSTRAINT ck_schedules_managed_by CHECK (managed_by IS NULL OR managed_by IN ('cli','declaration')),
	owner_key TEXT,
	authored_spec JSON,
	resolved_target JSON,
	resolved_digest TEXT,
	resolved_timezone TEXT,
	effective_timezone TEXT,
	effective_timezone_source TEXT,
	notify_on JSON,
	notify_command TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name)
);
CREATE INDEX idx_schedules_enabled ON schedules (enabled, next_fire_at) WHERE enabled = 1;
CREATE INDEX idx_schedules_name ON schedules (name);
CREATE INDEX idx_schedules_owner_key ON schedules (owner_key) WHERE owner_key IS NOT NULL;
CREATE INDEX idx_schedules_project ON schedules (project) WHERE project IS NOT NULL;
CREATE TABLE schema_meta (
	"key" TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY ("key")
);
CREATE TABLE shows (
	id TEXT NOT NULL,
	topic TEXT NOT NULL,
	goal TEXT,
	repo TEXT,
	base_branch TEXT,
	integration_branch TEXT,
	status TEXT DEFAULT 'active' NOT NULL CONSTRAINT ck_shows_status CHECK (status IN ('active','completed','aborted','imported')),
	show_dir TEXT NOT NULL,
	status_source TEXT DEFAULT 'unknown' NOT NULL,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	status_reason_code TEXT,
	status_reason_summary TEXT,
	status_evidence_refs JSON,
	PRIMARY KEY (id),
	UNIQUE (topic)
);
CREATE INDEX idx_shows_status ON shows (status);
CREATE INDEX idx_shows_topic ON shows (topic);
CREATE INDEX idx_shows_updated ON shows (updated_at);
CREATE TABLE status_transitions (
	id TEXT NOT NULL,
	entity_type TEXT NOT NULL,
	entity_id TEXT NOT NULL,
	previous_status TEXT,
	status TEXT NOT NULL,
	reason_code TEXT NOT NULL,
	reason_summary TEXT,
	evidence_refs JSON,
	source TEXT NOT NULL,
	actor TEXT,
	created_at FLOAT NOT NULL,
	metadata JSON,
	PRIMARY KEY (id)
);
CREATE INDEX idx_status_transitions_created ON status_transitions (created_at);
CREATE INDEX idx_status_transitions_entity ON status_transitions (entity_type, entity_id, created_at);
CREATE INDEX idx_status_transitions_reason ON status_transitions (reason_code, created_at);
CREATE TABLE teams (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	member_count INTEGER DEFAULT '0' NOT NULL,
	members JSON DEFAULT '[]' NOT NULL,
	node_metadata JSON,
	status TEXT DEFAULT 'active' NOT NULL CONSTRAINT ck_teams_status CHECK (status IN ('active','archived')),
	status_reason_code TEXT,
	status_reason_summary TEXT,
	status_evidence_refs JSON,
	PRIMARY KEY (id)
);
CREATE INDEX idx_teams_name ON teams (name);
CREATE INDEX idx_teams_status ON teams (status);
CREATE INDEX idx_teams_updated ON teams (updated_at);
CREATE TABLE workflow_defs (
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	description TEXT,
	spec_json JSON,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name)
);
CREATE INDEX idx_workflow_defs_name ON workflow_defs (name);
CREATE INDEX idx_workflow_defs_updated ON workflow_defs (updated_at);
CREATE TABLE messages (
	id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	node_metadata JSON,
	content JSON NOT NULL,
	embedding BLOB,
	sender TEXT,
	recipient TEXT,
	channel TEXT,
	role TEXT NOT NULL,
	lion_class INTEGER NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(lion_class) REFERENCES message_types (type_id)
);
CREATE INDEX idx_messages_created ON messages (created_at);
CREATE INDEX idx_messages_lion_class ON messages (lion_class);
CREATE INDEX idx_messages_recipient ON messages (recipient) WHERE recipient IS NOT NULL;
CREATE INDEX idx_messages_role ON messages (role);
CREATE INDEX idx_messages_sender ON messages (sender) WHERE sender IS NOT NULL;
CREATE TABLE schedule_runs (
	id TEXT NOT NULL,
	schedule_id TEXT,
	invocation_id TEXT,
	trigger_context JSON NOT NULL,
	action_kind TEXT NOT NULL,
	action_args JSON NOT NULL,
	status TEXT DEFAULT 'running' NOT NULL CONSTRAINT ck_schedule_runs_status CHECK (status IN ('queued','waiting_dependency','running','retry_wait','completed','failed','timed_out','skipped','cancelled')),
	exit_code INTEGER,
	chain_parent_id TEXT,
	chain_depth INTEGER DEFAULT '0' NOT NULL,
	fired_at FLOAT NOT NULL,
	ended_at FLOAT,
	error_detail TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT,
	status_reason_code TEXT,
	status_reason_summary TEXT,
	status_evidence_refs JSON,
	queued_at FLOAT,
	leased_by TEXT,
	lease_expires_at FLOAT,
	concurrency_key TEXT,
	lease_attempts INTEGER DEFAULT '0' NOT NULL,
	required_capabilities JSON,
	execution_target TEXT,
	library_ref TEXT,
	library_content_hash TEXT,
	dispatched_at FLOAT,
	resume_packet JSON,
	PRIMARY KEY (id),
	FOREIGN KEY(schedule_id) REFERENCES schedules (id) ON DELETE CASCADE,
	FOREIGN KEY(invocation_id) REFERENCES invocations (id),
	FOREIGN KEY(chain_parent_id) REFERENCES schedule_runs (id)
);
CREATE INDEX idx_sched_runs_invocation ON schedule_runs (invocation_id) WHERE invocation_id IS NOT NULL;
CREATE INDEX idx_sched_runs_schedule ON schedule_runs (schedule_id, fired_at);
CREATE INDEX idx_sched_runs_status ON schedule_runs (status) WHERE status = 'running';
CREATE INDEX idx_schedule_runs_concurrency ON schedule_runs (concurrency_key, status) WHERE status IN ('queued', 'running', 'retry_wait');
CREATE INDEX idx_schedule_runs_queue ON schedule_runs (status, queued_at) WHERE status IN ('queued', 'retry_wait');
CREATE TABLE terminal_deliveries (
	transition_id TEXT NOT NULL,
	consumer TEXT NOT NULL,
	acked_at FLOAT NOT NULL,
	PRIMARY KEY (transition_id, consumer),
	FOREIGN KEY(transition_id) REFERENCES status_transitions (id)
);
CREATE INDEX idx_terminal_deliveries_consumer ON terminal_deliveries (consumer, acked_at);
CREATE TABLE sessions (
	id TEXT NOT NULL,
	cc_session_id TEXT,
	run_id TEXT,
	created_at FLOAT NOT NULL,
	node_metadata JSON,
	name TEXT,
	user_label TEXT,
	user TEXT,
	progression_id TEXT NOT NULL,
	first_msg_id TEXT,
	last_msg_id TEXT,
	updated_at FLOAT NOT NULL,
	playbook_name TEXT,
	agent_name TEXT,
	invocation_kind TEXT CONSTRAINT ck_sessions_invocation_kind CHECK (invocation_kind IS NULL OR invocation_kind IN ('agent','play','flow','fanout','show-play','engine')),
	show_topic TEXT,
	show_play_name TEXT,
	artifacts_path TEXT,
	source_kind TEXT DEFAULT 'live' CONSTRAINT ck_sessions_source_kind CHECK (source_kind IS NULL OR source_kind IN ('live','imported_fs','imported_codex')),
	status TEXT,
	started_at FLOAT,
	ended_at FLOAT,
	ended_at_is_approximate INTEGER DEFAULT '0' NOT NULL,
	last_message_at FLOAT,
	current_phase TEXT,
	invocation_id TEXT,
	model TEXT,
	provider TEXT,
	effort TEXT,
	agent_hash TEXT,
	project TEXT,
	project_source TEXT,
	status_reason_code TEXT,
	status_reason_summary TEXT,
	status_evidence_refs JSON,
	artifact_contract_json JSON,
	artifact_verification_json JSON,
	input_tokens INTEGER,
	output_tokens INTEGER,
	total_cost_usd FLOAT,
	num_turns INTEGER,
	duration_ms FLOAT,
	PRIMARY KEY (id),
	FOREIGN KEY(progression_id) REFERENCES progressions (id),
	FOREIGN KEY(first_msg_id) REFERENCES messages (id),
	FOREIGN KEY(last_msg_id) REFERENCES messages (id),
	FOREIGN KEY(invocation_id) REFERENCES invocations (id)
);
CREATE INDEX idx_sessions_cc_session ON sessions (cc_session_id) WHERE cc_session_id IS NOT NULL;
CREATE INDEX idx_sessions_first_msg_id ON sessions (first_msg_id);
CREATE INDEX idx_sessions_invocation ON sessions (invocation_id) WHERE invocation_id IS NOT NULL;
CREATE INDEX idx_sessions_invocation_status_created ON sessions (invocation_id, status, created_at, id) WHERE invocation_id IS NOT NULL;
CREATE INDEX idx_sessions_last_msg_id ON sessions (last_msg_id);
CREATE INDEX idx_sessions_progression_id ON sessions (progression_id);
CREATE INDEX idx_sessions_project ON sessions (project) WHERE project IS NOT NULL;
CREATE INDEX idx_sessions_run_id ON sessions (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX idx_sessions_status_last_msg ON sessions (status, last_message_at) WHERE status = 'running';
CREATE INDEX idx_sessions_status_updated ON sessions (status, updated_at);
CREATE INDEX idx_sessions_terminal_missing_end ON sessions (id) WHERE ended_at IS NULL AND status IN ('completed','completed_empty','failed','timed_out','aborted','cancelled');
CREATE INDEX idx_sessions_updated ON sessions (updated_at);
CREATE TABLE workers (
	worker_id TEXT NOT NULL,
	advertised_capabilities JSON DEFAULT '[]' NOT NULL,
	execution_targets JSON DEFAULT '[]' NOT NULL,
	last_heartbeat_at FLOAT NOT NULL,
	leased_run_id TEXT,
	PRIMARY KEY (worker_id),
	FOREIGN KEY(leased_run_id) REFERENCES schedule_runs (id)
);
CREATE INDEX idx_workers_heartbeat ON workers (last_heartbeat_at);
CREATE TABLE approvals (
	id TEXT NOT NULL,
	action_kind TEXT NOT NULL,
	params_hash TEXT NOT NULL,
	session_id TEXT,
	status TEXT DEFAULT 'pending' NOT NULL CONSTRAINT ck_approvals_status CHECK (status IN ('pending','granted','consumed','expired','denied')),
	proposed_at FLOAT NOT NULL,
	granted_at FLOAT,
	consumed_at FLOAT,
	expires_at FLOAT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(session_id) REFERENCES sessions (id)
);
CREATE INDEX idx_approvals_session ON approvals (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_approvals_status ON approvals (status) WHERE status IN ('pending', 'granted');
CREATE TABLE artifacts (
	id TEXT NOT NULL,
	invocation_id TEXT,
	session_id TEXT,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	content JSON NOT NULL,
	file_path TEXT,
	PRIMARY KEY (id),
	FOREIGN KEY(invocation_id) REFERENCES invocations (id) ON DELETE CASCADE,
	FOREIGN KEY(session_id) REFERENCES sessions (id)
);
CREATE INDEX idx_artifacts_created ON artifacts (created_at);
CREATE INDEX idx_artifacts_invocation ON artifacts (invocation_id) WHERE invocation_id IS NOT NULL;
CREATE INDEX idx_artifacts_invocation_time ON artifacts (invocation_id, created_at) WHERE invocation_id IS NOT NULL;
CREATE INDEX idx_artifacts_kind ON artifacts (kind);
CREATE UNIQUE INDEX idx_artifacts_natural_key_both ON artifacts (invocation_id, session_id, kind, name) WHERE invocation_id IS NOT NULL AND session_id IS NOT NULL;
CREATE UNIQUE INDEX idx_artifacts_natural_key_inv_only ON artifacts (invocation_id, kind, name) WHERE invocation_id IS NOT NULL AND session_id IS NULL;
CREATE UNIQUE INDEX idx_artifacts_natural_key_ses_only ON artifacts (session_id, kind, name) WHERE session_id IS NOT NULL AND invocation_id IS NULL;
CREATE UNIQUE INDEX idx_artifacts_natural_key_unattached ON artifacts (kind, name) WHERE invocation_id IS NULL AND session_id IS NULL;
CREATE INDEX idx_artifacts_session ON artifacts (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_artifacts_session_time ON artifacts (session_id, created_at) WHERE session_id IS NOT NULL;
CREATE TABLE branches (
	id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	node_metadata JSON,
	user TEXT,
	name TEXT,
	session_id TEXT NOT NULL,
	progression_id TEXT NOT NULL,
	system_msg_id TEXT,
	model TEXT,
	provider TEXT,
	agent_name TEXT,
	status TEXT,
	started_at FLOAT,
	ended_at FLOAT,
	PRIMARY KEY (id),
	FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE CASCADE,
	FOREIGN KEY(progression_id) REFERENCES progressions (id),
	FOREIGN KEY(system_msg_id) REFERENCES messages (id)
);
CREATE INDEX idx_branches_progression_id ON branches (progression_id);
CREATE INDEX idx_branches_session_created ON branches (session_id, created_at);
CREATE INDEX idx_branches_system_msg_id ON branches (system_msg_id);
CREATE TABLE dispatch_outbox (
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	deliver_to TEXT NOT NULL,
	payload JSON NOT NULL,
	dedup_key TEXT,
	status TEXT DEFAULT 'pending' NOT NULL CONSTRAINT ck_dispatch_outbox_status CHECK (status IN ('pending','delivering','delivered','acked','dead_letter','expired')),
	attempt INTEGER DEFAULT '0' NOT NULL,
	max_attempts INTEGER DEFAULT '8' NOT NULL,
	next_attempt_at FLOAT NOT NULL,
	ack_required INTEGER DEFAULT '0' NOT NULL,
	ack_token TEXT,
	session_id TEXT,
	schedule_run_id TEXT,
	last_error TEXT,
	created_at FLOAT NOT NULL,
	expires_at FLOAT,
	updated_at FLOAT,
	PRIMARY KEY (id),
	FOREIGN KEY(session_id) REFERENCES sessions (id),
	FOREIGN KEY(schedule_run_id) REFERENCES schedule_runs (id)
);
CREATE UNIQUE INDEX idx_dispatch_outbox_dedup ON dispatch_outbox (dedup_key) WHERE dedup_key IS NOT NULL;
CREATE INDEX idx_dispatch_outbox_due ON dispatch_outbox (status, next_attempt_at) WHERE status IN ('pending', 'delivering');
CREATE TABLE engine_runs (
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	spec_json JSON NOT NULL,
	status TEXT DEFAULT 'running' NOT NULL CONSTRAINT ck_engine_runs_status CHECK (status IN ('running','completed','failed','cancelled')),
	started_at FLOAT NOT NULL,
	ended_at FLOAT,
	session_id TEXT,
	invocation_id TEXT,
	signal_session_id TEXT,
	parent_session_id TEXT,
	outcome_json JSON,
	export_dir TEXT,
	error TEXT,
	PRIMARY KEY (id),
	FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE SET NULL,
	FOREIGN KEY(invocation_id) REFERENCES invocations (id) ON DELETE SET NULL,
	FOREIGN KEY(signal_session_id) REFERENCES sessions (id) ON DELETE SET NULL,
	FOREIGN KEY(parent_session_id) REFERENCES sessions (id) ON DELETE SET NULL
);
CREATE INDEX idx_engine_runs_invocation ON engine_runs (invocation_id) WHERE invocation_id IS NOT NULL;
CREATE INDEX idx_engine_runs_kind ON engine_runs (kind);
CREATE INDEX idx_engine_runs_parent_session ON engine_runs (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX idx_engine_runs_session ON engine_runs (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_engine_runs_signal_session ON engine_runs (signal_session_id) WHERE signal_session_id IS NOT NULL;
CREATE INDEX idx_engine_runs_started ON engine_runs (started_at);
CREATE INDEX idx_engine_runs_started_id ON engine_runs (started_at DESC, id DESC);
CREATE INDEX idx_engine_runs_status ON engine_runs (status);
CREATE TABLE plays (
	id TEXT NOT NULL,
	show_id TEXT NOT NULL,
	name TEXT NOT NULL,
	playbook TEXT,
	effort TEXT,
	status TEXT DEFAULT 'pending' NOT NULL CONSTRAINT ck_plays_status CHECK (status IN ('pending','prepared','running','running_complete','gated','gate_failed','redoing','merged','escalated','blocked','aborted_after_finish')),
	attempt INTEGER DEFAULT '1' NOT NULL,
	session_id TEXT,
	started_at FLOAT,
	ended_at FLOAT,
	exit_code INTEGER,
	worktree TEXT,
	branch TEXT,
	merge_sha TEXT,
	merged_at FLOAT,
	gate_passed INTEGER,
	gate_feedback TEXT,
	depends_on JSON DEFAULT '[]',
	sort_order INTEGER DEFAULT '0' NOT NULL,
	created_at FLOAT NOT NULL,
	updated_at FLOAT NOT NULL,
	status_reason_code TEXT,
	status_reason_summary TEXT,
	status_evidence_refs JSON,
	PRIMARY KEY (id),
	FOREIGN KEY(show_id) REFERENCES shows (id) ON DELETE CASCADE,
	FOREIGN KEY(session_id) REFERENCES sessions (id),
	CONSTRAINT idx_plays_show_name UNIQUE (show_id, name)
);
CREATE INDEX idx_plays_session ON plays (session_id);
CREATE INDEX idx_plays_show ON plays (show_id);
CREATE INDEX idx_plays_status ON plays (status);
CREATE TABLE run_tags (
	session_id TEXT NOT NULL,
	tag TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	PRIMARY KEY (session_id, tag),
	FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE INDEX idx_run_tags_tag ON run_tags (tag);
CREATE TABLE session_controls (
	id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	verb TEXT NOT NULL CONSTRAINT ck_session_controls_verb CHECK (verb IN ('pause','resume','message','stop')),
	payload JSON,
	created_at FLOAT NOT NULL,
	applied_at FLOAT,
	claimed_at FLOAT,
	result TEXT,
	PRIMARY KEY (id),
	FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE CASCADE
);
CREATE INDEX idx_session_controls_pending ON session_controls (session_id, applied_at) WHERE applied_at IS NULL;
CREATE TABLE session_signals (
	id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	seq INTEGER NOT NULL,
	kind TEXT NOT NULL,
	op_id TEXT DEFAULT '' NOT NULL,
	ts FLOAT NOT NULL,
	payload JSON DEFAULT '{}' NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(session_id) REFERENCES sessions (id) ON DELETE CASCADE,
	CONSTRAINT idx_session_signals_seq UNIQUE (session_id, seq)
);
CREATE INDEX idx_session_signals_session_ts ON session_signals (session_id, ts);
CREATE TABLE team_messages (
	id TEXT NOT NULL,
	team_id TEXT NOT NULL,
	created_at FLOAT NOT NULL,
	sender TEXT NOT NULL,
	recipient TEXT DEFAULT 'all' NOT NULL,
	content TEXT NOT NULL,
	summary TEXT,
	read_by JSON DEFAULT '[]' NOT NULL,
	session_id TEXT,
	PRIMARY KEY (id),
	FOREIGN KEY(team_id) REFERENCES teams (id) ON DELETE CASCADE,
	FOREIGN KEY(session_id) REFERENCES sessions (id)
);
CREATE INDEX idx_team_msgs_created ON team_messages (created_at);
CREATE INDEX idx_team_msgs_session ON team_messages (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_team_msgs_team ON team_messages (team_id);
CREATE TABLE approval_evidence (
	id TEXT NOT NULL,
	sequence INTEGER NOT NULL,
	event_type TEXT NOT NULL CONSTRAINT ck_approval_evidence_event_type CHECK (event_type IN ('proposed','granted','denied','consumed','expired')),
	approval_id TEXT NOT NULL,
	action_kind TEXT NOT NULL,
	status_from TEXT,
	status_to TEXT NOT NULL,
	params_hash TEXT NOT NULL,
	justification_class TEXT,
	justification_reason TEXT,
	created_at FLOAT NOT NULL,
	content_hash TEXT NOT NULL,
	previous_hash TEXT NOT NULL,
	chain_hash TEXT NOT NULL,
	hmac_sig TEXT,
	PRIMARY KEY (id),
	FOREIGN KEY(approval_id) REFERENCES approvals (id)
);
CREATE INDEX idx_approval_evidence_approval ON approval_evidence (approval_id);
CREATE UNIQUE INDEX idx_approval_evidence_sequence ON approval_evidence (sequence);
