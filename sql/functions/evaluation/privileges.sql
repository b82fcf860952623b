-- What the runtime role may do with the tables of shadows (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_shadows');
SELECT runtime_may('USAGE', 'policy_shadows_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'policy_shadow_counts');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'loan_labels');
