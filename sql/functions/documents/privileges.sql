-- What the runtime role may do with the tables of documents (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'documents');
SELECT runtime_may('USAGE', 'documents_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'document_inputs');
SELECT runtime_may('SELECT, INSERT, DELETE', 'sent_files');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'document_removals');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'document_counts');
