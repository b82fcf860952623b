/**
 * Adds and changes the accounts of people at partners, for operators and for the owners among these accounts (D54,
 * docs/portal.md). Writes `operators`, and ends sessions.
 */
import type { PartnerRole } from '../../../domain/operator/authority.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { holdOpenPartner } from '../../partners/sql/partners.ts';
import { LOGIN_RULE, normalLogin, readLogin } from '../rules/login.ts';
import type { Account } from '../sql/account.ts';
import { resetFactors } from '../sql/factors.ts';
import { disableOperator as endAccount, insertInvited } from '../sql/operators.ts';
import {
  type FoundAccount,
  lockPartnerAccount,
  type Named,
  type PartnerAccount,
  partnerOfLogin,
  readPartnerAccounts,
} from '../sql/partner-accounts.ts';
import { endSessions } from '../sql/sessions.ts';
import { newToken } from './tokens.ts';

export type { Named, PartnerAccount };

type Context = Pick<OperatorContext, 'database' | 'vault'>;

/** An account, and the token of the link by which its person sets the password and the second factor. */
interface Invited {
  readonly account: PartnerAccount;
  readonly token: string;
}

/** The most accounts of a partner, with those that are disabled, because rows of accounts stay. */
export const MOST_ACCOUNTS = 100;

/** The accounts of a partner, or of all partners (null), the oldest first. */
export function listPartnerAccounts(
  { database, vault }: Context,
  partnerId: PartnerId | null,
): Promise<PartnerAccount[]> {
  return readPartnerAccounts(database, vault, partnerId);
}

/**
 * Adds an account to an open partner. Without `role` the first live account is the owner, and any other one a member.
 * Throws `OperatorError` if the login breaks its rule or is taken, by an account of any partner.
 */
export function addPartnerAccount(
  { database, vault }: Context,
  { partnerId, login: text, role }: { partnerId: PartnerId; login: string; role?: PartnerRole | undefined },
): Promise<Invited> {
  const login = readLogin(text);
  if (login === null) throw new OperatorError(LOGIN_RULE);
  const { token, digest } = newToken();
  return inTransaction(database, async (session) => {
    await requireOpen(session, partnerId);
    const before = await readPartnerAccounts(session, vault, partnerId);
    if (before.length >= MOST_ACCOUNTS)
      throw new OperatorError(`partner ${partnerId} has ${MOST_ACCOUNTS} accounts, which is the most`);
    const isFirst = before.every(({ disabledAt }) => disabledAt !== null);
    const id = await insertInvited(session, vault, {
      ...{ login, partnerId, linkDigest: digest },
      role: role ?? (isFirst ? 'owner' : 'member'),
    });
    if (id === null)
      throw new OperatorError(`the login ${login} is taken: take another one, such as an e-mail address`);
    return { account: (await known(session, vault, { partnerId, id })).shown, token };
  });
}

/** Takes an account's factors away, ends its sessions, and gives a new link. Throws `OperatorError`. */
export function resetPartnerAccount({ database, vault }: Context, named: Named): Promise<Invited> {
  const { token, digest } = newToken();
  return inTransaction(database, async (session) => {
    // The partner's row first, as where a partner closes.
    await requireOpen(session, await partnerOf(session, named));
    await resetFactors(session, vault, await live(session, vault, named), digest);
    return { account: (await known(session, vault, named)).shown, token };
  });
}

/** Ends all sessions of an account, which keeps its factors. Throws `OperatorError`. */
export function signOutPartnerAccount({ database, vault }: Context, named: Named): Promise<PartnerAccount> {
  return inTransaction(database, async (session) => {
    await endSessions(session, (await live(session, vault, named)).id);
    return (await known(session, vault, named)).shown;
  });
}

/**
 * Ends an account for good; its id stays in the record of acts. Nothing else can be done with a forged one. Throws
 * `OperatorError`.
 */
export function disablePartnerAccount({ database, vault }: Context, named: Named): Promise<PartnerAccount> {
  return inTransaction(database, async (session) => {
    const found = await known(session, vault, named);
    refuseDisabled(found);
    await endAccount(session, vault, found.stored);
    return (await known(session, vault, named)).shown;
  });
}

/** A partner's account stays with its partner for ever. */
async function partnerOf(session: Transaction, named: Named): Promise<PartnerId> {
  if ('partnerId' in named) return named.partnerId;
  const partnerId = await partnerOfLogin(session, normalLogin(named.login));
  if (partnerId === null) throw noAccount();
  return partnerId;
}

/** The partner cannot close until the transaction ends. */
async function requireOpen(session: Transaction, partnerId: PartnerId): Promise<void> {
  const partner = await holdOpenPartner(session, partnerId);
  if (partner === null) throw new OperatorError(`there is no open partner ${partnerId}`);
}

/** Locks the account until the transaction ends. */
async function known(session: Transaction, vault: Vault, named: Named): Promise<FoundAccount> {
  const wanted = 'login' in named ? { login: normalLogin(named.login) } : named;
  const found = await lockPartnerAccount(session, vault, wanted);
  if (found === null) throw noAccount();
  return found;
}

/** The same, for an account that is neither disabled nor forged. Throws `OperatorError`. */
async function live(session: Transaction, vault: Vault, named: Named): Promise<Account> {
  const found = await known(session, vault, named);
  refuseDisabled(found);
  if (found.account !== null) return found.account;
  throw new OperatorError(
    `the account ${found.shown.login} was changed in the database by somebody without the keys of this service, and may do nothing: disable it, and add another one (docs/operators.md)`,
  );
}

function refuseDisabled({ shown: { login, disabledAt } }: FoundAccount): void {
  if (disabledAt !== null) throw new OperatorError(`the account ${login} is disabled`);
}

function noAccount(): OperatorError {
  return new OperatorError(
    'there is no such account of a partner: partner account list shows all',
    'not_found',
  );
}
