-- attach_home
-- What was only recorded while the home was observed is due no more: all is looked at again once it may be changed.
INSERT INTO homes (name, kind, path, host, act)
VALUES (:name, :kind, :path, :host, :act)
ON CONFLICT (host, path) DO UPDATE SET
    act = excluded.act, mark = CASE WHEN excluded.act > homes.act THEN NULL ELSE homes.mark END
RETURNING ref, name, kind, path, host, act, mark, rules, observed_at;

-- name_taken
-- The native home has neither host nor path, and its name is taken all the same.
SELECT 1 FROM homes
WHERE name = :name AND (host IS NULL OR path IS NULL OR host <> :host OR path <> :path);

-- all_homes
SELECT ref, name, kind, path, host, act, mark, rules, observed_at FROM homes ORDER BY ref;

-- is_home
SELECT 1 FROM homes
WHERE ref = :home AND name = :name
  AND COALESCE(host, '') = COALESCE(CAST(:host AS TEXT), '') AND COALESCE(path, '') = COALESCE(CAST(:path AS TEXT), '');

-- store_mark
UPDATE homes SET mark = :mark, rules = :rules, observed_at = :now WHERE ref = :home;

-- store_facts
-- Facts replace facts; what only the ledger knows (warnings already given, a pin of ours, why we ended it) stays. Of
-- what is in the vault the copy there is the truth, also while it is on its way there or back.
INSERT INTO sessions (ref, home, id, key, source, chat_type, job, parent, relation, state, started_at, active_at,
                      active_slot, due_at, ended_at, end_reason, last_seq, message_count, byte_count, turn_count,
                      input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_micros,
                      title, preview, pinned, human_touched, errored, live_messages, live_bytes,
                      spared_at)
VALUES ({new_ref}, :home, :id, :key, :source, :chat_type, :job, :parent, :relation, :state, :started_at, :active_at,
        CAST(:active_at AS BIGINT) >> 20, :due_at, :ended_at, :end_reason, :message_count, :message_count, :byte_count, :turn_count,
        :input_tokens, :output_tokens, :cached_tokens, :reasoning_tokens, :cost_micros,
        :title, :preview, :pinned, :human_touched, :errored, :live_messages, :live_bytes,
        :spared_at)
ON CONFLICT (home, id) DO UPDATE SET
    key = excluded.key, source = excluded.source, chat_type = excluded.chat_type, job = excluded.job,
    parent = excluded.parent, relation = excluded.relation,
    state = CASE WHEN excluded.state = 'ended' AND sessions.state = 'finalized' THEN sessions.state
                 ELSE excluded.state END,
    started_at = excluded.started_at, active_at = excluded.active_at, due_at = excluded.due_at,
    ended_at = excluded.ended_at,
    end_reason = CASE WHEN sessions.ended_at = excluded.ended_at THEN COALESCE(sessions.end_reason, excluded.end_reason)
                      ELSE excluded.end_reason END,
    last_seq = excluded.last_seq,
    message_count = excluded.message_count, byte_count = excluded.byte_count, turn_count = excluded.turn_count,
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cached_tokens = excluded.cached_tokens, reasoning_tokens = excluded.reasoning_tokens,
    cost_micros = excluded.cost_micros, title = excluded.title, preview = excluded.preview,
    pinned = CASE WHEN sessions.kept = 1 THEN 1 ELSE excluded.pinned END,
    human_touched = excluded.human_touched, errored = excluded.errored,
    live_messages = COALESCE(excluded.live_messages, sessions.live_messages),
    live_bytes = COALESCE(excluded.live_bytes, sessions.live_bytes),
    spared_at = COALESCE(excluded.spared_at, sessions.spared_at)
WHERE sessions.vault IS NULL;

-- grow_session
-- Whoever looks at the home next replaces it by what is there.
UPDATE sessions SET message_count = :messages
WHERE ref = :ref AND home <> 1 AND vault IS NULL AND message_count < :messages;

-- forget_session
-- The row of one that we have removed is what is left of it.
DELETE FROM sessions
WHERE home = :home AND home <> 1 AND id = :id AND state IN ('open', 'ended', 'finalized');

-- ids_of_home
SELECT id FROM sessions WHERE home = :home AND (state IN ('open', 'ended', 'finalized') OR CAST(:removed AS BIGINT) = 1);

-- open_ids_of_home
SELECT id FROM sessions WHERE home = :home AND state = 'open';
