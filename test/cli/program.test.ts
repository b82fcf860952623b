/** The program as a whole: help, exit codes, output without a reader. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { buildProgram } from '../../src/app/program.ts';
import type { ProgramRoles, Schema } from '../../src/app/role-types.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { commandLine, Sink } from './harness.ts';
import { wholeProgram } from './whole-program.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

const programOn = (query: () => Promise<unknown>) =>
  commandLine({ database: { query } as never, vault: null as never, clock: machineClock });
const { run, json, roles, called } = programOn(async () => ({ rows: [] }));

test('every command has help with an example, and takes --json', async () => {
  const commands: Command[] = [await wholeProgram(roles)];
  for (const command of commands) {
    commands.push(...command.commands);
    const path: string[] = [];
    for (let at = command; at.parent !== null; at = at.parent) path.unshift(at.name());
    const { code, out, err } = await run(...path, '--help');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, new RegExp(`Example:\n  npx ventanilla ${path.join(' ')}`));
    if (command.commands.length === 0) assert.match(out, /--json/);
  }
  assert.ok(commands.length > 20, `${commands.length}`);
});

test('the help of a command says of each option that may not be absent that it is required', async () => {
  const commands: Command[] = [await wholeProgram(roles)];
  const required: string[] = [];
  for (const command of commands) {
    commands.push(...command.commands);
    const help = command.helpInformation().replace(/\s+/g, ' ');
    for (const { mandatory, flags } of command.options) {
      if (mandatory) required.push(`${command.name()} ${flags}`);
      const text = help.slice(help.indexOf(flags));
      assert.equal(
        /^.*?(?= -|$)/.exec(text)?.[0].includes('(required)'),
        mandatory,
        `${command.name()} ${flags}`,
      );
    }
  }
  for (const action of ['approve', 'reject', 'disburse']) {
    assert.ok(required.includes(`${action} --reason <text>`), action);
  }
});

test('the version is that of the package, and the newest one of the changelog, with its date', async () => {
  const read = (name: string) => readFileSync(resolve(REPOSITORY, name), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  for (const option of ['--version', '-V']) {
    assert.deepEqual(await run(option), { code: 0, out: `${version}\n`, err: '' });
  }
  const newest = /^## (?!Unreleased)(\S+) - (\S+)$/m.exec(read('CHANGELOG.md'));
  assert.equal(newest?.[1], version);
  assert.match(newest?.[2] ?? '', /^\d{4}-\d{2}-\d{2}$/);
});

test('the help of the program loads no command, which keeps it fast', async () => {
  const hook = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, 'src/start.js', '--help'];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: REPOSITORY });
  const files = stderr.match(/(?<=\/)(?:(?:packages\/\w+\/)?src|node_modules)\/\S+/g)?.toSorted() ?? [];
  const packages = files.map((file) => /^node_modules\/([^/]+)/.exec(file)?.[1]).filter(Boolean);
  assert.deepEqual([...new Set(packages)], ['commander']);
  assert.deepEqual(
    files.filter((file) => !file.startsWith('node_modules/')),
    [
      'packages/submit/src/command.ts',
      'src/app/program.ts',
      'src/app/subjects.ts',
      'src/domain/application/retention.ts',
      'src/ground/base/clock.ts',
      'src/ground/base/describe-error.ts',
      'src/ground/base/loopback.ts',
      'src/ground/base/operator-json.ts',
      'src/ground/base/plain-text.ts',
      'src/ground/base/registration-failure.ts',
      'src/ground/base/setting.ts',
      'src/ground/base/told-error.ts',
      'src/ground/base/version.ts',
      'src/main.ts',
      'src/program/cli/command.ts',
      'src/program/cli/output.ts',
      'src/program/operations/operator-context.ts',
      'src/run.js',
      'src/start.js',
      'src/subjects/applications/settings.ts',
      'src/subjects/applications/subject.ts',
      'src/subjects/audit/subject.ts',
      'src/subjects/business/subject.ts',
      'src/subjects/conversation/settings.ts',
      'src/subjects/conversation/subject.ts',
      'src/subjects/desk/settings.ts',
      'src/subjects/desk/subject.ts',
      'src/subjects/documents/rules/clamd-address.ts',
      'src/subjects/documents/settings.ts',
      'src/subjects/documents/subject.ts',
      'src/subjects/evaluation/subject.ts',
      'src/subjects/events/push/rules/endpoint-hosts.ts',
      'src/subjects/events/push/subject.ts',
      'src/subjects/events/subject.ts',
      'src/subjects/income/settings.ts',
      'src/subjects/income/subject.ts',
      'src/subjects/messages/settings.ts',
      'src/subjects/messages/subject.ts',
      'src/subjects/monitoring/settings.ts',
      'src/subjects/monitoring/subject.ts',
      'src/subjects/operators/settings.ts',
      'src/subjects/operators/subject.ts',
      'src/subjects/partners/subject.ts',
      'src/subjects/policies/subject.ts',
      'src/subjects/reconsiderations/settings.ts',
      'src/subjects/reconsiderations/subject.ts',
      'src/subjects/rights/subject.ts',
      'src/subjects/signing/settings.ts',
      'src/subjects/signing/subject.ts',
      'src/subjects/vault/subject.ts',
    ],
  );
});

test('serve, worker and migrate run the roles of the composition root', async () => {
  await run('serve');
  await run('worker', '--json');
  assert.deepEqual(called, ['serve', 'worker']);
  const done = { applied: ['0001_partners.sql'], granted: 'ventanilla_service' };
  assert.deepEqual(await json('migrate'), done);
  assert.equal(
    (await run('migrate')).out,
    'Applied 0001_partners.sql.\nGave ventanilla_service what the service needs, and no more.\n',
  );
  assert.deepEqual(await json('migrate', '--distribute'), {
    ...done,
    distributed: ['batches'],
  });
});

test('migrate --status changes nothing and says whether running processes go on meanwhile', async () => {
  const said = async (schema: Schema, ...args: string[]) => {
    const io = { stdout: new Sink(), stderr: new Sink(), exitCode: 0 };
    const status: ProgramRoles = {
      ...roles,
      schema: async () => schema,
      migrate: () => Promise.reject(new Error('changed')),
    };
    await buildProgram(status, io, machineClock).parseAsync(['migrate', '--status', ...args], {
      from: 'user',
    });
    return io.stdout.text + io.stderr.text;
  };
  const pending = [{ name: '0016_x.sql' }];
  assert.equal(await said({ fault: null, pending: [], isRolling: true }), 'Nothing is pending.\n');
  assert.match(
    await said({ fault: null, pending, isRolling: true }),
    /^Pending: 0016_x\.sql\.\nProcesses .* go on/,
  );
  assert.match(await said({ fault: null, pending, isRolling: false }), /^Pending: 0016_x\.sql\.\nStop all/);
  assert.equal(
    await said({ fault: null, pending, isRolling: false }, '--json'),
    '{\n  "pending": [\n    "0016_x.sql"\n  ],\n  "rolling": false\n}\n',
  );
  assert.equal(await said({ fault: 'too new', pending: [], isRolling: true }), 'error: too new\n');
});

test('a reader that left is no failure', async () => {
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
  const io = { stdout, stderr: new Sink(), exitCode: 0 };
  await buildProgram(roles, io, machineClock).parseAsync(['partner', 'list', '--json'], { from: 'user' });
  assert.deepEqual([io.exitCode, io.stderr.text], [0, '']);
});
