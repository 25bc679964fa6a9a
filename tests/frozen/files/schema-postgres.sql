column sexton.counters.01 ref bigint NOT NULL identity d
column sexton.counters.02 scope text NOT NULL COLLATE C
column sexton.counters.03 subject text NOT NULL COLLATE C
column sexton.counters.04 unit text NOT NULL COLLATE C
column sexton.counters.05 period text NOT NULL COLLATE C
column sexton.counters.06 cap bigint
column sexton.counters.07 action text
column sexton.counters.08 used_at bigint NOT NULL
column sexton.counters.09 warned_at bigint
column sexton.counters.10 warned bigint
column sexton.counters.11 stopped_at bigint
column sexton.dues.01 home bigint
column sexton.dues.02 session bigint
column sexton.dues.03 finalizer text COLLATE C
column sexton.dues.04 ended_at bigint
column sexton.dues.05 since bigint
column sexton.dues.06 through bigint
column sexton.figures.01 name text NOT NULL COLLATE C
column sexton.figures.02 at bigint NOT NULL
column sexton.figures.03 value bigint NOT NULL
column sexton.finalizations.01 ref bigint NOT NULL identity d
column sexton.finalizations.02 home bigint NOT NULL
column sexton.finalizations.03 session bigint NOT NULL
column sexton.finalizations.04 finalizer text NOT NULL COLLATE C
column sexton.finalizations.05 since bigint NOT NULL
column sexton.finalizations.06 through bigint NOT NULL
column sexton.finalizations.07 state text NOT NULL DEFAULT 'pending'::text
column sexton.finalizations.08 attempts bigint NOT NULL DEFAULT 0
column sexton.finalizations.09 claim bigint NOT NULL DEFAULT 0
column sexton.finalizations.10 worker text COLLATE C
column sexton.finalizations.11 owed_at bigint NOT NULL
column sexton.finalizations.12 not_before bigint NOT NULL
column sexton.finalizations.13 finished_at bigint
column sexton.finalizations.14 last_error text
column sexton.finalizations.15 note text
column sexton.finalizations.16 memo bytea
column sexton.finalizations.17 memo_host text COLLATE C
column sexton.finalizations.18 crashes bigint NOT NULL DEFAULT 0
column sexton.finalizer_days.01 day text NOT NULL COLLATE C
column sexton.finalizer_days.02 finalizer text NOT NULL COLLATE C
column sexton.finalizer_days.03 calls bigint NOT NULL
column sexton.grants.01 ref bigint NOT NULL identity d
column sexton.grants.02 session bigint NOT NULL
column sexton.grants.03 worker text NOT NULL COLLATE C
column sexton.grants.04 made_at bigint NOT NULL
column sexton.grants.05 held text NOT NULL
column sexton.grants.06 freed_at bigint
column sexton.grants.07 slot text
column sexton.grants.08 number bigint
column sexton.grants.09 settled bigint
column sexton.held_resets.01 session bigint NOT NULL
column sexton.held_resets.02 since bigint NOT NULL
column sexton.holders.01 session bigint NOT NULL
column sexton.holders.02 worker text NOT NULL COLLATE C
column sexton.holders.03 joined_at bigint NOT NULL
column sexton.holders.04 turns bigint NOT NULL DEFAULT 0
column sexton.holders.05 busy_since bigint
column sexton.holders.06 progress_at bigint
column sexton.homes.01 ref bigint NOT NULL identity d
column sexton.homes.02 name text NOT NULL COLLATE C
column sexton.homes.03 kind text NOT NULL
column sexton.homes.04 path text COLLATE C
column sexton.homes.05 host text COLLATE C
column sexton.homes.06 act bigint NOT NULL DEFAULT 0
column sexton.homes.07 mark text
column sexton.homes.08 rules text
column sexton.homes.09 observed_at bigint
column sexton.homes.10 attached_at bigint
column sexton.journal.01 ref bigint NOT NULL identity d
column sexton.journal.02 at bigint NOT NULL
column sexton.journal.03 actor text NOT NULL
column sexton.journal.04 receipt text COLLATE C
column sexton.journal.05 home text COLLATE C
column sexton.journal.06 session text COLLATE C
column sexton.journal.07 action text NOT NULL
column sexton.journal.08 result text NOT NULL
column sexton.journal.09 reason text NOT NULL
column sexton.journal.10 explanation text NOT NULL
column sexton.journal.11 sessions text
column sexton.ledger.01 only_row smallint NOT NULL
column sexton.ledger.02 id text NOT NULL COLLATE C
column sexton.ledger.03 schema_version bigint NOT NULL
column sexton.ledger.04 oldest_reader bigint NOT NULL
column sexton.ledger.05 plan_key text
column sexton.messages.01 ref bigint NOT NULL identity d
column sexton.messages.02 session bigint NOT NULL
column sexton.messages.03 seq bigint NOT NULL
column sexton.messages.04 at bigint NOT NULL
column sexton.messages.05 role text NOT NULL
column sexton.messages.06 is_text bigint NOT NULL
column sexton.messages.07 content bytea
column sexton.messages.08 extra bytea
column sexton.outbox.01 ref bigint NOT NULL identity d
column sexton.outbox.02 key text NOT NULL COLLATE C
column sexton.outbox.03 target text NOT NULL COLLATE C
column sexton.outbox.04 event text NOT NULL
column sexton.outbox.05 title text NOT NULL
column sexton.outbox.06 text text NOT NULL
column sexton.outbox.07 home text
column sexton.outbox.08 session text
column sexton.outbox.09 state text NOT NULL
column sexton.outbox.10 attempts bigint NOT NULL DEFAULT 0
column sexton.outbox.11 claim bigint NOT NULL DEFAULT 0
column sexton.outbox.12 worker text COLLATE C
column sexton.outbox.13 posted_at bigint NOT NULL
column sexton.outbox.14 not_before bigint NOT NULL
column sexton.outbox.15 finished_at bigint
column sexton.outbox.16 last_error text
column sexton.owing.01 finalizer text NOT NULL COLLATE C
column sexton.owing.02 source text NOT NULL COLLATE C
column sexton.owing.03 min_messages bigint
column sexton.policies.01 serial bigint NOT NULL
column sexton.policies.02 digest text NOT NULL
column sexton.policies.03 text text NOT NULL
column sexton.policies.04 actor text NOT NULL
column sexton.policies.05 published_at bigint NOT NULL
column sexton.processes.01 ref bigint NOT NULL identity d
column sexton.processes.02 session bigint
column sexton.processes.03 home text NOT NULL
column sexton.processes.04 session_id text NOT NULL COLLATE C
column sexton.processes.05 task text
column sexton.processes.06 kind text NOT NULL
column sexton.processes.07 host text NOT NULL COLLATE C
column sexton.processes.08 boot_id text NOT NULL COLLATE C
column sexton.processes.09 pid bigint NOT NULL
column sexton.processes.10 started bigint NOT NULL
column sexton.processes.11 inode bigint
column sexton.processes.12 pid_namespace bigint
column sexton.processes.13 uid bigint NOT NULL
column sexton.processes.14 tag text
column sexton.processes.15 command text NOT NULL
column sexton.processes.16 cwd text NOT NULL
column sexton.processes.17 started_at bigint NOT NULL
column sexton.processes.18 expires_at bigint
column sexton.processes.19 registered_by text
column sexton.processes.20 kept bigint NOT NULL DEFAULT 0
column sexton.processes.21 told_at bigint
column sexton.processes.22 ended_at bigint
column sexton.processes.23 ended_how text
column sexton.processes.24 doing text NOT NULL DEFAULT 'unknown'::text
column sexton.processes.25 judged_at bigint
column sexton.processes.26 figures text
column sexton.processes.27 kept_by_agent bigint NOT NULL DEFAULT 0
column sexton.removal_days.01 home bigint NOT NULL
column sexton.removal_days.02 day text NOT NULL COLLATE C
column sexton.removal_days.03 sessions bigint NOT NULL
column sexton.samples.01 home text NOT NULL
column sexton.samples.02 at bigint NOT NULL
column sexton.samples.03 open bigint NOT NULL
column sexton.samples.04 live bigint NOT NULL
column sexton.samples.05 waiting bigint NOT NULL
column sexton.samples.06 leaked bigint NOT NULL
column sexton.samples.07 unproven bigint NOT NULL
column sexton.sessions.01 ref bigint NOT NULL identity d
column sexton.sessions.02 home bigint NOT NULL
column sexton.sessions.03 id text NOT NULL COLLATE C
column sexton.sessions.04 key text COLLATE C
column sexton.sessions.05 source text NOT NULL COLLATE C
column sexton.sessions.06 chat_type text COLLATE C
column sexton.sessions.07 job text COLLATE C
column sexton.sessions.08 parent text COLLATE C
column sexton.sessions.09 relation text
column sexton.sessions.10 state text NOT NULL DEFAULT 'open'::text
column sexton.sessions.11 epoch bigint NOT NULL DEFAULT 1
column sexton.sessions.12 started_at bigint NOT NULL
column sexton.sessions.13 active_at bigint NOT NULL
column sexton.sessions.14 due_at bigint
column sexton.sessions.15 policy_serial bigint NOT NULL DEFAULT 0
column sexton.sessions.16 ended_at bigint
column sexton.sessions.17 end_reason text
column sexton.sessions.18 last_seq bigint NOT NULL DEFAULT 0
column sexton.sessions.19 message_count bigint NOT NULL DEFAULT 0
column sexton.sessions.20 byte_count bigint NOT NULL DEFAULT 0
column sexton.sessions.21 turn_count bigint NOT NULL DEFAULT 0
column sexton.sessions.22 input_tokens bigint NOT NULL DEFAULT 0
column sexton.sessions.23 output_tokens bigint NOT NULL DEFAULT 0
column sexton.sessions.24 cached_tokens bigint NOT NULL DEFAULT 0
column sexton.sessions.25 reasoning_tokens bigint NOT NULL DEFAULT 0
column sexton.sessions.26 cost_micros bigint NOT NULL DEFAULT 0
column sexton.sessions.27 title text
column sexton.sessions.28 preview text
column sexton.sessions.29 pinned bigint NOT NULL DEFAULT 0
column sexton.sessions.30 human_touched bigint NOT NULL DEFAULT 0
column sexton.sessions.31 errored bigint NOT NULL DEFAULT 0
column sexton.sessions.32 warned bigint NOT NULL DEFAULT 0
column sexton.sessions.33 inherited bigint NOT NULL DEFAULT 0
column sexton.sessions.34 compress_after bigint
column sexton.sessions.35 root bigint
column sexton.sessions.36 guard text
column sexton.sessions.37 vault bigint
column sexton.sessions.38 untold bigint
column sexton.sessions.39 active_slot bigint NOT NULL DEFAULT 0
column sexton.sessions.40 kept bigint NOT NULL DEFAULT 0
column sexton.sessions.41 spared_at bigint
column sexton.sessions.42 live_messages bigint
column sexton.sessions.43 live_bytes bigint
column sexton.shadow_reaps.01 home text NOT NULL
column sexton.shadow_reaps.02 session text NOT NULL
column sexton.shadow_reaps.03 recorded_at bigint NOT NULL
column sexton.shadow_reaps.04 active_at bigint NOT NULL
column sexton.shadow_reaps.05 reason text NOT NULL
column sexton.shadow_reaps.06 contradicted_at bigint
column sexton.slices.01 counter bigint NOT NULL
column sexton.slices.02 start bigint NOT NULL
column sexton.slices.03 spent bigint NOT NULL DEFAULT 0
column sexton.slices.04 reserved bigint NOT NULL DEFAULT 0
column sexton.slices.05 added bigint NOT NULL DEFAULT 0
column sexton.told_of_processes.01 process bigint NOT NULL
column sexton.told_of_processes.02 what text NOT NULL COLLATE C
column sexton.told_of_processes.03 at bigint NOT NULL
column sexton.vault.01 ref bigint NOT NULL identity d
column sexton.vault.02 name text NOT NULL COLLATE C
column sexton.vault.03 kind text NOT NULL
column sexton.vault.04 holds text NOT NULL
column sexton.vault.05 home bigint NOT NULL
column sexton.vault.06 source text NOT NULL COLLATE C
column sexton.vault.07 host text NOT NULL COLLATE C
column sexton.vault.08 place text NOT NULL
column sexton.vault.09 state text NOT NULL
column sexton.vault.10 worker text COLLATE C
column sexton.vault.11 receipt text NOT NULL COLLATE C
column sexton.vault.12 made_at bigint NOT NULL
column sexton.vault.13 expires_at bigint
column sexton.vault.14 bytes bigint NOT NULL DEFAULT 0
column sexton.vault.15 raw_bytes bigint NOT NULL DEFAULT 0
column sexton.vault.16 sha256 text NOT NULL DEFAULT ''::text
column sexton.vault.17 sessions bigint NOT NULL DEFAULT 0
column sexton.vault.18 messages bigint NOT NULL DEFAULT 0
column sexton.vault.19 files bigint NOT NULL DEFAULT 0
column sexton.verdicts.01 home bigint
column sexton.verdicts.02 session bigint
column sexton.verdicts.03 finalizer text COLLATE C
column sexton.verdicts.04 ended_at bigint
column sexton.verdicts.05 state text
column sexton.verdicts.06 since bigint
column sexton.verdicts.07 through bigint
column sexton.verdicts.08 least bigint
column sexton.verdicts.09 code text
column sexton.workers.01 id text NOT NULL COLLATE C
column sexton.workers.02 host text NOT NULL COLLATE C
column sexton.workers.03 boot_id text NOT NULL
column sexton.workers.04 pid bigint NOT NULL
column sexton.workers.05 started bigint NOT NULL
column sexton.workers.06 inode bigint
column sexton.workers.07 pid_namespace bigint
column sexton.workers.08 uid bigint NOT NULL
column sexton.workers.09 kind text NOT NULL
column sexton.workers.10 version text NOT NULL
column sexton.workers.11 beat bigint NOT NULL DEFAULT 0
column sexton.workers.12 registered_at bigint NOT NULL
column sexton.workers.13 left_at bigint
column sexton.workers.14 swept_at bigint
column sexton.workers.15 sweeps_every bigint NOT NULL DEFAULT 0
column sexton.workers.16 dead_at bigint
column sexton.workers.17 evidence text
constraint sexton.counters counters_check CHECK (((cap IS NULL) = (action IS NULL)))
constraint sexton.counters counters_period_not_null NOT NULL period
constraint sexton.counters counters_pkey PRIMARY KEY (ref)
constraint sexton.counters counters_ref_not_null NOT NULL ref
constraint sexton.counters counters_scope_check CHECK ((scope = ANY (ARRAY['session'::text, 'tree'::text, 'source'::text, 'day'::text])))
constraint sexton.counters counters_scope_not_null NOT NULL scope
constraint sexton.counters counters_scope_subject_unit_period_key UNIQUE (scope, subject, unit, period)
constraint sexton.counters counters_subject_not_null NOT NULL subject
constraint sexton.counters counters_unit_not_null NOT NULL unit
constraint sexton.counters counters_used_at_not_null NOT NULL used_at
constraint sexton.figures figures_at_not_null NOT NULL at
constraint sexton.figures figures_name_not_null NOT NULL name
constraint sexton.figures figures_pkey PRIMARY KEY (name, at)
constraint sexton.figures figures_value_not_null NOT NULL value
constraint sexton.finalizations finalizations_attempts_not_null NOT NULL attempts
constraint sexton.finalizations finalizations_check CHECK ((since < through))
constraint sexton.finalizations finalizations_check1 CHECK (((state = 'running'::text) = (worker IS NOT NULL)))
constraint sexton.finalizations finalizations_claim_not_null NOT NULL claim
constraint sexton.finalizations finalizations_crashes_not_null NOT NULL crashes
constraint sexton.finalizations finalizations_finalizer_not_null NOT NULL finalizer
constraint sexton.finalizations finalizations_home_not_null NOT NULL home
constraint sexton.finalizations finalizations_not_before_not_null NOT NULL not_before
constraint sexton.finalizations finalizations_owed_at_not_null NOT NULL owed_at
constraint sexton.finalizations finalizations_pkey PRIMARY KEY (ref)
constraint sexton.finalizations finalizations_ref_not_null NOT NULL ref
constraint sexton.finalizations finalizations_session_finalizer_through_ke UNIQUE (session, finalizer, through)
constraint sexton.finalizations finalizations_session_fkey FOREIGN KEY (session) REFERENCES sexton.sessions(ref) ON DELETE CASCADE
constraint sexton.finalizations finalizations_session_not_null NOT NULL session
constraint sexton.finalizations finalizations_since_not_null NOT NULL since
constraint sexton.finalizations finalizations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'done'::text, 'dead'::text])))
constraint sexton.finalizations finalizations_state_not_null NOT NULL state
constraint sexton.finalizations finalizations_through_not_null NOT NULL through
constraint sexton.finalizer_days finalizer_days_calls_not_null NOT NULL calls
constraint sexton.finalizer_days finalizer_days_day_not_null NOT NULL day
constraint sexton.finalizer_days finalizer_days_finalizer_not_null NOT NULL finalizer
constraint sexton.finalizer_days finalizer_days_pkey PRIMARY KEY (day, finalizer)
constraint sexton.grants grants_held_not_null NOT NULL held
constraint sexton.grants grants_made_at_not_null NOT NULL made_at
constraint sexton.grants grants_pkey PRIMARY KEY (ref)
constraint sexton.grants grants_ref_not_null NOT NULL ref
constraint sexton.grants grants_session_not_null NOT NULL session
constraint sexton.grants grants_worker_not_null NOT NULL worker
constraint sexton.held_resets held_resets_pkey PRIMARY KEY (session)
constraint sexton.held_resets held_resets_session_fkey FOREIGN KEY (session) REFERENCES sexton.sessions(ref) ON DELETE CASCADE
constraint sexton.held_resets held_resets_session_not_null NOT NULL session
constraint sexton.held_resets held_resets_since_not_null NOT NULL since
constraint sexton.holders holders_joined_at_not_null NOT NULL joined_at
constraint sexton.holders holders_pkey PRIMARY KEY (session, worker)
constraint sexton.holders holders_session_fkey FOREIGN KEY (session) REFERENCES sexton.sessions(ref)
constraint sexton.holders holders_session_not_null NOT NULL session
constraint sexton.holders holders_turns_not_null NOT NULL turns
constraint sexton.holders holders_worker_fkey FOREIGN KEY (worker) REFERENCES sexton.workers(id)
constraint sexton.holders holders_worker_not_null NOT NULL worker
constraint sexton.homes homes_act_check CHECK ((act = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.homes homes_act_not_null NOT NULL act
constraint sexton.homes homes_host_path_key UNIQUE (host, path)
constraint sexton.homes homes_kind_not_null NOT NULL kind
constraint sexton.homes homes_name_key UNIQUE (name)
constraint sexton.homes homes_name_not_null NOT NULL name
constraint sexton.homes homes_pkey PRIMARY KEY (ref)
constraint sexton.homes homes_ref_not_null NOT NULL ref
constraint sexton.journal journal_action_not_null NOT NULL action
constraint sexton.journal journal_actor_not_null NOT NULL actor
constraint sexton.journal journal_at_not_null NOT NULL at
constraint sexton.journal journal_explanation_not_null NOT NULL explanation
constraint sexton.journal journal_pkey PRIMARY KEY (ref)
constraint sexton.journal journal_reason_not_null NOT NULL reason
constraint sexton.journal journal_ref_not_null NOT NULL ref
constraint sexton.journal journal_result_not_null NOT NULL result
constraint sexton.ledger ledger_id_not_null NOT NULL id
constraint sexton.ledger ledger_oldest_reader_not_null NOT NULL oldest_reader
constraint sexton.ledger ledger_only_row_check CHECK ((only_row = 1))
constraint sexton.ledger ledger_only_row_not_null NOT NULL only_row
constraint sexton.ledger ledger_pkey PRIMARY KEY (only_row)
constraint sexton.ledger ledger_schema_version_not_null NOT NULL schema_version
constraint sexton.messages messages_at_not_null NOT NULL at
constraint sexton.messages messages_is_text_check CHECK ((is_text = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.messages messages_is_text_not_null NOT NULL is_text
constraint sexton.messages messages_pkey PRIMARY KEY (ref)
constraint sexton.messages messages_ref_not_null NOT NULL ref
constraint sexton.messages messages_role_not_null NOT NULL role
constraint sexton.messages messages_seq_not_null NOT NULL seq
constraint sexton.messages messages_session_fkey FOREIGN KEY (session) REFERENCES sexton.sessions(ref)
constraint sexton.messages messages_session_not_null NOT NULL session
constraint sexton.messages messages_session_seq_key UNIQUE (session, seq)
constraint sexton.outbox outbox_attempts_not_null NOT NULL attempts
constraint sexton.outbox outbox_check CHECK (((state = 'sending'::text) = (worker IS NOT NULL)))
constraint sexton.outbox outbox_claim_not_null NOT NULL claim
constraint sexton.outbox outbox_event_not_null NOT NULL event
constraint sexton.outbox outbox_key_not_null NOT NULL key
constraint sexton.outbox outbox_key_target_key UNIQUE (key, target)
constraint sexton.outbox outbox_not_before_not_null NOT NULL not_before
constraint sexton.outbox outbox_pkey PRIMARY KEY (ref)
constraint sexton.outbox outbox_posted_at_not_null NOT NULL posted_at
constraint sexton.outbox outbox_ref_not_null NOT NULL ref
constraint sexton.outbox outbox_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sending'::text, 'delivered'::text, 'failed'::text, 'folded'::text])))
constraint sexton.outbox outbox_state_not_null NOT NULL state
constraint sexton.outbox outbox_target_not_null NOT NULL target
constraint sexton.outbox outbox_text_not_null NOT NULL text
constraint sexton.outbox outbox_title_not_null NOT NULL title
constraint sexton.owing owing_finalizer_not_null NOT NULL finalizer
constraint sexton.owing owing_pkey PRIMARY KEY (finalizer, source)
constraint sexton.owing owing_source_not_null NOT NULL source
constraint sexton.policies policies_actor_not_null NOT NULL actor
constraint sexton.policies policies_digest_not_null NOT NULL digest
constraint sexton.policies policies_pkey PRIMARY KEY (serial)
constraint sexton.policies policies_published_at_not_null NOT NULL published_at
constraint sexton.policies policies_serial_not_null NOT NULL serial
constraint sexton.policies policies_text_not_null NOT NULL text
constraint sexton.processes processes_boot_id_not_null NOT NULL boot_id
constraint sexton.processes processes_check CHECK (((ended_at IS NULL) = (ended_how IS NULL)))
constraint sexton.processes processes_command_not_null NOT NULL command
constraint sexton.processes processes_cwd_not_null NOT NULL cwd
constraint sexton.processes processes_doing_not_null NOT NULL doing
constraint sexton.processes processes_home_not_null NOT NULL home
constraint sexton.processes processes_host_not_null NOT NULL host
constraint sexton.processes processes_kept_by_agent_check CHECK ((kept_by_agent = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.processes processes_kept_by_agent_not_null NOT NULL kept_by_agent
constraint sexton.processes processes_kept_check CHECK ((kept = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.processes processes_kept_not_null NOT NULL kept
constraint sexton.processes processes_kind_check CHECK ((kind = ANY (ARRAY['job'::text, 'server'::text, 'mcp'::text, 'browser'::text, 'unknown'::text])))
constraint sexton.processes processes_kind_not_null NOT NULL kind
constraint sexton.processes processes_pid_not_null NOT NULL pid
constraint sexton.processes processes_pkey PRIMARY KEY (ref)
constraint sexton.processes processes_ref_not_null NOT NULL ref
constraint sexton.processes processes_session_fkey FOREIGN KEY (session) REFERENCES sexton.sessions(ref) ON DELETE SET NULL
constraint sexton.processes processes_session_id_not_null NOT NULL session_id
constraint sexton.processes processes_started_at_not_null NOT NULL started_at
constraint sexton.processes processes_started_not_null NOT NULL started
constraint sexton.processes processes_uid_not_null NOT NULL uid
constraint sexton.removal_days removal_days_day_not_null NOT NULL day
constraint sexton.removal_days removal_days_home_not_null NOT NULL home
constraint sexton.removal_days removal_days_pkey PRIMARY KEY (home, day)
constraint sexton.removal_days removal_days_sessions_not_null NOT NULL sessions
constraint sexton.samples samples_at_not_null NOT NULL at
constraint sexton.samples samples_home_not_null NOT NULL home
constraint sexton.samples samples_leaked_not_null NOT NULL leaked
constraint sexton.samples samples_live_not_null NOT NULL live
constraint sexton.samples samples_open_not_null NOT NULL open
constraint sexton.samples samples_pkey PRIMARY KEY (home, at)
constraint sexton.samples samples_unproven_not_null NOT NULL unproven
constraint sexton.samples samples_waiting_not_null NOT NULL waiting
constraint sexton.sessions sessions_active_at_not_null NOT NULL active_at
constraint sexton.sessions sessions_active_slot_not_null NOT NULL active_slot
constraint sexton.sessions sessions_byte_count_not_null NOT NULL byte_count
constraint sexton.sessions sessions_cached_tokens_not_null NOT NULL cached_tokens
constraint sexton.sessions sessions_check CHECK (((state = 'open'::text) = (ended_at IS NULL)))
constraint sexton.sessions sessions_cost_micros_not_null NOT NULL cost_micros
constraint sexton.sessions sessions_epoch_not_null NOT NULL epoch
constraint sexton.sessions sessions_errored_check CHECK ((errored = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.sessions sessions_errored_not_null NOT NULL errored
constraint sexton.sessions sessions_home_fkey FOREIGN KEY (home) REFERENCES sexton.homes(ref)
constraint sexton.sessions sessions_home_id_key UNIQUE (home, id)
constraint sexton.sessions sessions_home_not_null NOT NULL home
constraint sexton.sessions sessions_human_touched_check CHECK ((human_touched = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.sessions sessions_human_touched_not_null NOT NULL human_touched
constraint sexton.sessions sessions_id_not_null NOT NULL id
constraint sexton.sessions sessions_inherited_not_null NOT NULL inherited
constraint sexton.sessions sessions_input_tokens_not_null NOT NULL input_tokens
constraint sexton.sessions sessions_kept_check CHECK ((kept = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.sessions sessions_kept_not_null NOT NULL kept
constraint sexton.sessions sessions_last_seq_not_null NOT NULL last_seq
constraint sexton.sessions sessions_message_count_not_null NOT NULL message_count
constraint sexton.sessions sessions_output_tokens_not_null NOT NULL output_tokens
constraint sexton.sessions sessions_pinned_check CHECK ((pinned = ANY (ARRAY[(0)::bigint, (1)::bigint])))
constraint sexton.sessions sessions_pinned_not_null NOT NULL pinned
constraint sexton.sessions sessions_pkey PRIMARY KEY (ref)
constraint sexton.sessions sessions_policy_serial_not_null NOT NULL policy_serial
constraint sexton.sessions sessions_reasoning_tokens_not_null NOT NULL reasoning_tokens
constraint sexton.sessions sessions_ref_not_null NOT NULL ref
constraint sexton.sessions sessions_relation_check CHECK ((relation = ANY (ARRAY['compression'::text, 'subagent'::text, 'branch'::text, 'fork'::text])))
constraint sexton.sessions sessions_source_not_null NOT NULL source
constraint sexton.sessions sessions_started_at_not_null NOT NULL started_at
constraint sexton.sessions sessions_state_check CHECK ((state = ANY (ARRAY['open'::text, 'ended'::text, 'finalized'::text, 'archived'::text, 'trashed'::text, 'purged'::text])))
constraint sexton.sessions sessions_state_not_null NOT NULL state
constraint sexton.sessions sessions_turn_count_not_null NOT NULL turn_count
constraint sexton.sessions sessions_vault_fkey FOREIGN KEY (vault) REFERENCES sexton.vault(ref)
constraint sexton.sessions sessions_warned_not_null NOT NULL warned
constraint sexton.shadow_reaps shadow_reaps_active_at_not_null NOT NULL active_at
constraint sexton.shadow_reaps shadow_reaps_home_not_null NOT NULL home
constraint sexton.shadow_reaps shadow_reaps_pkey PRIMARY KEY (home, session, active_at)
constraint sexton.shadow_reaps shadow_reaps_reason_not_null NOT NULL reason
constraint sexton.shadow_reaps shadow_reaps_recorded_at_not_null NOT NULL recorded_at
constraint sexton.shadow_reaps shadow_reaps_session_not_null NOT NULL session
constraint sexton.slices slices_added_not_null NOT NULL added
constraint sexton.slices slices_counter_fkey FOREIGN KEY (counter) REFERENCES sexton.counters(ref) ON DELETE CASCADE
constraint sexton.slices slices_counter_not_null NOT NULL counter
constraint sexton.slices slices_pkey PRIMARY KEY (counter, start)
constraint sexton.slices slices_reserved_not_null NOT NULL reserved
constraint sexton.slices slices_spent_not_null NOT NULL spent
constraint sexton.slices slices_start_not_null NOT NULL start
constraint sexton.told_of_processes told_of_processes_at_not_null NOT NULL at
constraint sexton.told_of_processes told_of_processes_pkey PRIMARY KEY (process, what)
constraint sexton.told_of_processes told_of_processes_process_fkey FOREIGN KEY (process) REFERENCES sexton.processes(ref) ON DELETE CASCADE
constraint sexton.told_of_processes told_of_processes_process_not_null NOT NULL process
constraint sexton.told_of_processes told_of_processes_what_not_null NOT NULL what
constraint sexton.vault vault_bytes_not_null NOT NULL bytes
constraint sexton.vault vault_check CHECK (((state = 'kept'::text) = (worker IS NULL)))
constraint sexton.vault vault_files_not_null NOT NULL files
constraint sexton.vault vault_holds_check CHECK ((holds = ANY (ARRAY['sessions'::text, 'files'::text])))
constraint sexton.vault vault_holds_not_null NOT NULL holds
constraint sexton.vault vault_home_fkey FOREIGN KEY (home) REFERENCES sexton.homes(ref)
constraint sexton.vault vault_home_not_null NOT NULL home
constraint sexton.vault vault_host_not_null NOT NULL host
constraint sexton.vault vault_kind_check CHECK ((kind = ANY (ARRAY['archive'::text, 'trash'::text])))
constraint sexton.vault vault_kind_not_null NOT NULL kind
constraint sexton.vault vault_made_at_not_null NOT NULL made_at
constraint sexton.vault vault_messages_not_null NOT NULL messages
constraint sexton.vault vault_name_key UNIQUE (name)
constraint sexton.vault vault_name_not_null NOT NULL name
constraint sexton.vault vault_pkey PRIMARY KEY (ref)
constraint sexton.vault vault_place_not_null NOT NULL place
constraint sexton.vault vault_raw_bytes_not_null NOT NULL raw_bytes
constraint sexton.vault vault_receipt_not_null NOT NULL receipt
constraint sexton.vault vault_ref_not_null NOT NULL ref
constraint sexton.vault vault_sessions_not_null NOT NULL sessions
constraint sexton.vault vault_sha256_not_null NOT NULL sha256
constraint sexton.vault vault_source_not_null NOT NULL source
constraint sexton.vault vault_state_check CHECK ((state = ANY (ARRAY['writing'::text, 'clearing'::text, 'kept'::text, 'restoring'::text, 'removing'::text])))
constraint sexton.vault vault_state_not_null NOT NULL state
constraint sexton.workers workers_beat_not_null NOT NULL beat
constraint sexton.workers workers_boot_id_not_null NOT NULL boot_id
constraint sexton.workers workers_host_not_null NOT NULL host
constraint sexton.workers workers_id_not_null NOT NULL id
constraint sexton.workers workers_kind_not_null NOT NULL kind
constraint sexton.workers workers_pid_not_null NOT NULL pid
constraint sexton.workers workers_pkey PRIMARY KEY (id)
constraint sexton.workers workers_registered_at_not_null NOT NULL registered_at
constraint sexton.workers workers_started_not_null NOT NULL started
constraint sexton.workers workers_sweeps_every_not_null NOT NULL sweeps_every
constraint sexton.workers workers_uid_not_null NOT NULL uid
constraint sexton.workers workers_version_not_null NOT NULL version
extension plpgsql
function sexton.keep_slot() CREATE OR REPLACE FUNCTION sexton.keep_slot()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW.active_slot := NEW.active_at >> 20;
    RETURN NEW;
END $function$

function sexton.owe_finalizations() CREATE OR REPLACE FUNCTION sexton.owe_finalizations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM sexton.finalizations
    WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND NEW.state = 'open';
    UPDATE sexton.finalizations SET through = NEW.last_seq
    WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND OLD.state <> 'open';
    INSERT INTO sexton.finalizations (home, session, finalizer, since, through, owed_at, not_before)
    SELECT home, session, finalizer, GREATEST(since, earlier.seq), through, ended_at, 0
    FROM sexton.dues CROSS JOIN (
        SELECT CASE WHEN OLD.state <> 'open' AND OLD.ended_at <= COALESCE(attached_at, OLD.ended_at)
                    THEN OLD.last_seq ELSE 0 END AS seq
        FROM sexton.homes WHERE ref = NEW.home
    ) AS earlier
    WHERE session = NEW.ref AND since < through;
    RETURN NULL;
END $function$

function sexton.owe_if_ended_since_attached() CREATE OR REPLACE FUNCTION sexton.owe_if_ended_since_attached()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NEW.ended_at > (SELECT attached_at FROM sexton.homes WHERE ref = NEW.home) THEN
        INSERT INTO sexton.finalizations (home, session, finalizer, since, through, owed_at, not_before)
        SELECT home, session, finalizer, since, through, ended_at, 0
        FROM sexton.dues
        WHERE session = NEW.ref AND since < through;
    END IF;
    RETURN NULL;
END $function$

function sexton.remember_attachment() CREATE OR REPLACE FUNCTION sexton.remember_attachment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW.attached_at := NEW.observed_at;
    RETURN NEW;
END $function$

function sexton.unfinalize_session() CREATE OR REPLACE FUNCTION sexton.unfinalize_session()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE sexton.sessions SET state = 'ended' WHERE ref = NEW.session AND state = 'finalized';
    RETURN NULL;
END $function$

index sexton.counters_caps CREATE INDEX counters_caps ON sexton.counters USING btree (scope, subject) WHERE (cap IS NOT NULL)
index sexton.counters_pkey CREATE UNIQUE INDEX counters_pkey ON sexton.counters USING btree (ref)
index sexton.counters_scope_subject_unit_period_key CREATE UNIQUE INDEX counters_scope_subject_unit_period_key ON sexton.counters USING btree (scope, subject, unit, period)
index sexton.counters_used CREATE INDEX counters_used ON sexton.counters USING btree (used_at)
index sexton.figures_at CREATE INDEX figures_at ON sexton.figures USING btree (at)
index sexton.figures_pkey CREATE UNIQUE INDEX figures_pkey ON sexton.figures USING btree (name, at)
index sexton.finalizations_pkey CREATE UNIQUE INDEX finalizations_pkey ON sexton.finalizations USING btree (ref)
index sexton.finalizations_ripe CREATE INDEX finalizations_ripe ON sexton.finalizations USING btree (home, finalizer, not_before, ref) WHERE (state = 'pending'::text)
index sexton.finalizations_session_finalizer_through_key CREATE UNIQUE INDEX finalizations_session_finalizer_through_key ON sexton.finalizations USING btree (session, finalizer, through)
index sexton.finalizations_state CREATE INDEX finalizations_state ON sexton.finalizations USING btree (state, ref)
index sexton.finalizer_days_pkey CREATE UNIQUE INDEX finalizer_days_pkey ON sexton.finalizer_days USING btree (day, finalizer)
index sexton.grants_freed CREATE INDEX grants_freed ON sexton.grants USING btree (freed_at) WHERE (freed_at IS NOT NULL)
index sexton.grants_pkey CREATE UNIQUE INDEX grants_pkey ON sexton.grants USING btree (ref)
index sexton.grants_slot CREATE UNIQUE INDEX grants_slot ON sexton.grants USING btree (slot)
index sexton.grants_worker CREATE INDEX grants_worker ON sexton.grants USING btree (worker) WHERE (freed_at IS NULL)
index sexton.held_resets_pkey CREATE UNIQUE INDEX held_resets_pkey ON sexton.held_resets USING btree (session)
index sexton.holders_pkey CREATE UNIQUE INDEX holders_pkey ON sexton.holders USING btree (session, worker)
index sexton.holders_worker CREATE INDEX holders_worker ON sexton.holders USING btree (worker)
index sexton.homes_host_path_key CREATE UNIQUE INDEX homes_host_path_key ON sexton.homes USING btree (host, path)
index sexton.homes_name_key CREATE UNIQUE INDEX homes_name_key ON sexton.homes USING btree (name)
index sexton.homes_pkey CREATE UNIQUE INDEX homes_pkey ON sexton.homes USING btree (ref)
index sexton.journal_at CREATE INDEX journal_at ON sexton.journal USING btree (at)
index sexton.journal_pkey CREATE UNIQUE INDEX journal_pkey ON sexton.journal USING btree (ref)
index sexton.journal_receipt CREATE INDEX journal_receipt ON sexton.journal USING btree (receipt) WHERE (receipt IS NOT NULL)
index sexton.journal_session CREATE INDEX journal_session ON sexton.journal USING btree (home, session, ref) WHERE (session IS NOT NULL)
index sexton.ledger_pkey CREATE UNIQUE INDEX ledger_pkey ON sexton.ledger USING btree (only_row)
index sexton.messages_pkey CREATE UNIQUE INDEX messages_pkey ON sexton.messages USING btree (ref)
index sexton.messages_session_seq_key CREATE UNIQUE INDEX messages_session_seq_key ON sexton.messages USING btree (session, seq)
index sexton.outbox_key_target_key CREATE UNIQUE INDEX outbox_key_target_key ON sexton.outbox USING btree (key, target)
index sexton.outbox_pkey CREATE UNIQUE INDEX outbox_pkey ON sexton.outbox USING btree (ref)
index sexton.outbox_posted CREATE INDEX outbox_posted ON sexton.outbox USING btree (posted_at)
index sexton.outbox_ripe CREATE INDEX outbox_ripe ON sexton.outbox USING btree (target, not_before, ref) WHERE (state = 'pending'::text)
index sexton.outbox_state CREATE INDEX outbox_state ON sexton.outbox USING btree (state, ref)
index sexton.owing_pkey CREATE UNIQUE INDEX owing_pkey ON sexton.owing USING btree (finalizer, source)
index sexton.policies_pkey CREATE UNIQUE INDEX policies_pkey ON sexton.policies USING btree (serial)
index sexton.processes_alive CREATE UNIQUE INDEX processes_alive ON sexton.processes USING btree (host, boot_id, pid, started) WHERE ((ended_at IS NULL) AND (pid > 0))
index sexton.processes_ended CREATE INDEX processes_ended ON sexton.processes USING btree (ended_at) WHERE (ended_at IS NOT NULL)
index sexton.processes_pkey CREATE UNIQUE INDEX processes_pkey ON sexton.processes USING btree (ref)
index sexton.processes_running CREATE INDEX processes_running ON sexton.processes USING btree (ref) WHERE (ended_at IS NULL)
index sexton.processes_session CREATE INDEX processes_session ON sexton.processes USING btree (session)
index sexton.removal_days_pkey CREATE UNIQUE INDEX removal_days_pkey ON sexton.removal_days USING btree (home, day)
index sexton.samples_pkey CREATE UNIQUE INDEX samples_pkey ON sexton.samples USING btree (home, at)
index sexton.sessions_before CREATE INDEX sessions_before ON sexton.sessions USING btree (key, ref) WHERE ((home = 1) AND (state <> 'open'::text) AND (key IS NOT NULL))
index sexton.sessions_current CREATE UNIQUE INDEX sessions_current ON sexton.sessions USING btree (key) WHERE ((home = 1) AND (state = 'open'::text) AND (key IS NOT NULL))
index sexton.sessions_due CREATE INDEX sessions_due ON sexton.sessions USING btree (due_at, ref) WHERE ((state = 'open'::text) AND (due_at IS NOT NULL))
index sexton.sessions_ended CREATE INDEX sessions_ended ON sexton.sessions USING btree (ended_at, ref) WHERE (ended_at IS NOT NULL)
index sexton.sessions_home_id_key CREATE UNIQUE INDEX sessions_home_id_key ON sexton.sessions USING btree (home, id)
index sexton.sessions_kept CREATE INDEX sessions_kept ON sexton.sessions USING btree (home, source, active_at, ref) WHERE (state = ANY (ARRAY['ended'::text, 'finalized'::text]))
index sexton.sessions_of_job CREATE INDEX sessions_of_job ON sexton.sessions USING btree (home, job, active_at, ref) WHERE ((state = ANY (ARRAY['ended'::text, 'finalized'::text])) AND (job IS NOT NULL))
index sexton.sessions_of_key CREATE INDEX sessions_of_key ON sexton.sessions USING btree (home, key, active_at, ref) WHERE ((state = ANY (ARRAY['ended'::text, 'finalized'::text])) AND (key IS NOT NULL))
index sexton.sessions_open CREATE INDEX sessions_open ON sexton.sessions USING btree (home, id) WHERE (state = 'open'::text)
index sexton.sessions_over CREATE INDEX sessions_over ON sexton.sessions USING btree (home, message_count, active_at, ref) WHERE (state = ANY (ARRAY['ended'::text, 'finalized'::text]))
index sexton.sessions_parent CREATE INDEX sessions_parent ON sexton.sessions USING btree (home, parent) WHERE (parent IS NOT NULL)
index sexton.sessions_pkey CREATE UNIQUE INDEX sessions_pkey ON sexton.sessions USING btree (ref)
index sexton.sessions_recent CREATE INDEX sessions_recent ON sexton.sessions USING btree (home, active_slot, active_at, ref) WHERE (ref > 0)
index sexton.sessions_size CREATE INDEX sessions_size ON sexton.sessions USING btree (home, byte_count, ref) WHERE (state <> 'open'::text)
index sexton.sessions_stale CREATE INDEX sessions_stale ON sexton.sessions USING btree (home, policy_serial, ref) WHERE (state = 'open'::text)
index sexton.sessions_started CREATE INDEX sessions_started ON sexton.sessions USING btree (home, started_at, ref) WHERE (ref > 0)
index sexton.sessions_states CREATE INDEX sessions_states ON sexton.sessions USING btree (home, state, source) WHERE (ref > 0)
index sexton.sessions_vault CREATE INDEX sessions_vault ON sexton.sessions USING btree (vault, ref) WHERE (vault IS NOT NULL)
index sexton.shadow_reaps_pkey CREATE UNIQUE INDEX shadow_reaps_pkey ON sexton.shadow_reaps USING btree (home, session, active_at)
index sexton.slices_pkey CREATE UNIQUE INDEX slices_pkey ON sexton.slices USING btree (counter, start)
index sexton.slices_start CREATE INDEX slices_start ON sexton.slices USING btree (start)
index sexton.told_of_processes_pkey CREATE UNIQUE INDEX told_of_processes_pkey ON sexton.told_of_processes USING btree (process, what)
index sexton.vault_expiring CREATE INDEX vault_expiring ON sexton.vault USING btree (host, expires_at) WHERE ((state = 'kept'::text) AND (expires_at IS NOT NULL))
index sexton.vault_name_key CREATE UNIQUE INDEX vault_name_key ON sexton.vault USING btree (name)
index sexton.vault_pkey CREATE UNIQUE INDEX vault_pkey ON sexton.vault USING btree (ref)
index sexton.vault_receipt CREATE INDEX vault_receipt ON sexton.vault USING btree (receipt)
index sexton.vault_unfinished CREATE INDEX vault_unfinished ON sexton.vault USING btree (host, ref) WHERE (state <> 'kept'::text)
index sexton.workers_left CREATE INDEX workers_left ON sexton.workers USING btree (left_at)
index sexton.workers_pkey CREATE UNIQUE INDEX workers_pkey ON sexton.workers USING btree (id)
index sexton.workers_present CREATE INDEX workers_present ON sexton.workers USING btree (registered_at, id) WHERE ((left_at IS NULL) AND (dead_at IS NULL))
index sexton.workers_swept CREATE INDEX workers_swept ON sexton.workers USING btree (swept_at) WHERE (swept_at IS NOT NULL)
relation sexton.counters r p
relation sexton.counters_ref_seq S p
relation sexton.dues v p
relation sexton.figures r p
relation sexton.finalizations r p
relation sexton.finalizations_ref_seq S p
relation sexton.finalizer_days r p
relation sexton.grants r p
relation sexton.grants_ref_seq S p
relation sexton.held_resets r p
relation sexton.holders r p
relation sexton.homes r p
relation sexton.homes_ref_seq S p
relation sexton.journal r p
relation sexton.journal_ref_seq S p
relation sexton.ledger r p
relation sexton.messages r p
relation sexton.messages_ref_seq S p
relation sexton.outbox r p
relation sexton.outbox_ref_seq S p
relation sexton.owing r p
relation sexton.policies r p
relation sexton.processes r p
relation sexton.processes_ref_seq S p
relation sexton.removal_days r p
relation sexton.samples r p
relation sexton.sessions r p
relation sexton.sessions_ref_seq S p
relation sexton.shadow_reaps r p
relation sexton.slices r p
relation sexton.told_of_processes r p
relation sexton.vault r p
relation sexton.vault_ref_seq S p
relation sexton.verdicts v p
relation sexton.workers r p
schema public
schema sexton
sequence sexton.counters_ref_seq bigint 1 1 f
sequence sexton.finalizations_ref_seq bigint 1 1 f
sequence sexton.grants_ref_seq bigint 1 1 f
sequence sexton.homes_ref_seq bigint 1 1 f
sequence sexton.journal_ref_seq bigint 1 1 f
sequence sexton.messages_ref_seq bigint 1 1 f
sequence sexton.outbox_ref_seq bigint 1 1 f
sequence sexton.processes_ref_seq bigint 1 1 f
sequence sexton.sessions_ref_seq bigint 1 1 f
sequence sexton.vault_ref_seq bigint 1 1 f
trigger sexton.finalizations finalizations_added CREATE TRIGGER finalizations_added AFTER INSERT ON sexton.finalizations FOR EACH ROW WHEN ((new.state = 'pending'::text)) EXECUTE FUNCTION sexton.unfinalize_session()
trigger sexton.finalizations finalizations_retried CREATE TRIGGER finalizations_retried AFTER UPDATE OF state ON sexton.finalizations FOR EACH ROW WHEN (((new.state = 'pending'::text) AND (old.state <> 'pending'::text))) EXECUTE FUNCTION sexton.unfinalize_session()
trigger sexton.homes homes_attached CREATE TRIGGER homes_attached BEFORE UPDATE OF observed_at ON sexton.homes FOR EACH ROW WHEN ((new.attached_at IS NULL)) EXECUTE FUNCTION sexton.remember_attachment()
trigger sexton.sessions sessions_active CREATE TRIGGER sessions_active BEFORE UPDATE OF active_at ON sexton.sessions FOR EACH ROW EXECUTE FUNCTION sexton.keep_slot()
trigger sexton.sessions sessions_begun CREATE TRIGGER sessions_begun BEFORE INSERT ON sexton.sessions FOR EACH ROW EXECUTE FUNCTION sexton.keep_slot()
trigger sexton.sessions sessions_end CREATE TRIGGER sessions_end AFTER UPDATE OF state ON sexton.sessions FOR EACH ROW WHEN ((((old.state = 'open'::text) <> (new.state = 'open'::text)) OR ((new.state <> 'open'::text) AND (new.last_seq > old.last_seq)))) EXECUTE FUNCTION sexton.owe_finalizations()
trigger sexton.sessions sessions_seen_ended CREATE TRIGGER sessions_seen_ended AFTER INSERT ON sexton.sessions FOR EACH ROW WHEN ((new.state <> 'open'::text)) EXECUTE FUNCTION sexton.owe_if_ended_since_attached()
view sexton.dues  SELECT home,
    session,
    finalizer,
    ended_at,
    since,
    through
   FROM sexton.verdicts
  WHERE ((code = 'owes'::text) AND (state <> 'open'::text));
view sexton.verdicts  SELECT home,
    session,
    finalizer,
    ended_at,
    state,
    since,
    through,
    "least",
        CASE
            WHEN (state <> ALL (ARRAY['open'::text, 'ended'::text, 'finalized'::text])) THEN 'put_away'::text
            WHEN ((state <> 'open'::text) AND (end_reason = 'compression'::text) AND (untold IS NULL)) THEN 'compression'::text
            WHEN ("least" IS NULL) THEN 'other_source'::text
            WHEN ((message_count < "least") AND (COALESCE(relation, ''::text) <> 'compression'::text) AND (untold IS NULL)) THEN 'too_short'::text
            WHEN (through <= since) THEN 'nothing_new'::text
            ELSE 'owes'::text
        END AS code
   FROM ( SELECT s.home,
            s.ref AS session,
            named.finalizer,
            s.ended_at,
            s.state,
            s.end_reason,
            s.untold,
            s.relation,
            s.message_count,
            COALESCE(s.untold, s.last_seq) AS through,
            COALESCE(( SELECT max(job.through) AS max
                   FROM sexton.finalizations job
                  WHERE ((job.session = s.ref) AND (job.finalizer = named.finalizer))), (0)::bigint) AS since,
            ( SELECT rule.min_messages
                   FROM sexton.owing rule
                  WHERE ((rule.finalizer = named.finalizer) AND (rule.source = ANY (ARRAY[s.source, '*'::text])))
                  ORDER BY (rule.source = '*'::text)
                 LIMIT 1) AS "least"
           FROM (sexton.sessions s
             CROSS JOIN ( SELECT DISTINCT owing.finalizer
                   FROM sexton.owing
                  ORDER BY owing.finalizer) named)) asked;
