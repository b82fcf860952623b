-- Documents of applicants (docs/documents.md).

CREATE OR REPLACE FUNCTION count_document() RETURNS trigger
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
CREATE OR REPLACE TRIGGER documents_counted AFTER INSERT OR DELETE OR UPDATE OF state, bytes ON documents
  FOR EACH ROW EXECUTE FUNCTION count_document();

-- Deletes documents, and leaves their files to the upkeep: without its row nobody can open a file.
CREATE OR REPLACE FUNCTION delete_documents(p_ids bigint[]) RETURNS bigint
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
CREATE OR REPLACE FUNCTION add_document(p_input bigint, p_application_id bigint, p_partner_id integer, p_purpose text, p_state text,
  p_reason text, p_content_type text, p_bytes integer, p_sha256 bytea, p_file text, p_secret bytea, p_claims bytea)
RETURNS TABLE (document_id bigint, is_new boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_new_id constant bigint := (SELECT nextval('documents_id_seq'::text) FROM elapsed);
  v_id bigint;
  v_of_input bigint;
BEGIN
  INSERT INTO documents (id, application_id, partner_id, purpose, state, reason, decided_at, content_type, bytes, sha256,
    file_key, sealed_secret, claims)
  VALUES (v_new_id, p_application_id, p_partner_id, p_purpose, p_state, p_reason,
    CASE WHEN p_reason IS NOT NULL THEN now() END, p_content_type, p_bytes, p_sha256, p_file, p_secret, p_claims)
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
