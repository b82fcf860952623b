-- What the runtime role may do with the tables of policies (runtime_may). Activations, withdrawals, results of
-- backtests and what a version decides with are written by functions alone (activate.sql).

-- Version 1.0, which may run on the same store, inserts policies by itself.
SELECT runtime_may('SELECT, INSERT', 'policies');
SELECT runtime_may('USAGE', 'policies_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_drafts');
SELECT runtime_may('SELECT', 'policy_activations');
SELECT runtime_may('USAGE', 'policy_activations_id_seq');
SELECT runtime_may('SELECT', 'policy_live');
SELECT runtime_may('SELECT', 'policy_backtests');
SELECT runtime_may('USAGE', 'policy_backtests_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_proposals');
SELECT runtime_may('USAGE', 'policy_proposals_id_seq');
