-- Where a plugin's code lies on the machines that run it, and whether its runs without a user may use data (spec/cogover.md X1).
ALTER TABLE plugin ADD COLUMN folder TEXT;
ALTER TABLE plugin ADD COLUMN internal_system INTEGER NOT NULL DEFAULT 0 CHECK (internal_system IN (0, 1));
