/** Terms and certificates are read again where their files change; what is refused changes nothing (D45). */
import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { pino } from 'pino';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Setting } from '../../src/ground/base/setting.ts';
import type { ServiceContext } from '../../src/program/subject/subject.ts';
import { NOBODY } from '../../src/program/subject/watcher.ts';
import { openSigning } from '../../src/subjects/signing/open.ts';
import { SIGNING_SERVICE } from '../../src/subjects/signing/service.ts';
import { FromFiles } from '../../src/subjects/signing/uses/from-files.ts';
import { testDatabase } from '../support/database.ts';
import { splitIdentity, testSigning } from '../support/signing.ts';
import { TERMS } from '../support/terms.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-from-files-'));
after(() => rmSync(folder, { recursive: true }));
/** As an operator is told to: no half file is ever there. */
function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
}

it('a value is read again where a file changed, and stays where the new one is refused', async () => {
  const path = write('value.json', '1');
  let reads = 0;
  let fault: string | null = null;
  const load = async () => {
    reads += 1;
    if (fault !== null) throw new Error(fault);
    return reads;
  };
  const files = await FromFiles.open([path], load);
  assert.deepEqual([await files.refresh(), files.value], [false, 1]);
  write('value.json', '2');
  assert.deepEqual([await files.refresh(), files.value], [true, 2]);
  fault = 'wrong';
  write('value.json', '3');
  // As long as it is wrong, so that whoever looks sees it.
  for (let turn = 0; turn < 2; turn += 1) await assert.rejects(files.refresh(), /wrong/);
  assert.equal(files.value, 2);
  fault = null;
  assert.deepEqual([await files.refresh(), await files.refresh()], [true, false]);
  rmSync(path);
  fault = 'gone';
  await assert.rejects(files.refresh(), /gone/);
  fault = null;
  write('value.json', '4');
  assert.equal(await files.refresh(), true);
});

it('D45: a service makes contracts with the new terms and the new certificate without a restart', async () => {
  const store = await testDatabase();
  const { folder: identity } = await testSigning(store);
  splitIdentity(identity);
  const certificate = join(identity, 'cert.pem');
  const terms = write('terms.json', JSON.stringify(TERMS));
  const variables: Record<string, string> = {
    TERMS_FILE: terms,
    SIGNING_CERTIFICATE_FILE: certificate,
    SIGNING_KEY_FILE: join(identity, 'key.pem'),
  };
  const setting = <T>({ variable, read }: Setting<T>) =>
    read(variables[variable], { dataDir: folder, ownDatabase: true });
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const context = {
    clock: machineClock,
    ...{ database: store.runtime, vault: store.vault, log, setting, watcher: NOBODY },
    ...{ failed: () => {}, stopping: new AbortController().signal },
  } as ServiceContext;
  const signing = await openSigning(setting, { ...context, channel: {}, onCode: () => {} });
  const job = SIGNING_SERVICE.upkeep?.find(({ name }) => name === 'read the terms again');
  const look = () => job?.run(context);
  await look();
  const before = signing.sealer;
  assert.equal(signing.terms?.version, TERMS.version);
  write('terms.json', JSON.stringify({ ...TERMS, version: '2026-12' }));
  await look();
  assert.equal(signing.terms?.version, '2026-12');
  assert.match(lines.join(''), /the terms.*read again/);
  write('terms.json', '{"version": 7}');
  await assert.rejects(async () => look(), /terms\.json/);
  assert.deepEqual([signing.terms?.version, signing.sealer === before], ['2026-12', true]);
  write('terms.json', JSON.stringify(TERMS));
  splitIdentity(identity);
  await look();
  assert.deepEqual([signing.terms?.version, signing.sealer === before], [TERMS.version, false]);
  writeFileSync(certificate, 'no certificate');
  await assert.rejects(async () => look(), /SIGNING_CERTIFICATE_FILE/);
  assert.ok(signing.sealer !== null);
});
