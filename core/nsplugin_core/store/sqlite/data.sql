-- name: entry
SELECT namespace, key, value, version, expires_at FROM entry
WHERE plugin = :plugin AND namespace = :namespace AND key = :key AND (expires_at IS NULL OR expires_at > :now);

-- name: put
UPDATE revision SET last = last + 1;

INSERT INTO entry (plugin, namespace, key, value, version, expires_at)
SELECT id, :namespace, :key, :value, (SELECT last FROM revision), :expires_at FROM plugin WHERE id = :plugin
ON CONFLICT (plugin, namespace, key) DO UPDATE SET value = excluded.value, version = (SELECT last FROM revision), expires_at = excluded.expires_at
RETURNING version;

-- name: put_absent
UPDATE revision SET last = last + 1;

INSERT INTO entry (plugin, namespace, key, value, version, expires_at)
SELECT id, :namespace, :key, :value, (SELECT last FROM revision), :expires_at FROM plugin WHERE id = :plugin
ON CONFLICT (plugin, namespace, key) DO UPDATE SET value = excluded.value, version = (SELECT last FROM revision), expires_at = excluded.expires_at
WHERE entry.expires_at <= :now
RETURNING version;

-- name: put_expected
UPDATE revision SET last = last + 1;

UPDATE entry SET value = :value, version = (SELECT last FROM revision), expires_at = :expires_at
WHERE plugin = :plugin AND namespace = :namespace AND key = :key AND version = :expected
  AND EXISTS (SELECT 1 FROM plugin WHERE id = :plugin)
  AND (expires_at IS NULL OR expires_at > :now)
RETURNING version;

-- name: remove
DELETE FROM entry
WHERE plugin = :plugin AND namespace = :namespace AND key = :key AND (expires_at IS NULL OR expires_at > :now)
  AND (:expected IS NULL OR version = :expected)
RETURNING version;

-- name: entries
SELECT namespace, key, value, version, expires_at FROM entry
WHERE plugin = :plugin AND namespace = :namespace AND key >= :prefix AND key > :after
  AND (expires_at IS NULL OR expires_at > :now)
ORDER BY key LIMIT :limit;

-- name: entries_below
SELECT namespace, key, value, version, expires_at FROM entry
WHERE plugin = :plugin AND namespace = :namespace AND key >= :prefix AND key > :after AND key < :beyond
  AND (expires_at IS NULL OR expires_at > :now)
ORDER BY key LIMIT :limit;

-- name: lock_guard
UPDATE revision SET last = last + 1;

-- name: lock
INSERT INTO lock (plugin, name, owner, token, expires_at)
SELECT id, :name, :owner, (SELECT last FROM revision), :expires_at FROM plugin WHERE id = :plugin
ON CONFLICT (plugin, name) DO UPDATE SET owner = excluded.owner, token = (SELECT last FROM revision), expires_at = excluded.expires_at
WHERE lock.expires_at <= :now
RETURNING name, owner, token, expires_at;

-- name: renew
UPDATE lock SET expires_at = :expires_at
WHERE plugin = :plugin AND name = :name AND token = :token AND expires_at > :now
RETURNING name, owner, token, expires_at;

-- name: unlock
DELETE FROM lock WHERE plugin = :plugin AND name = :name AND token = :token AND expires_at > :now RETURNING token;
