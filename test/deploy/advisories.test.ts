/** The forge looks for advisories about everything that is pinned (docs/advisories.md). */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { REPOSITORY } from '../support/sources.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');
const WORKFLOW = read('.github/workflows/advisories.yml');
const ignored = (path: string) => path.includes('node_modules');

it('each lock file is asked about each day and at each change, and the image is, without a secret', () => {
  const { on, jobs, permissions } = parse(WORKFLOW);
  const locks = globSync('{*,*/*}', { cwd: REPOSITORY, exclude: ignored }).filter((path) =>
    path.endsWith('package-lock.json'),
  );
  assert.deepEqual(locks.toSorted(), ['client/package-lock.json', 'package-lock.json']);
  const commands = Object.values<{ steps: { run?: string }[] }>(jobs)
    .flatMap(({ steps }) => steps.map(({ run = '' }) => run))
    .join('\n');
  for (const lock of locks) {
    assert.ok(on.push.paths.includes(lock), lock);
    assert.ok(commands.includes(`--lockfile /src/${lock}`), lock);
  }
  assert.equal(on.schedule.length, 1);
  assert.match(commands, /scan image --archive/);
  assert.deepEqual(permissions, { contents: 'read' });
  assert.doesNotMatch(WORKFLOW, /secrets\./);
});

it('Dependabot knows each folder with a manifest of its own', () => {
  const { updates } = parse(read('.github/dependabot.yml'));
  const [npm] = updates.filter((one: { 'package-ecosystem': string }) => one['package-ecosystem'] === 'npm');
  const manifests = ['package.json', '.ci/tools/package.json', 'client/package.json'];
  assert.deepEqual(npm.directories.toSorted(), ['/', '/.ci/tools', '/client']);
  for (const manifest of manifests) {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(read(manifest));
    const versions = Object.values<string>({ ...dependencies, ...devDependencies });
    assert.ok(versions.length > 0, dirname(manifest));
  }
});
