-- A session that was compressed goes on in a child. The child's messages up to `inherited` are copies and their summary.
ALTER TABLE sessions ADD COLUMN inherited BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN compress_after BIGINT; -- a summary failed: nobody need try again before
