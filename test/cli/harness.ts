/** Runs the command line in this process, on a real database. */
import { Readable, Writable } from 'node:stream';
import { submit } from '../../packages/submit/src/command.ts';
import { buildProgram } from '../../src/app/program.ts';
import type { ProgramRoles } from '../../src/app/role-types.ts';
import type { ReadSetting } from '../../src/ground/base/setting.ts';
import { sessionsOf, type TestStore } from '../support/database.ts';

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
  { vault, clock, ...store }: TestStore,
  variables: Readonly<Record<string, string>> = {},
  stdin = '',
) {
  const called: string[] = [];
  const database = sessionsOf(store);
  const context = { database, vault, clock, actor: ACTOR };
  const read: ReadSetting = ({ variable, read: readText }) =>
    readText(variables[variable], { dataDir: variables.DATA_DIR ?? '', ownDatabase: true });
  const roles: ProgramRoles = {
    serve: async () => void called.push('serve'),
    worker: async () => void called.push('worker'),
    schema: async () => ({ fault: null, pending: [], isRolling: true }),
    migrate: async (distribute) => ({
      applied: ['0001_partners.sql'],
      granted: 'ventanilla_service',
      distributed: distribute ? ['batches'] : [],
    }),
    operate: (work) => work(context),
    observe: (work) =>
      work({
        ...{ database, place: 'DATA_DIR /srv/data' },
        schema: async () => ({ fault: null, pending: [] }),
        roleFault: async () => null,
      }),
    backups: () => Promise.reject(new Error('no embedded store')),
    keepErasures: async () => {},
    setting: async (setting) => read(setting),
    settings: async () => read,
  };
  /** On a cluster an erasure and a correction need the coordinator. */
  const rolesFor = ([group, name]: readonly string[]): ProgramRoles =>
    group === 'subject' && (name === 'erase' || name === 'correct')
      ? { ...roles, operate: (work) => work({ ...context, database: store.coordinator ?? database }) }
      : roles;
  const run = async (...args: string[]): Promise<Run> => {
    const out = new Sink();
    const err = new Sink();
    const io = { stdout: out, stderr: err, stdin: Readable.from([stdin]), exitCode: 0 };
    await buildProgram(rolesFor(args), io, clock, [submit]).parseAsync(args, { from: 'user' });
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
