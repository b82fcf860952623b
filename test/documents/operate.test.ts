/** What operators do with documents, and what the upkeep, an erasure and a new data key do with their files. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { toDocumentId } from '../../src/domain/document/document.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { UnknownDataKeyError } from '../../src/ground/base/registration-failure.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import type { SealedKind } from '../../src/seal/witness.ts';
import { readDocument } from '../../src/subjects/documents/sql/documents.ts';
import { DOCUMENTS } from '../../src/subjects/documents/sql/tables.ts';
import { deleteOldDocuments } from '../../src/subjects/documents/sql/upkeep.ts';
import { KEY_PARTS, newFileKey } from '../../src/subjects/documents/store/document-store.ts';
import { readingOf, sha256Of } from '../../src/subjects/documents/uses/document-file.ts';
import { deleteFiles, lookAtFiles } from '../../src/subjects/documents/uses/keep-files.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { evidenceIdentity, incomeCheckOf } from '../../src/subjects/income/sql/income-checks.ts';
import { INCOME_CHECKS } from '../../src/subjects/income/sql/tables.ts';
import { checkIncome } from '../../src/subjects/income/uses/check-income.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { NEW, ONLY_NEW } from '../support/rotated-secrets.ts';
import { runJob, testUpkeep } from '../support/upkeep.ts';
import { png } from './files.ts';
import { ANA, documentStage } from './support.ts';

const stage = await documentStage();
const { apply, sent, receive, database, runtime, vault, dataDir, run, json, files } = stage;

const statement = (name: string = ANA.name) =>
  Buffer.concat([
    statementPdf({
      layout: 'rodar-co-1',
      ...ANA,
      name,
      issued: '2026-11-12',
      months: { '2026-10': 2_402_000 },
    }),
    Buffer.from(`\n%${randomUUID()}`),
  ]);
const stored = async (bytes: Buffer = statement(), changes: Parameters<typeof sent>[2] = {}) => {
  const application = await apply();
  const { documentId, sha256 } = await receive(sent(application, bytes, changes));
  const { file_key: key } = (
    await database.query('SELECT file_key FROM documents WHERE id = $1', [documentId])
  ).rows[0];
  return { application, id: documentId!, sha256, key, path: key && join(dataDir, 'documents', key) };
};
const context = openIncome(({ read }) => read(undefined, { dataDir, ownDatabase: true }), {
  database: runtime,
  vault,
  clock: machineClock,
});

describe('document list and show', () => {
  it('tell applications, hashes and states, and nothing of the person', async () => {
    const { application, id, sha256 } = await stored();
    const other = await stored(statement('Luis Ruiz'));
    const [row] = await json('document', 'list', '--application', `${application}`);
    assert.deepEqual(
      [row.id, row.application_id, row.sha256, row.state, row.reason],
      [id, application, sha256, 'accepted', 'read'],
    );
    const waiting = await json('document', 'list', '--state', 'received');
    assert.ok(waiting.some((one: { id: number }) => one.id === other.id));
    for (const args of [['list'], ['list', '--json'], ['show', `${id}`], ['show', `${id}`, '--json']]) {
      const { code, out } = await run('document', ...args);
      assert.equal(code, 0);
      for (const text of ['Pérez', ANA.idNumber, '2402000', '2.402', 'estado.pdf'])
        assert.ok(!out.includes(text), text);
    }
  });

  it('show what was read with --reveal, and write the bytes, both with a record', async () => {
    const bytes = statement();
    const { application, id, sha256 } = await stored(bytes);
    const output = join(dataDir, `out-${id}.pdf`);
    const shown = await run('document', 'show', `${id}`, '--output', output, '--json', ...REVEAL);
    assert.equal(shown.code, 0, shown.err);
    const { holder_name, months, filename, sha256: told } = JSON.parse(shown.out);
    assert.deepEqual([holder_name, filename, told], [ANA.name, 'estado.pdf', sha256]);
    assert.deepEqual(months, [{ month: '2026-10', amount: '2402000.00' }]);
    assert.equal(sha256Of(readFileSync(output)), sha256Of(bytes));
    assert.equal(statSync(output).mode & 0o777, 0o600);
    const acts = (await json('audit', 'list')) as { act: string; application_id: number }[];
    assert.ok(
      acts.some(
        ({ act, application_id }) => act === 'document show --reveal' && application_id === application,
      ),
    );
    const again = await run('document', 'show', `${id}`, '--output', output, ...REVEAL);
    assert.deepEqual([again.code, /name a new file/.test(again.err)], [1, true]);
    assert.equal((await run('document', 'show', `${id}`, '--output', `${output}2`)).code, 2);
    assert.ok(!existsSync(`${output}2`));
  });

  it('say what is wrong where there is no document, no file, or a file that does not open', async () => {
    const { code, err } = await run('document', 'show', '999999');
    assert.deepEqual([code, /there is no document 999999/.test(err)], [1, true]);
    const refused = await stored(png(1, 1));
    const none = await run('document', 'show', `${refused.id}`, '--output', join(dataDir, 'none'), ...REVEAL);
    assert.match(none.err, /has no file/);
    const changed = await stored();
    writeFileSync(changed.path, 'changed');
    const damaged = await run(
      'document',
      'show',
      `${changed.id}`,
      '--output',
      join(dataDir, 'none'),
      ...REVEAL,
    );
    assert.match(damaged.err, /does not open: it is cut off or changed/);
    rmSync(changed.path);
    const missing = await run(
      'document',
      'show',
      `${changed.id}`,
      '--output',
      join(dataDir, 'none'),
      ...REVEAL,
    );
    assert.match(missing.err, /is missing in the store/);
  });
});

describe('document accept and reject', () => {
  it('change the state with a record, once', async () => {
    const { application, id, sha256 } = await stored(statement('Luis Ruiz'));
    const accepted = await json('document', 'accept', `${id}`, '--reason', 'same person, married name');
    assert.deepEqual(accepted, {
      id,
      application_id: application,
      sha256,
      from: 'received',
      state: 'accepted',
    });
    const again = await run('document', 'accept', `${id}`, '--reason', 'again');
    assert.deepEqual([again.code, /is accepted already/.test(again.err)], [1, true]);
    assert.equal((await json('document', 'reject', `${id}`, '--reason', 'forged')).state, 'rejected');
    assert.match((await run('document', 'reject', `${id}`, '--reason', 'forged')).err, /is rejected already/);
    const acts = (await json('audit', 'list')) as { act: string; target: string }[];
    const ours = acts.filter(({ target }) => target === `document ${id}`).map(({ act }) => act);
    assert.deepEqual(ours.sort(), ['document accept', 'document reject']);
  });

  it('take months that an operator read, sealed, and refuse what is none', async () => {
    const { id } = await stored(statement('Luis Ruiz'));
    const args = ['document', 'accept', `${id}`, '--reason', 'by hand'];
    for (const wrong of [
      ['--month', '2026-10=5'],
      ['--currency', 'COP'],
      ['--month', '2026-13=5', '--currency', 'COP'],
      ['--month', '2026-10=1.234,5', '--currency', 'COP'],
      ['--month', '2026-10=5', '--month', '2026-10=6', '--currency', 'COP'],
      ['--month', '2026-10=5', '--currency', 'pesos'],
    ]) {
      assert.equal((await run(...args, ...wrong)).code, 2, wrong.join(' '));
    }
    await json(...args, '--month', '2026-10=765432.1', '--currency', 'COP');
    const document = await readDocument(runtime, toDocumentId(id));
    assert.deepEqual(readingOf(vault, document!)?.stated, {
      months: [{ month: '2026-10', amount: 76_543_210 }],
      currency: 'COP',
    });
    const { rows } = await database.query('SELECT d::text AS row FROM documents d WHERE id = $1', [id]);
    assert.ok(
      !rows[0].row.includes('76543210') && !rows[0].row.includes(Buffer.from('76543210').toString('hex')),
    );
  });

  it('accept no document without a file', async () => {
    const { id } = await stored(png(1, 1));
    assert.match((await run('document', 'accept', `${id}`, '--reason', 'x')).err, /has no file/);
  });
});

describe('the files of documents', () => {
  it('are deleted with an erasure, with what was read, and the income keeps its numbers alone', async () => {
    const phone = toPhone('+573009990001');
    const application = await apply({ phone });
    const { documentId } = await receive(sent(application, statement()));
    await checkIncome(context, application);
    const { key } = { key: (await readDocument(runtime, documentId!))!.fileKey! };
    assert.ok(existsSync(join(dataDir, 'documents', key)));
    const eraser = commandLine(stage, { DATA_DIR: dataDir }, `${phone}\n`);
    const exported = await eraser.run('subject', 'export', '--phone', '-', ...REVEAL);
    const [{ documents, income_checks }] = JSON.parse(exported.out).applications;
    assert.deepEqual([documents.length, documents[0].state, income_checks.length], [1, 'accepted', 1]);
    const erased = await commandLine(stage, { DATA_DIR: dataDir }, `${phone}\n`).run(
      ...['subject', 'erase', '--phone', '-', '--reason', 'ticket', '--close', '--yes'],
    );
    assert.equal(erased.code, 0, erased.err);
    assert.equal(await readDocument(runtime, documentId!), null);
    const check = await incomeCheckOf(runtime, application);
    assert.deepEqual([check?.evidence, typeof check?.declared], [null, 'number']);
    const { turn } = await testUpkeep(stage, { DATA_DIR: dataDir });
    assert.deepEqual(await turn(), []);
    assert.ok(!existsSync(join(dataDir, 'documents', key)));
  });

  it('without a document are deleted after an hour, and never where a document has them by then', async () => {
    const kept = await stored();
    const orphan = newFileKey('document');
    await files.put(orphan, Buffer.from('sealed'));
    const contract = newFileKey('contract');
    await files.put(contract, Buffer.from('sealed'));
    const lookAtAll = async () => {
      for (let part = 0; part < KEY_PARTS; part += 1) await lookAtFiles(runtime, files, part);
    };
    await lookAtAll();
    await deleteFiles(runtime, files);
    assert.ok(await files.get(orphan));
    await database.query('INSERT INTO document_removals VALUES ($1, 0) ON CONFLICT DO NOTHING', [kept.key]);
    await database.query('UPDATE document_removals SET due_ms = elapsed_ms()');
    await deleteFiles(runtime, files);
    assert.deepEqual(
      [await files.get(orphan), (await files.get(kept.key)) === undefined],
      [undefined, false],
    );
    assert.ok(await files.get(contract), 'files of other kinds have other owners');
    assert.equal(Number((await database.query('SELECT count(*) FROM document_removals')).rows[0].count), 0);
  });

  it('that are missing are told once, and again when they are back and gone again', async () => {
    const { id, key, path } = await stored();
    await database.query("UPDATE documents SET received_at = now() - interval '2 hours' WHERE id = $1", [id]);
    const part = Number.parseInt(key.slice('document-'.length, 'document-'.length + 2), 16);
    const missing = async () => (await lookAtFiles(runtime, files, part)).missing.includes(toDocumentId(id));
    assert.equal(await missing(), false);
    const bytes = readFileSync(path);
    rmSync(path);
    assert.deepEqual([await missing(), await missing()], [true, false]);
    const [row] = (await json('document', 'list')).filter((one: { id: number }) => one.id === id);
    assert.notEqual(row.missing_at, null);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    await missing();
    assert.equal((await readDocument(runtime, toDocumentId(id)))?.missingAt, null);
    rmSync(path);
    assert.equal(await missing(), true);
  });

  it('go with their application, and after DOCUMENT_DAYS by both clocks', async () => {
    const { id } = await stored();
    await database.query('UPDATE documents SET application_id = 999999936 WHERE id = $1', [id]);
    await runJob(runtime, 'delete documents without applications');
    assert.equal(await readDocument(runtime, toDocumentId(id)), null);
    const old = await stored();
    const age = (set: string) => database.query(`UPDATE documents SET ${set} WHERE id = $1`, [old.id]);
    await age("received_at = now() - interval '91 days'");
    assert.equal(await deleteOldDocuments(runtime, 90), 0);
    await age("received_ms = elapsed_ms() - ms_of(interval '91 days')");
    assert.equal(await deleteOldDocuments(runtime, 90), 1);
    assert.equal(await readDocument(runtime, toDocumentId(old.id)), null);
  });
});

describe('a new data key', () => {
  const documents = sealedRows(DOCUMENTS);
  const all = async (kind: SealedKind, own: Vault) => {
    let resealed = 0;
    for (let from: string | null = ''; from !== null; ) {
      const step = await kind.reseal(runtime, own, from);
      resealed += step.resealed;
      from = step.next;
    }
    return resealed;
  };

  it('seals the keys of documents and the evidence of incomes again, and touches no file', async () => {
    const { application, id, path } = await stored();
    await checkIncome(context, application);
    const before = readFileSync(path);
    const fresh = new Vault(NEW);
    const only = new Vault(ONLY_NEW);
    const sealed = await readDocument(runtime, toDocumentId(id));
    assert.throws(() => readingOf(only, sealed!), UnknownDataKeyError);
    for (const kind of [documents, sealedRows(INCOME_CHECKS)]) {
      const { needing, damaged } = await kind.rowsOf(runtime, fresh, 1);
      assert.ok(needing > 0 && damaged === 0);
      assert.equal(await all(kind, fresh), needing);
      assert.deepEqual(await kind.rowsOf(runtime, fresh, 1), { needing: 0, damaged: 0 });
      assert.equal(await all(kind, fresh), 0);
    }
    const again = await readDocument(runtime, toDocumentId(id));
    assert.equal(readingOf(only, again!)?.finding?.holderName, ANA.name);
    const check = await incomeCheckOf(runtime, application);
    assert.ok(only.open(check!.evidence!, evidenceIdentity(application, check!.digest)).length > 0);
    assert.ok(readFileSync(path).equals(before));
  });

  it('leaves a damaged key as it is, and counts it', async () => {
    const { id } = await stored();
    const bytes = Buffer.concat([Buffer.of(1), randomBytes(60)]);
    await database.query('UPDATE documents SET sealed_secret = $2 WHERE id = $1', [id, bytes]);
    const fresh = new Vault(NEW);
    assert.equal((await documents.rowsOf(runtime, fresh, 1)).damaged, 1);
    await all(documents, fresh);
    assert.ok((await readDocument(runtime, toDocumentId(id)))?.sealedSecret?.equals(bytes));
    assert.match((await run('document', 'show', `${id}`)).err, /does not open: it is damaged/);
  });
});

it('no test left a temporary file in the store', () => {
  const names = readdirSync(join(dataDir, 'documents'), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) => name.includes('.making-')),
    [],
  );
});
