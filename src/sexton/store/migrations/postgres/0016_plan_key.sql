-- The key of the digests of plans, in hexadecimal. Whoever opens the ledger first with this schema makes it.
ALTER TABLE ledger ADD COLUMN plan_key TEXT;
