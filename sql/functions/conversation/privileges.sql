-- What the runtime role may do with the tables of conversation (runtime_may).

-- UPDATE is what a lock of a row asks for.
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'flows');
SELECT runtime_may('USAGE', 'flows_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversations');
SELECT runtime_may('USAGE', 'conversations_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversation_inputs');
SELECT runtime_may('USAGE', 'conversation_inputs_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversation_work');
SELECT runtime_may('USAGE', 'conversation_work_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'conversation_counts');
