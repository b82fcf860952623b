/** Reads from `loan_contracts` and `disbursements` which files contracts have in the document store. */
import type { Session } from '../../../ground/postgres/database.ts';

/**
 * Without contracts that are being made, whose PDF may not be there yet, and dropped ones, whose PDF may be deleted.
 */
const KEYS = `
  SELECT c.shown_key AS key FROM loan_contracts c
  WHERE c.shown_key >= $1 AND c.shown_key < $2 AND c.state NOT IN ('making', 'dropped')
  UNION ALL
  SELECT c.signed_key FROM loan_contracts c
  WHERE c.signed_key >= $1 AND c.signed_key < $2 AND c.state <> 'dropped' AND c.signed_sha256 IS NOT NULL
  UNION ALL
  SELECT c.schedule_key FROM loan_contracts c
  WHERE c.schedule_key >= $1 AND c.schedule_key < $2 AND c.state <> 'dropped' AND c.schedule_sha256 IS NOT NULL
  UNION
  SELECT d.proof_key FROM disbursements d JOIN loan_contracts c ON c.id = d.contract_id
  WHERE d.proof_key >= $1 AND d.proof_key < $2 AND c.state <> 'dropped'`;

/** The keys of files from `from` to before `before`. */
export async function contractKeys(session: Session, from: string, before: string): Promise<string[]> {
  return (await session.query<{ key: string }>(KEYS, [from, before])).rows.map(({ key }) => key);
}
