/** Runs the command line in this process, on a real database. */

import { Readable, Writable } from 'node:stream';
import { buildProgram } from '../../src/app/program.ts';
import type { ProgramRoles } from '../../src/app/role-types.ts';
import type { Application } from '../../src/applications/rules/fields.ts';
import { toPhone } from '../../src/applications/rules/phone.ts';
import { DEFAULT_POLICY } from '../../src/applications/rules/policy.ts';
import { assess } from '../../src/applications/rules/scorecard.ts';
import { rememberPolicy } from '../../src/applications/sql/policies.ts';
import { prepareBatch } from '../../src/applications/sql/prepared-batch.ts';
import { Registrar } from '../../src/applications/sql/registration.ts';
import { messageType } from '../../src/messages/rules/notify.ts';
import { toKeyId } from '../../src/partners/rules/credential.ts';
import { APPLICANT } from '../support/applicant.ts';
import type { TestDatabase } from '../support/database.ts';

export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const ACTOR = 'ana';
/** Shows personal data. */
export const REVEAL = ['--reveal', '--reason', 'test'] as const;

/** Runs commands as `npx ventanilla ...args` would; each gets `stdin`. */
export function commandLine(
  { database, vault }: Pick<TestDatabase, 'database' | 'vault'>,
  variables: Readonly<Record<string, string>> = {},
  stdin = '',
) {
  const called: string[] = [];
  const roles: ProgramRoles = {
    serve: async () => void called.push('serve'),
    worker: async () => void called.push('worker'),
    schema: async () => ({ fault: null, pending: [], isRolling: true }),
    migrate: async (distribute) => ({
      applied: ['0001_partners.sql'],
      distributed: distribute ? ['batches'] : [],
    }),
    operate: (work) => work({ database, vault, actor: ACTOR }),
    observe: (work) => work({ database, schema: async () => ({ fault: null, pending: [] }) }),
    backups: () => Promise.reject(new Error('no embedded store')),
    setting: async ({ variable, read }) => read(variables[variable]),
  };
  const run = async (...args: string[]): Promise<Run> => {
    const out = new Sink();
    const err = new Sink();
    const io = { stdout: out, stderr: err, stdin: Readable.from([stdin]), exitCode: 0 };
    await buildProgram(roles, io).parseAsync(args, { from: 'user' });
    return { code: io.exitCode, out: out.text, err: err.text };
  };
  /** Runs with `--json` and expects success. */
  const json = async (...args: string[]) => {
    const { code, out, err } = await run(...args, '--json');
    if (code !== 0 || err !== '') throw new Error(`${args.join(' ')}: exit ${code}, ${err}`);
    // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
    return JSON.parse(out) as any;
  };
  return { run, json, roles, called };
}

export class Sink extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

/** A valid application of 85 points (approved), with some changes. */
export function applicant(changes: Partial<Application> = {}): Application {
  return {
    ...APPLICANT,
    phone: toPhone(APPLICANT.phone),
    platform: 'gig',
    currency: 'COP',
    debt_amount: 8_000_000,
    prior_history: 'no',
    ...changes,
  };
}

/** 32 points and little income: in review. */
export const IN_REVIEW = { income: 100_000, num_debts: '3', debt_age: '1a2' } as const;
/** 85 points and a debt above the limit of 25,000 USD. */
export const ABOVE_LIMIT = { income: 90_000_000, debt_amount: 100_000_001 } as const;

/** Registers like POST /PRO, in batches of 100. Resolves to the ids, with 0 for a duplicate. */
export async function registrarOf({ database, vault }: TestDatabase) {
  const registrar = new Registrar(database, await rememberPolicy(database, DEFAULT_POLICY));
  return async (keyId: number, applications: readonly Application[]): Promise<number[]> => {
    const outcomes: number[] = [];
    for (let start = 0; start < applications.length; start += 100) {
      const candidates = applications.slice(start, start + 100).map((application, position) => {
        const assessment = assess(application, DEFAULT_POLICY);
        const type = messageType(application, assessment.decision);
        return { position, application, assessment, messageType: type };
      });
      const batch = prepareBatch(vault, toKeyId(keyId), candidates, null);
      const verdict = await registrar.register(batch, performance.now() + 10_000);
      if (verdict.kind !== 'done') throw new Error(verdict.kind);
      outcomes.push(
        ...candidates.map(({ position }) => {
          const outcome = verdict.batch.outcomeAt(position);
          return outcome.kind === 'registered' ? outcome.id : 0;
        }),
      );
    }
    return outcomes;
  };
}
