/**
 * The accounts of people at partners (D54, docs/portal.md): rows of `operators` with a partner. Each statement names
 * the partner, or the login that no other account has. Reads and writes `operators`, and ends `operator_sessions`.
 */
import type { PartnerRole } from '../../../domain/operator/authority.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { storedLogin } from '../rules/login.ts';
import { type Account, accountOf, changeAccount, toAccount } from './account.ts';
import { SHOWN_COLUMNS, type ShownAccount, type ShownRow, shownOf } from './operators.ts';
import { endSessions } from './sessions.ts';

/** An account as its partner and operators see it. */
export interface PartnerAccount extends ShownAccount {
  readonly partnerId: PartnerId;
  readonly role: PartnerRole;
}

/** Which account: an operator names the login alone, and a person at a partner names one of the partner's by its id. */
export type Named = { readonly login: string } | { readonly partnerId: PartnerId; readonly id: number };

/** An account of a partner, locked until the transaction ends. */
export interface FoundAccount {
  readonly shown: PartnerAccount;
  /** As it is stored. */
  readonly stored: Account;
  /** null: the row is forged. */
  readonly account: Account | null;
}

const SHOWN = `SELECT ${SHOWN_COLUMNS} FROM operators o`;
const ALL = `${SHOWN} WHERE o.partner_id IS NOT NULL ORDER BY o.partner_id, o.id`;
const OF_PARTNER = `${SHOWN} WHERE o.partner_id = $1 ORDER BY o.id`;
const PARTNER_OF =
  'SELECT o.partner_id AS id FROM operators o WHERE o.login = $1 AND o.partner_id IS NOT NULL';
const BY_LOGIN = `${SHOWN} WHERE o.login = $1 AND o.partner_id IS NOT NULL FOR NO KEY UPDATE`;
const BY_ID = `${SHOWN} WHERE o.partner_id = $1 AND o.id = $2 FOR NO KEY UPDATE`;
const LOCK_OF_PARTNER = `${OF_PARTNER} FOR NO KEY UPDATE`;

/** The accounts of a partner, or of all partners (null), the oldest first. */
export async function readPartnerAccounts(
  session: Session,
  vault: Vault,
  partnerId: PartnerId | null,
): Promise<PartnerAccount[]> {
  const { rows } = await (partnerId === null
    ? session.query<ShownRow>(ALL)
    : session.query<ShownRow>(OF_PARTNER, [partnerId]));
  return rows.map((row) => partnerAccountOf(vault, row));
}

/** Whose account has this login; null if there is none. */
export async function partnerOfLogin(session: Session, login: string): Promise<PartnerId | null> {
  const { rows } = await session.query<{ id: PartnerId }>(PARTNER_OF, [storedLogin('partner', login)]);
  return rows[0]?.id ?? null;
}

/** The account of this name, locked; null if there is none, or if it is another partner's. */
export async function lockPartnerAccount(
  session: Transaction,
  vault: Vault,
  named: Named,
): Promise<FoundAccount | null> {
  const { rows } = await ('login' in named
    ? session.query<ShownRow>(BY_LOGIN, [storedLogin('partner', named.login)])
    : session.query<ShownRow>(BY_ID, [named.partnerId, named.id]));
  const [row] = rows;
  if (row === undefined) return null;
  return {
    shown: partnerAccountOf(vault, row),
    stored: toAccount(row),
    account: accountOf(vault, row),
  };
}

/**
 * Ends the sessions, the links and the factors of all accounts of a partner, so that nobody signs in for it before an
 * operator gives a new link. Rows that are forged stay as they are: nobody signs in with them.
 */
export async function endPartnerSignIns(
  session: Transaction,
  vault: Vault,
  partnerId: PartnerId,
): Promise<void> {
  const { rows } = await session.query<ShownRow>(LOCK_OF_PARTNER, [partnerId]);
  for (const row of rows) {
    await endSessions(session, row.id);
    const account = accountOf(vault, row);
    if (account !== null) await changeAccount(session, vault, account, WITHOUT_FACTORS);
  }
}

const WITHOUT_FACTORS = {
  password: null,
  totp: null,
  totpStep: 0,
  enrolledAt: null,
  recoveryCodes: [],
  link: null,
} as const;

/** The statements here read rows of partners alone. */
function partnerAccountOf(vault: Vault, row: ShownRow): PartnerAccount {
  return shownOf(vault, row) as PartnerAccount;
}
