-- Which sessions an entry is about that tells of several, as a JSON array: what is about to be done to them. It was
-- only in the words before.
ALTER TABLE journal ADD COLUMN sessions TEXT;
UPDATE journal SET sessions = substr(explanation, strpos(explanation, '['))
WHERE result = 'intended' AND explanation LIKE '%[%]';
