-- Which reasons an applicant was told by a message (D50). The last attempt of a message counts.

CREATE OR REPLACE FUNCTION note_told_reasons(
  p_message_ids bigint[], p_application_ids bigint[], p_codes text[], p_languages text[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_ids constant bigint[] := ARRAY(
    SELECT nextval('told_reasons_id_seq'::text) FROM elapsed, generate_series(1, cardinality(p_message_ids)));
BEGIN
  INSERT INTO told_reasons AS t (id, application_id, message_id, codes, language)
  SELECT g.id, g.application_id, g.message_id, string_to_array(g.codes, ','), g.language
  FROM unnest(v_ids, p_application_ids, p_message_ids, p_codes, p_languages) AS g(id, application_id, message_id, codes, language)
  ORDER BY g.message_id
  ON CONFLICT (message_id) WHERE message_id IS NOT NULL
  DO UPDATE SET at = excluded.at, told_ms = excluded.told_ms, codes = excluded.codes, language = excluded.language;
END
$$;
