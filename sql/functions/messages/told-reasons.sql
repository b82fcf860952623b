-- What else is done when messages that tell the reasons of a refusal go out (D50), in the same transaction. p_codes: of
-- each message its codes, with commas between them. Nothing by itself: reconsiderations/told.sql replaces the function.
CREATE OR REPLACE FUNCTION note_told_reasons(
  p_message_ids bigint[], p_application_ids bigint[], p_codes text[], p_languages text[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
END
$$;
