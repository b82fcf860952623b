/**
 * The demo from a signed contract to the payment: an operator pays before the end of the time to withdraw, by the
 * override with a reason and a second operator, as the command line of the service does it. Starts the service's
 * commands on its store.
 */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { styleText } from 'node:util';
import { DemoError, ROOT } from './service.ts';
import { isTold, told, untilSigned } from './until-signed.ts';

/** What follows the signature. With the chat before it the demo ends within 120 seconds. */
const LIMIT_MS = 35_000;

/** The end of a command. */
interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}
/** Runs a command of the service. */
export type Ventanilla = (...args: readonly string[]) => Promise<Ended>;

/** Runs a command as a process of its own, on the store of the service. */
const asProcess: Ventanilla = (...args) => {
  // The demo finds its key in the same folder.
  const dataDir = resolve(ROOT, process.env.DATA_DIR || 'data');
  const env = { ...process.env, DATA_DIR: dataDir, NO_COLOR: '1' };
  const file = join(ROOT, 'src/start.js');
  return new Promise((ended) => {
    execFile(process.execPath, ['--disable-sigusr1', file, ...args], { env }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      ended({ code, out, err });
    });
  });
};

interface Planned {
  readonly payee: string;
  readonly amount: string;
  readonly currency: string;
}

const operatorDoes = (text: string) => told('operator', styleText('cyan', text));

/** Plays until the contract is signed, and pays it out. Throws `DemoError` where it is not paid out. */
export async function untilDisbursed(
  url: URL,
  key: string,
  page: string,
  given: number | undefined,
  ventanilla: Ventanilla = asProcess,
): Promise<void> {
  const { id, walk } = await untilSigned(url, key, page, given);
  const limitMs = given ?? LIMIT_MS;
  walk.allow(limitMs);
  const json = async <T>(...args: readonly string[]): Promise<T> => {
    const { code, out, err } = await ventanilla(...args, '--json');
    if (code !== 0) throw new DemoError(`"ventanilla ${args.slice(0, 2).join(' ')}" failed: ${err.trim()}`);
    return JSON.parse(out) as T;
  };
  const shown = await json<{ withdrawable_until: string | null }>('application', 'show', `${id}`);
  const { withdrawable_until: until } = shown;
  if (until !== null) told('law', `the applicant may withdraw until ${until}`);
  const plan = await json<Planned[]>('disbursement', 'plan', `${id}`);
  for (const { payee, amount, currency } of plan) told('contract', `pays ${amount} ${currency} to ${payee}`);
  const today = await json<{ evidence: { recorded_at: string }[] }>('contract', 'show', `${id}`);
  // The day of the signature, in UTC or a day before it, is a day that the contract takes.
  const signedAt = today.evidence.at(-1)!.recorded_at.slice(0, 10);
  const lines = plan.flatMap(({ payee, amount }, index) => [
    '--line',
    `payee=${payee};amount=${amount};reference=DEMO-${id}-${index + 1};value-date=${signedAt}`,
  ]);
  const pay = ['application', 'disburse', `${id}`, '--as', 'ana', ...lines] as const;
  const held = await ventanilla(...pay, '--reason', 'the demo pays');
  operatorDoes('ana pays by the list of the contract');
  if (held.code !== 0) {
    told('service', held.err.trim());
    const override = ['--override', '--second', 'luis', '--reason', 'the demo does not wait for the period'];
    operatorDoes(
      'ana pays before the end of the time to withdraw: an override, with a reason and luis as the second operator',
    );
    await json(...pay, '--reason-code', 'funds_transferred', ...override);
  }
  for (const line of await json<(Planned & { reference: string; value_date: string })[]>(
    ...['disbursement', 'list', `${id}`],
  ))
    told(
      'paid',
      `${line.amount} ${line.currency} to ${line.payee}, ${line.reference}, on ${line.value_date}`,
    );
  await walk.readSchedule();
  await walk.until('the event that the application is disbursed in the feed', () =>
    isTold(
      { url, key, limitMs },
      'application.status_changed',
      ({ data }) => data.id === id && data.to === 'disbursed',
    ),
  );
  const verified = await json<{ verified: boolean }>('contract', 'verify', `${id}`);
  if (!verified.verified) throw new DemoError(`"ventanilla contract verify ${id}" finds a fault`);
  console.log();
  const how =
    held.code === 0 ? '' : ' before the end of the time to withdraw, by the override of two operators';
  told('disbursed', `application ${id}${how}`);
  told('look at', `npx ventanilla disbursement list ${id}, npx ventanilla contract schedule ${id}`);
}
