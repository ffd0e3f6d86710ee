-- name: entry
SELECT namespace, key, value, version, expires_at FROM entry
WHERE plugin = %(plugin)s AND namespace = %(namespace)s AND key = %(key)s AND (expires_at IS NULL OR expires_at > %(now)s);

-- name: put
INSERT INTO entry (plugin, namespace, key, value, version, expires_at)
SELECT id, %(namespace)s, %(key)s, %(value)s, nextval('revision'), %(expires_at)s::bigint
FROM (SELECT id FROM plugin WHERE id = %(plugin)s FOR KEY SHARE) p
ON CONFLICT (plugin, namespace, key) DO UPDATE SET value = excluded.value, version = nextval('revision'), expires_at = excluded.expires_at
RETURNING version;

-- name: put_absent
INSERT INTO entry (plugin, namespace, key, value, version, expires_at)
SELECT id, %(namespace)s, %(key)s, %(value)s, nextval('revision'), %(expires_at)s::bigint
FROM (SELECT id FROM plugin WHERE id = %(plugin)s FOR KEY SHARE) p
ON CONFLICT (plugin, namespace, key) DO UPDATE SET value = excluded.value, version = nextval('revision'), expires_at = excluded.expires_at
WHERE entry.expires_at <= %(now)s
RETURNING version;

-- name: put_expected
UPDATE entry SET value = %(value)s, version = nextval('revision'), expires_at = %(expires_at)s
WHERE plugin = %(plugin)s AND namespace = %(namespace)s AND key = %(key)s AND version = %(expected)s
  AND EXISTS (SELECT 1 FROM plugin WHERE id = %(plugin)s)
  AND (expires_at IS NULL OR expires_at > %(now)s)
RETURNING version;

-- name: remove
DELETE FROM entry
WHERE plugin = %(plugin)s AND namespace = %(namespace)s AND key = %(key)s AND (expires_at IS NULL OR expires_at > %(now)s)
  AND (%(expected)s::bigint IS NULL OR version = %(expected)s)
RETURNING version;

-- name: entries
SELECT namespace, key, value, version, expires_at FROM entry
WHERE plugin = %(plugin)s AND namespace = %(namespace)s AND key >= %(prefix)s AND key > %(after)s
  AND (expires_at IS NULL OR expires_at > %(now)s)
ORDER BY key LIMIT %(limit)s;

-- name: entries_below
SELECT namespace, key, value, version, expires_at FROM entry
WHERE plugin = %(plugin)s AND namespace = %(namespace)s AND key >= %(prefix)s AND key > %(after)s
  AND key < %(beyond)s
  AND (expires_at IS NULL OR expires_at > %(now)s)
ORDER BY key LIMIT %(limit)s;

-- name: lock_guard
-- A token drawn before somebody else's whole lease would be lower than theirs: one at a time for each lock.
SELECT pg_advisory_xact_lock(hashtext(current_schema() || ':lock'), hashtext(%(plugin)s || ' ' || %(name)s));

-- name: lock
INSERT INTO lock (plugin, name, owner, token, expires_at)
SELECT id, %(name)s, %(owner)s, nextval('revision'), %(expires_at)s::bigint
FROM (SELECT id FROM plugin WHERE id = %(plugin)s FOR KEY SHARE) p
ON CONFLICT (plugin, name) DO UPDATE SET owner = excluded.owner, token = nextval('revision'), expires_at = excluded.expires_at
WHERE lock.expires_at <= %(now)s
RETURNING name, owner, token, expires_at;

-- name: renew
UPDATE lock SET expires_at = %(expires_at)s
WHERE plugin = %(plugin)s AND name = %(name)s AND token = %(token)s AND expires_at > %(now)s
RETURNING name, owner, token, expires_at;

-- name: unlock
DELETE FROM lock WHERE plugin = %(plugin)s AND name = %(name)s AND token = %(token)s AND expires_at > %(now)s
RETURNING token;
