-- What the runtime role may do with the tables of shadows, drift and labels (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_shadows');
SELECT runtime_may('USAGE', 'policy_shadows_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_shadow_counts');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'loan_labels');
SELECT runtime_may('SELECT, UPDATE', 'policy_drift');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_drift_counts');
SELECT runtime_may('SELECT, INSERT, DELETE', 'policy_psi');
