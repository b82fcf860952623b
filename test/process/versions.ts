/** Two versions of the program on one database: this one, and a copy of it that stands for the next one. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { knownMigrations } from '../../src/ground/schema/migration-files.ts';
import { TEST_VARIABLES, type TestDatabase } from '../support/database.ts';
import { REPOSITORY, type Running, run, scratch, until, type Variables } from './support.ts';

export interface Version {
  readonly running: Running;
  readonly url: string;
  ready(): Promise<number>;
}

/** The commands and services of both versions on one store, each by its folder. */
export function versionsOn(store: Pick<TestDatabase, 'url' | 'ownerUrl'>, variables: Variables) {
  const all = {
    ...{ DATABASE_URL: store.url, MIGRATE_DATABASE_URL: store.ownerUrl, ...TEST_VARIABLES },
    ...{ MESSAGES_PER_SECOND: 'none', RECIPIENTS_PER_DAY: 'none', PORT: '0', OPS_PORT: '0' },
    ...variables,
  };
  const command = (folder: string, args: readonly string[], more: Variables = {}): Running =>
    run(process.execPath, ['src/main.ts', ...args], { ...all, ...more }, folder);
  return {
    command,
    start: (folder: string, more: Variables = {}) => started(command(folder, ['serve'], more)),
  };
}

export async function started(running: Running): Promise<Version> {
  await until('the service to be ready', () => {
    if (running.hasEnded) throw new Error(`the service ended:\n${running.out}${running.err}`);
    return running.out.includes('/readyz');
  });
  const url = /Partner API\s+(\S+)\/PRO/.exec(running.out)?.[1] as string;
  const opsUrl = /Health\s+(\S+)\/healthz/.exec(running.out)?.[1];
  return { running, url, ready: async () => (await fetch(`${opsUrl}/readyz`)).status };
}

export async function stop({ running }: Version): Promise<void> {
  process.kill(running.pid, 'SIGTERM');
  assert.equal((await running.exit).code, 0, running.out + running.err);
}

/** The schema of this version. */
export const OWN = (await knownMigrations()).at(-1)?.schema ?? 0;

/**
 * A copy of this version as the next one: with another number, and with one more migration for each statement, additive
 * and of the next schema. Each takes the locks of one table, as docs/deploy.md asks for.
 */
export function nextVersion(statements: readonly string[]): string {
  const folder = scratch('next');
  mkdirSync(join(folder, 'client'), { recursive: true });
  mkdirSync(join(folder, 'packages/submit'), { recursive: true });
  for (const part of ['src', 'packages/submit/src', 'client/src', 'migrations', 'sql']) {
    cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  }
  const manifest = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version: '9.0.0' }));
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  for (const [index, statement] of statements.entries()) {
    const text = `-- Schema ${OWN + 1}, additive.\n${statement};\n`;
    writeFileSync(join(folder, 'migrations', `${9_000 + index}_next.sql`), text);
  }
  return folder;
}
