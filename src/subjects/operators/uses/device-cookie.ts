/**
 * The cookie of a known browser: operators have signed in there with both factors. It signs nobody in. Tries from such
 * a browser are counted apart, so that strangers cannot lock its operators out: behind a proxy they may have the same
 * address (docs/operators.md, "The operator API").
 *
 * The store does not keep the cookie. A MAC binds each mark in it to the account, to the enrolment and to the time.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Account, accountsByIds } from '../sql/factors.ts';

/** As long as the cookie's `Max-Age`. */
const LIVES_S = 90 * 86_400;
/** A mark from further in the future was made while the clock was ahead, and does not count. */
const AHEAD_S = 60;
const MAC_BYTES = 16;
/** If more operators share a browser, those who signed in last stay. */
const MOST_MARKS = 8;

interface Mark {
  readonly id: number;
  /** By the database's clock. */
  readonly madeAtS: number;
  readonly mac: Buffer;
  readonly text: string;
}

/** The accounts that can sign in and are known in the browser with this cookie. */
export async function knownAccounts(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  cookie: string | null,
): Promise<Account[]> {
  const marks = marksOf(cookie);
  if (marks.length === 0) return [];
  const accounts = await accountsByIds(
    database,
    vault,
    marks.map(({ id }) => id),
  );
  return accounts.filter((account) => marks.some((mark) => isOf(vault, account, mark)));
}

/**
 * The new cookie of a browser in which the operator has just signed in with both factors; `before` is its old cookie.
 */
export function cookieWith(vault: Vault, before: string | null, account: Account): string {
  const { id, nowMs } = account;
  const madeAtS = Math.floor(nowMs / 1_000);
  const own = `${id}.${madeAtS}.${macOf(vault, account, madeAtS).toString('base64url')}`;
  const others = marksOf(before).filter((mark) => mark.id !== id);
  return [own, ...others.map(({ text }) => text)].slice(0, MOST_MARKS).join('~');
}

function isOf(vault: Vault, account: Account, { id, madeAtS, mac }: Mark): boolean {
  if (account.id !== id || account.enrolledAt === null) return false;
  const age = account.nowMs / 1_000 - madeAtS;
  return age >= -AHEAD_S && age < LIVES_S && timingSafeEqual(mac, macOf(vault, account, madeAtS));
}

function macOf(vault: Vault, { id, enrolledAt }: Account, madeAtS: number): Buffer {
  return createHmac('sha256', vault.derivedKey('ventanilla device cookie'))
    .update(`${id} ${enrolledAt} ${madeAtS}`)
    .digest()
    .subarray(0, MAC_BYTES);
}

function marksOf(cookie: string | null): Mark[] {
  return (cookie ?? '')
    .split('~', MOST_MARKS)
    .map((text) => ({ text, parts: /^([1-9]\d{0,8})\.(\d{1,12})\.([\w-]{22})$/.exec(text) }))
    .filter(({ parts }) => parts !== null)
    .map(({ text, parts }) => {
      const [, id, madeAtS, mac] = parts!;
      return { text, id: Number(id), madeAtS: Number(madeAtS), mac: Buffer.from(mac!, 'base64url') };
    });
}
