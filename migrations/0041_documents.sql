-- Documents of applicants, from the channel to a sealed and checked file (src/documents, docs/documents.md). All tables
-- of this file are of the coordinator alone: a statement about them reads no table of other machines.

-- The documents. The file lies in the document store, sealed with a key of its own. Bound: DOCUMENT_DAYS, or the
-- retention of the applications.
CREATE TABLE documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  application_id bigint NOT NULL,
  partner_id integer NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('earnings', 'debts')),
  state text NOT NULL CHECK (state IN ('received', 'accepted', 'rejected')),
  -- Why it has this state (src/documents/rules/document.ts); NULL: stored, and not read yet.
  reason text,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- elapsed_ms() at that moment, for the retention (D39).
  received_ms bigint NOT NULL DEFAULT elapsed_ms(),
  decided_at timestamptz,
  -- What the file is by its content; NULL, as the next three, where no file was stored.
  content_type text,
  bytes integer,
  sha256 bytea,
  -- The name of the file in the document store.
  file_key text UNIQUE,
  -- The secret of the file, sealed by the vault. The file and the two columns after it are sealed with the secret.
  sealed_secret bytea,
  -- What the channel told of the file: its name, among others.
  claims bytea,
  -- What was read in the file, and by what.
  reading bytea,
  -- The time that the processes took which read it, in milliseconds.
  reading_ms integer NOT NULL DEFAULT 0,
  -- When the upkeep found no file under file_key; NULL: it is there, or nobody has looked.
  missing_at timestamptz,
  -- The same file again is the same document.
  UNIQUE (application_id, sha256)
);
CREATE INDEX documents_by_state ON documents (state, id);
CREATE INDEX documents_by_time ON documents (received_ms);
CREATE INDEX documents_missing ON documents (missing_at) WHERE missing_at IS NOT NULL;
-- Those that wait for an operator because the installation reads none.
CREATE INDEX documents_not_read ON documents (id) WHERE state = 'received' AND reason = 'reader_off';
-- The search for what a data key has sealed.
CREATE INDEX documents_key ON documents (substring(sealed_secret FROM 1 FOR 1)) WHERE sealed_secret IS NOT NULL;

-- How many documents each state has, and the bytes of their files, as changes to be added up. The upkeep makes one row
-- a state of them. Bound: the changes since the last upkeep.
CREATE TABLE document_counts (
  state text NOT NULL,
  documents bigint NOT NULL,
  bytes bigint NOT NULL
);

CREATE FUNCTION count_document() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO document_counts (state, documents, bytes) VALUES (OLD.state, -1, -coalesce(OLD.bytes, 0));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO document_counts (state, documents, bytes) VALUES (NEW.state, 1, coalesce(NEW.bytes, 0));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER documents_counted AFTER INSERT OR DELETE OR UPDATE OF state, bytes ON documents
  FOR EACH ROW EXECUTE FUNCTION count_document();

-- The messages that documents came by. A person may send the same file twice. Bound: as documents.
CREATE TABLE document_inputs (
  -- Blind index of the channel's id of the message.
  input_index bigint PRIMARY KEY,
  -- Without a foreign key, which a table of a cluster's coordinator cannot have.
  document_id bigint NOT NULL
);
CREATE INDEX document_inputs_by_document ON document_inputs (document_id);

-- Files of the document store that no document has any more, or that none was found for. Bound: until the upkeep has
-- deleted the file.
CREATE TABLE document_removals (
  file_key text PRIMARY KEY,
  -- elapsed_ms() from which on the file is deleted: a step of the clock deletes no file early, and keeps none (D39).
  due_ms bigint NOT NULL
);
CREATE INDEX document_removals_due ON document_removals (due_ms);

-- Deletes documents, and leaves their files to the upkeep: without its row nobody can open a file.
CREATE FUNCTION delete_documents(p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_deleted bigint;
BEGIN
  PERFORM FROM documents d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR UPDATE;
  DELETE FROM document_inputs i WHERE i.document_id = ANY (p_ids);
  WITH gone AS (
    DELETE FROM documents d WHERE d.id = ANY (p_ids) RETURNING d.file_key
  ), files AS (
    INSERT INTO document_removals (file_key, due_ms)
    SELECT g.file_key, elapsed_ms() FROM gone g WHERE g.file_key IS NOT NULL ORDER BY g.file_key
    ON CONFLICT (file_key) DO UPDATE SET due_ms = excluded.due_ms
  )
  SELECT count(*) INTO v_deleted FROM gone;
  RETURN v_deleted;
END
$$;

-- Stores a document that came by a message, or finds the one that the message or the same file has. Returns its id, and
-- whether it is new. p_file is the file's name in the document store, which is deleted where the document has another.
CREATE FUNCTION add_document(p_input bigint, p_application_id bigint, p_partner_id integer, p_purpose text, p_state text,
  p_reason text, p_content_type text, p_bytes integer, p_sha256 bytea, p_file text, p_secret bytea, p_claims bytea)
RETURNS TABLE (document_id bigint, is_new boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
  v_of_input bigint;
BEGIN
  INSERT INTO documents (application_id, partner_id, purpose, state, reason, decided_at, content_type, bytes, sha256,
    file_key, sealed_secret, claims)
  VALUES (p_application_id, p_partner_id, p_purpose, p_state, p_reason, CASE WHEN p_reason IS NOT NULL THEN now() END,
    p_content_type, p_bytes, p_sha256, p_file, p_secret, p_claims)
  ON CONFLICT (application_id, sha256) DO NOTHING RETURNING id INTO v_id;
  is_new := v_id IS NOT NULL;
  IF NOT is_new THEN
    SELECT d.id INTO STRICT v_id FROM documents d WHERE d.application_id = p_application_id AND d.sha256 = p_sha256;
  END IF;
  INSERT INTO document_inputs AS i (input_index, document_id) VALUES (p_input, v_id)
  ON CONFLICT (input_index) DO UPDATE SET input_index = excluded.input_index RETURNING i.document_id INTO v_of_input;
  -- The same message was worked on twice at once: the first one counts.
  IF v_of_input <> v_id THEN
    IF is_new THEN PERFORM delete_documents(ARRAY[v_id]); END IF;
    is_new := false;
  ELSIF NOT is_new AND p_file IS NOT NULL THEN
    INSERT INTO document_removals (file_key, due_ms) VALUES (p_file, elapsed_ms()) ON CONFLICT (file_key) DO NOTHING;
  END IF;
  document_id := v_of_input;
  RETURN NEXT;
END
$$;

-- What the runtime role may do (0001_shared.sql).
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'documents');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'document_inputs');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'document_removals');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'document_counts');
