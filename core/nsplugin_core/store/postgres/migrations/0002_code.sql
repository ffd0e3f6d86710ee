-- Where a plugin's code lies on the machines that run it, and whether its runs without a user may use data (spec/cogover.md X1).
ALTER TABLE plugin ADD COLUMN folder text;
ALTER TABLE plugin ADD COLUMN internal_system boolean NOT NULL DEFAULT false;
