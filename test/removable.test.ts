/**
 * A subject can be deleted: its folder, its migrations, its functions, and the lines of `app` that are named here; so
 * can a package, whose line `src/main.ts` has. No other line imports from the folder. A copy of the program without all
 * of these subjects compiles; without the pushes it runs.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { after, describe, it } from 'node:test';
import { demoKeyOf, emptyDataDir, run, submit, until, type Variables } from './process/support.ts';
import { anApplication } from './support/service.ts';
import { importsOf, placeOf, REPOSITORY, readProgram } from './support/sources.ts';

const MOST_LINES = 4;

interface Subject {
  /** What goes as a whole. */
  readonly gone: readonly string[];
  /** The lines that go from files that stay. An array is a line with the line that replaces it. */
  readonly lines: Readonly<Record<string, readonly (string | readonly [from: string, to: string])[]>>;
  /** What goes as well, outside of `src`, `migrations` and `sql`. */
  readonly beside: readonly string[];
}

const SUBJECTS: Readonly<Record<'pushes' | 'simulator' | 'submit' | 'monitoring', Subject>> = {
  pushes: {
    gone: [
      'src/subjects/events/push',
      'migrations/0006_push.sql',
      'migrations/0039_push.sql',
      'sql/functions/push',
    ],
    lines: {
      'src/app/subjects.ts': [
        "import { endPushes, push } from '../subjects/events/push/subject.ts';",
        'endPushes,',
        'push,',
      ],
    },
    beside: ['test/events/push', 'test/process/pushes.test.ts', 'bench/push.ts'],
  },
  simulator: {
    gone: ['src/subjects/simulator'],
    lines: {
      'src/app/channel.ts': [
        "import { openSimulator } from '../subjects/simulator/open.ts';",
        "if (config.channel === 'simulator') return openSimulator({ ...store, hear }, watcher.happened);",
      ],
      'src/app/config/config.ts': [
        [
          "const CHANNELS = ['simulator', 'log', 'whatsapp'] as const;",
          "const CHANNELS = ['log', 'whatsapp'] as const;",
        ],
        [
          "return oneOf('CHANNEL', text ?? 'simulator', CHANNELS);",
          "return oneOf('CHANNEL', text ?? 'log', CHANNELS);",
        ],
      ],
    },
    beside: [
      'test/simulator',
      'test/browser/simulator.test.ts',
      'test/browser/chat.test.ts',
      'test/support/simulator.ts',
    ],
  },
  monitoring: {
    gone: [
      ...['src/subjects/monitoring', 'sql/functions/monitoring'],
      ...['migrations/0016_monitoring.sql', 'migrations/0045_monitoring.sql'],
    ],
    lines: {
      'src/app/subjects.ts': [
        "import { monitoring } from '../subjects/monitoring/subject.ts';",
        'monitoring,',
      ],
    },
    beside: ['test/monitoring', 'test/support/prometheus.ts', 'deploy/monitoring', 'docs/runbook.md'],
  },
  submit: {
    gone: ['packages/submit'],
    lines: {
      'src/main.ts': [
        "import { submit } from '../packages/submit/src/command.ts';",
        [
          'await buildProgram(roles, process, machineClock, [submit]).parseAsync();',
          'await buildProgram(roles, process, machineClock).parseAsync();',
        ],
      ],
    },
    beside: ['packages/build-submit.js', 'bench/submit.ts', 'docs/submit.md'],
  },
};

const root = mkdtempSync(join(tmpdir(), 'ventanilla-removable-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A copy of the program without these subjects. Throws where a line that should go is not there once. */
function copyWithout(name: string, subjects: readonly Subject[]): string {
  const folder = join(root, name);
  for (const part of [
    ...[
      'src',
      'packages/submit/src',
      'client/src',
      'migrations',
      'sql',
      'package.json',
      'client/package.json',
    ],
  ]) {
    cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  for (const subject of subjects) remove(subject, folder);
  return folder;
}

function remove({ gone, lines }: Subject, folder: string): void {
  for (const part of gone) {
    assert.ok(existsSync(join(folder, part)), part);
    rmSync(join(folder, part), { recursive: true });
  }
  for (const [file, changes] of Object.entries(lines)) {
    const rows = readFileSync(join(folder, file), 'utf8').split('\n');
    for (const change of changes) {
      const [from, to] = typeof change === 'string' ? [change, ''] : change;
      const found = rows.flatMap((row, index) => (row.trim() === from ? [index] : []));
      assert.equal(found.length, 1, `${file}: ${from}`);
      rows[found[0] as number] = to;
    }
    writeFileSync(join(folder, file), rows.join('\n'));
  }
}

/** Compiles a copy. What nothing uses any more may stay. */
function compile(folder: string): string {
  const options = { noUnusedLocals: false, noUnusedParameters: false };
  const config = { extends: join(REPOSITORY, 'tsconfig.json'), compilerOptions: options, include: ['src'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  // With one thread the compiler takes half the CPU.
  const args = [join(REPOSITORY, 'node_modules/typescript/bin/tsc'), '-p', folder, '--singleThreaded'];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
}

for (const [name, subject] of Object.entries(SUBJECTS)) {
  describe(`the program without ${name}`, () => {
    it('is told of the subject by the named lines alone', () => {
      const isGone = (path: string) =>
        subject.gone.some((part) => path === part || path.startsWith(`${part}/`));
      const told = readProgram()
        .map(({ path, text }) => ({ path: placeOf(path), text }))
        .filter(({ path }) => !isGone(path))
        .flatMap(({ path, text }) =>
          importsOf(text)
            .filter((specifier) => isGone(posix.join(posix.dirname(path), specifier)))
            .map((specifier) => ({ path, specifier })),
        );
      const unnamed = told.filter(
        ({ path, specifier }) => !(subject.lines[path] ?? []).some((line) => line.includes(`'${specifier}'`)),
      );
      assert.deepEqual(unnamed, []);
      const elsewhere = Object.keys(subject.lines).filter((path) => !/^src\/(app\/|main\.ts$)/.test(path));
      assert.deepEqual(elsewhere, [], 'only app may know a subject, and main.ts a package');
      const lines = Object.values(subject.lines).flat();
      assert.ok(lines.length <= MOST_LINES, `${lines.length} lines`);
      for (const path of subject.beside) assert.ok(existsSync(join(REPOSITORY, path)), path);
    });
  });
}

// One compilation is enough, and takes a quarter of the CPU of four: what a subject needs of another one it imports.
it('without all of them the program compiles', () => {
  assert.equal(compile(copyWithout('compiled', Object.values(SUBJECTS))), '');
});

it('without the pushes a batch is registered and reviewed, and its partner reads the event', async () => {
  const folder = copyWithout('running', [SUBJECTS.pushes]);
  const variables: Variables = { DATA_DIR: emptyDataDir(), PORT: '0', OPS_PORT: '0' };
  const ventanilla = (...args: string[]) =>
    run(process.execPath, ['src/start.js', ...args], variables, folder);
  const service = ventanilla('serve');
  service.exit.catch(() => {});
  const url = await until('the service', () => /Partner API\s+(\S+)\/PRO/.exec(service.out)?.[1]);
  const apiKey = await until('the key', () => /vtn_all_/.test(service.out) && demoKeyOf(service));
  const { status, body } = await submit({ url }, apiKey, [anApplication()]);
  assert.deepEqual([status, body.processed], [200, 1]);
  const listed = await ventanilla('application', 'list', '--json').exit;
  const [{ id }] = JSON.parse(listed.out);
  const rejected = await ventanilla('application', 'reject', `${id}`, '--reason', 'test').exit;
  assert.equal(rejected.code, 0, rejected.err);
  const feed = await fetch(`${url}/PRO/events`, { headers: { 'X-API-Key': apiKey } });
  const { events } = (await feed.json()) as { events: { type: string }[] };
  assert.deepEqual(
    events.map(({ type }) => type),
    ['application.status_changed'],
  );
  const partners = await ventanilla('partner', 'list', '--json').exit;
  const closed = await ventanilla('partner', 'close', `${JSON.parse(partners.out)[0].id}`).exit;
  assert.equal(closed.code, 0, closed.err);
  process.kill(service.pid, 'SIGTERM');
  assert.equal((await service.exit).code, 0);
});
