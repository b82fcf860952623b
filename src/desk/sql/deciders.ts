/** The accounts of those who decide, as they are now (D48). */
import type { Authority } from '../../operators/rules/authority.ts';
import type { Role } from '../../operators/rules/role.ts';
import type { Session, Transaction } from '../../postgres/database.ts';
import type { Decider } from '../rules/proposal.ts';

type Deciders = ReadonlyMap<number, NonNullable<Decider>>;

const ACCOUNTS = `
  SELECT o.id, o.role, o.disabled_at IS NOT NULL AS is_disabled FROM operators o WHERE o.id = ANY ($1::integer[])`;
/** A change of an account locks it first: it comes before, or waits until what the transaction decides is committed. */
const HELD = `${ACCOUNTS} ORDER BY o.id FOR SHARE`;
/** A statement of its own: it sees what was committed before the lock. */
const AUTHORITIES = `
  SELECT a.operator_id, a.currency, (a.amount * 100)::bigint::text AS hundredths FROM operator_authorities a
  WHERE a.operator_id = ANY ($1::integer[])`;

/** The operators by id; one who is not there is absent. */
export function readDeciders(session: Session, ids: readonly number[]): Promise<Deciders> {
  return decidersBy(session, ACCOUNTS, ids);
}

/** The same, and nobody changes their role, account or authority until the end of the transaction. */
export function holdDeciders(session: Transaction, ids: readonly number[]): Promise<Deciders> {
  return decidersBy(session, HELD, ids);
}

async function decidersBy(session: Session, accounts: string, ids: readonly number[]): Promise<Deciders> {
  const found = await session.query<{ id: number; role: Role; is_disabled: boolean }>(accounts, [ids]);
  const authorities = await session.query<{ operator_id: number; currency: string; hundredths: string }>(
    AUTHORITIES,
    [ids],
  );
  return new Map(
    found.rows.map(({ id, role, is_disabled }) => {
      const own = authorities.rows.filter(({ operator_id }) => operator_id === id);
      const authority: Authority = new Map(
        own.map(({ currency, hundredths }) => [currency, BigInt(hundredths)]),
      );
      return [id, { role, isDisabled: is_disabled, authority }];
    }),
  );
}
