-- Schema 2, additive.
-- Files that operators send to applicants (docs/documents.md, "Files to applicants").

-- Which files of the document store belong to replies. The file is sealed with a secret that its reply alone has. On
-- a cluster the table is the coordinator's. Bound: DOCUMENT_DAYS, or the retention of the applications; 60 of each.
CREATE TABLE sent_files (
  -- The name of the file in the document store.
  file_key text PRIMARY KEY,
  application_id bigint NOT NULL,
  sent_at timestamptz NOT NULL DEFAULT now(),
  -- elapsed_ms() at that moment, for the retention (D39).
  sent_ms bigint NOT NULL DEFAULT elapsed_ms()
);
CREATE INDEX sent_files_application ON sent_files (application_id);
CREATE INDEX sent_files_by_time ON sent_files (sent_ms);
