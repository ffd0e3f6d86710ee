-- Lists and counts of one job, without a walk over all the others' tasks.
CREATE INDEX task_job ON task (plugin, job, state, run_at, id);
CREATE INDEX finished_job ON finished (plugin, job, state, finished_at, id);

-- Plugins that were uninstalled, until the sweeper has removed what they left.
CREATE TABLE removed (plugin text COLLATE "C" PRIMARY KEY);
