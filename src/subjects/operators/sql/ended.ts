/**
 * What a restore ends (docs/backup.md): the sign-ins of the restored moment, and whatever operators have lost since
 * then. It only takes rights away, because what happened later may be the reason for the restore. Writes `operators`,
 * `operator_sessions` and `operator_pending_sign_ins`.
 */

import { rolesLike } from '../../../domain/operator/authority.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import {
  type Account,
  type AccountChange,
  type AccountRow,
  accountColumns,
  accountOf,
  changeAccount,
} from './account.ts';

const ALL = `SELECT ${accountColumns('o')} FROM operators o ORDER BY o.id`;

/** All accounts that are not forged. */
export async function readAccounts(session: Pick<Transaction, 'query'>, vault: Vault): Promise<Account[]> {
  const { rows } = await session.query<AccountRow>(ALL);
  return rows.map((row) => accountOf(vault, row)).filter((account) => account !== null);
}

/** Ends all sessions, all sign-ins under way and all links. Returns the number of sessions and of links. */
export async function endSignIns(
  session: Transaction,
  vault: Vault,
): Promise<{ readonly sessions: number; readonly links: number }> {
  const { rowCount } = await session.query('DELETE FROM operator_sessions');
  await session.query('DELETE FROM operator_pending_sign_ins');
  const invited = (await readAccounts(session, vault)).filter(({ link }) => link !== null);
  for (const account of invited) await changeAccount(session, vault, account, { link: null });
  return { sessions: rowCount ?? 0, links: invited.length };
}

/** What an operator has lost. */
export interface Loss {
  readonly id: number;
  readonly what: 'account' | 'factors' | 'recovery codes' | 'role or authority';
}

/** Takes from each account what the same account of the later state has lost. */
export async function endAccountsAgain(
  session: Transaction,
  vault: Vault,
  later: readonly Account[],
): Promise<Loss[]> {
  const byId = new Map(later.map((account) => [account.id, account]));
  const losses: Loss[] = [];
  for (const account of await readAccounts(session, vault)) {
    const then = byId.get(account.id);
    // After another restore the same id may belong to somebody else.
    if (then?.login !== account.login || then.partnerId !== account.partnerId || account.disabledAt !== null)
      continue;
    const change = lossesOf(account, then);
    if (change.length === 0) continue;
    await changeAccount(session, vault, account, Object.assign({}, ...change.map(([, part]) => part)));
    losses.push(...change.map(([what]) => ({ id: account.id, what })));
  }
  return losses;
}

const WITHOUT_FACTORS = {
  password: null,
  totp: null,
  totpStep: 0,
  identity: null,
  recoveryCodes: [],
  enrolledAt: null,
} as const;

function lossesOf(now: Account, then: Account): [Loss['what'], AccountChange][] {
  if (then.disabledAt !== null)
    return [['account', { disabledAt: then.disabledAt, link: null, identity: null }]];
  const losses: [Loss['what'], AccountChange][] = [];
  const roles = rolesLike(now.role);
  const role = roles[Math.max(0, Math.min(roles.indexOf(now.role), roles.indexOf(then.role)))]!;
  const authority = new Map(
    [...now.authority].flatMap(([currency, amount]) => {
      const least = [amount, then.authority.get(currency) ?? 0n].reduce((one, other) =>
        one < other ? one : other,
      );
      return least === 0n ? [] : [[currency, least] as const];
    }),
  );
  const isLess = [...now.authority].some(([currency, amount]) => authority.get(currency) !== amount);
  if (role !== now.role || isLess) losses.push(['role or authority', { role, authority }]);
  if (now.enrolledAt !== null && !hasSameFactors(now, then)) losses.push(['factors', WITHOUT_FACTORS]);
  else {
    const recoveryCodes = now.recoveryCodes.filter((code) =>
      then.recoveryCodes.some((one) => one.equals(code)),
    );
    if (recoveryCodes.length < now.recoveryCodes.length) losses.push(['recovery codes', { recoveryCodes }]);
  }
  return losses;
}

function hasSameFactors(now: Account, then: Account): boolean {
  return (
    now.enrolledAt === then.enrolledAt &&
    now.password === then.password &&
    now.identity?.issuer === then.identity?.issuer &&
    now.identity?.subject === then.identity?.subject
  );
}
