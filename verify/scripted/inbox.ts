/**
 * Ten operators answer everybody who waits in the inbox, by the operator API of services that are killed meanwhile
 * (docs/operators.md, "The inbox"). Some leave in the middle, and some are so slow that their claim ends.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { enrol, lockAccount, setFactors } from '../../src/subjects/operators/sql/factors.ts';
import { startSession } from '../../src/subjects/operators/sql/sessions.ts';
import { addOperator } from '../../src/subjects/operators/uses/manage.ts';
import { newSession } from '../../src/subjects/operators/uses/tokens.ts';
import type { Random } from '../../test/support/random.ts';
import type { Stage } from './stage.ts';

const OPERATORS = 10;
const AGAIN_MS = 300;
/** What an operator does who has claimed somebody: leaves before the answer; answers long after; answers. */
const LEAVES = 0.1;
const IS_SLOW = 0.1;
/** So the answers of operators are known among the replies. */
export const ANSWER = 'Le escribe una persona: ';

/** An operator's browser: its session, and the page that claims. */
interface Browser {
  readonly id: number;
  readonly cookie: string;
  readonly page: string;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly application_id?: number | null; readonly code?: string };
}

/** Signs the operators in: call it while nothing is killed. */
export function signInOperators(stage: Stage): Promise<Browser[]> {
  return Promise.all(
    Array.from({ length: OPERATORS }, (_, index) => signedIn(stage, `scripted.${index + 1}`)),
  );
}

/** Resolves when nobody waits who may be answered. An operator takes `thinkMs` for an answer at most. */
export async function answerInbox(
  stage: Stage,
  browsers: readonly Browser[],
  random: Random,
  thinkMs: number,
): Promise<void> {
  for (;;) {
    const answered = await Promise.all(
      browsers.map((browser) => answerAll(stage, random.fork(), browser, thinkMs)),
    );
    if (answered.every((count) => count === 0)) return;
    // The claims of those who left end after two minutes: these pass here.
    await endClaims(stage);
  }
}

/** Answers one person after the other until nobody is free. Returns how many were answered, or left alone. */
async function answerAll(stage: Stage, random: Random, browser: Browser, thinkMs: number): Promise<number> {
  for (let done = 0; ; ) {
    const next = await ask(stage, random, browser, '/inbox/claim-next', {});
    if (next.status !== 200) throw new Error(`claim-next answered ${next.status}`);
    const id = next.body.application_id;
    if (id == null) return done;
    await sleep(random.between(0, thinkMs));
    const fate = random.next();
    if (fate < LEAVES) {
      done += 1;
      continue;
    }
    if (fate < LEAVES + IS_SLOW) await endClaims(stage, browser.id);
    const text = `${ANSWER}${browser.id}`;
    const { status, body } = await ask(stage, random, browser, `/conversations/${id}/messages`, { text });
    if (status === 200) done += 1;
    // 409: another one has answered, or has the claim now; or nothing may be said to the person.
    else if (status !== 409) throw new Error(`an answer got ${status}: ${JSON.stringify(body)}`);
  }
}

/** Asks with one key until a service answers: one may be killed, and PostgreSQL away. */
async function ask(
  { consoles }: Stage,
  random: Random,
  { cookie, page }: Browser,
  path: string,
  body: object,
): Promise<Answer> {
  const headers = {
    ...{ 'Content-Type': 'application/json', Cookie: `ventanilla=${cookie}` },
    ...{ 'Idempotency-Key': randomUUID(), 'Operator-Page': page },
  };
  for (;;) {
    const url = `${consoles[random.between(0, consoles.length - 1)]}/api${path}`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      .then(async (response) => ({ status: response.status, body: await response.json() }) as Answer)
      .catch(() => null);
    if (answer !== null && answer.status < 500 && answer.status !== 429) return answer;
    await sleep(random.between(0, AGAIN_MS));
  }
}

/** An operator with both factors, who is signed in. */
async function signedIn({ postgres, vault }: Stage, login: string): Promise<Browser> {
  const { database } = postgres;
  const { operator } = await addOperator(
    { database, vault },
    { login, role: 'reviewer', authority: new Map() },
  );
  const account = async () => (await lockAccount(database, vault, operator.id))!;
  const factors = { password: 'no hash', totp: Buffer.alloc(20) };
  const made = await setFactors(database, vault, await account(), factors);
  await enrol(database, vault, made, { totpStep: 0, recoveryCodes: [] });
  const { cookie, key } = newSession();
  await startSession(database, vault, key, { account: await account(), isWhole: true });
  return { id: operator.id, cookie, page: randomUUID() };
}

/** Ends the claims of an operator, or all, as two minutes do. Those that somebody takes at this moment go on. */
async function endClaims({ postgres }: Stage, operatorId: number | null = null): Promise<void> {
  const end = () =>
    postgres.database.query(
      `UPDATE inbox_claims SET claimed_until = now() - interval '1 second' WHERE application_id IN (
         SELECT application_id FROM inbox_claims WHERE $1::integer IS NULL OR operator_id = $1 FOR UPDATE SKIP LOCKED)`,
      [operatorId],
    );
  while (
    !(await end().then(
      () => true,
      () => false,
    ))
  )
    await sleep(AGAIN_MS);
}
