/** SIGUSR1 opens Node's inspector, to which every user of the machine may connect: no Node of the program hears it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY, readProgram } from './support/sources.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');

test('every Node that the program, its scripts and its deployments start is told to open none', () => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const name of ['start', 'demo']) assert.match(scripts[name], /^exec node --disable-sigusr1 /);
  for (const path of [
    'Containerfile',
    ...['', '-worker'].map((role) => `deploy/systemd/ventanilla${role}.service`),
  ]) {
    assert.match(read(path), /^(?:ENV .* |Environment=)NODE_OPTIONS=--disable-sigusr1\b/m, path);
  }
  const starting = readProgram().filter(({ text }) => text.includes('process.execPath'));
  assert.ok(starting.length >= 2);
  for (const { path, text } of starting) {
    for (const [use] of text.matchAll(/[[(]process\.execPath.{0,60}/gs))
      assert.match(use, /--disable-sigusr1/, path);
  }
});

test('a program that is started by its name alone ignores the signal from its first statement on', () => {
  for (const path of ['src/start.js', 'packages/submit/start.js']) {
    const ignores = read(path).indexOf("process.on('SIGUSR1', () => {});");
    assert.ok(ignores > 0 && ignores < read(path).indexOf('process.versions'), path);
  }
});
