/**
 * Takes numbers from sequences in one order for the whole store. By default each machine of a cluster has a range of
 * its own. Reads `elapsed`, so that the machine with that table gives the number (docs/scale.md).
 */
import { onlyRow, type Session } from './database.ts';

/**
 * The statement reads from `elapsed` and takes the sequence's name as text. So the machine with that table gives the
 * number.
 */
const TAKE = 'SELECT nextval($1::text)::float8 AS number FROM elapsed';

/** The next number of a sequence. A number that is not used leaves a gap. */
export async function takeNumber(session: Session, sequence: string): Promise<number> {
  return onlyRow((await session.query<{ number: number }>(TAKE, [sequence])).rows).number;
}

/** The next id of a table, as `takeNumber`. */
export function takeId(
  session: Session,
  table:
    | 'partners'
    | 'api_keys'
    | 'policies'
    | 'policy_activations'
    | 'policy_backtests'
    | 'policy_proposals'
    | 'policy_shadows'
    | 'exclusion_registers'
    | 'flows'
    | 'signing_codes'
    | 'operators'
    | 'application_events'
    | 'loan_contracts'
    | 'application_notes'
    | 'pends'
    | 'cases'
    | 'loan_debts'
    | 'debt_acceptances'
    | 'corrections'
    | 'told_reasons',
): Promise<number> {
  return takeNumber(session, `${table}_id_seq`);
}

const TAKE_SOME = 'SELECT nextval($1::text) AS id FROM elapsed, generate_series(1, $2)';

/** The same, for many rows at once. */
export async function takeIds(
  session: Session,
  table: 'application_events',
  count: number,
): Promise<number[]> {
  const { rows } = await session.query<{ id: string }>(TAKE_SOME, [`${table}_id_seq`, count]);
  return rows.map(({ id }) => Number(id));
}
