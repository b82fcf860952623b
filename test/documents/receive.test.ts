/** A file from the channel to a sealed, checked and read document: each bad input has its reason. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { Vault } from '../../src/seal/vault.ts';
import { clamdScanner } from '../../src/subjects/documents/scan/clamd.ts';
import { DocumentStoreError } from '../../src/subjects/documents/store/document-store.ts';
import { newFileSecret, sealWith } from '../../src/subjects/documents/store/sealed-file.ts';
import { sha256Of } from '../../src/subjects/documents/uses/document-file.ts';
import { receiveDocument } from '../../src/subjects/documents/uses/receive-document.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { hasClamd, startClamd, VIRUS } from './clamd.ts';
import { pdfOf, png } from './files.ts';
import { ANA, documentStage } from './support.ts';

const stage = await documentStage();
const { apply, sent, receive, context, database, dataDir } = stage;

const STATEMENT = {
  layout: 'rodar-co-1',
  ...ANA,
  issued: '2026-11-12',
  months: { '2026-08': 2_310_400, '2026-09': 2_184_950.5, '2026-10': 2_402_000 },
} as const;
/** A statement that no other test has. */
const statement = (changes: Partial<typeof STATEMENT | { name: string }> = {}) =>
  Buffer.concat([statementPdf({ ...STATEMENT, ...changes }), Buffer.from(`\n%${randomUUID()}`)]);
const rowOf = async (id: number | null) =>
  (await database.query('SELECT * FROM documents WHERE id = $1', [id])).rows[0];
const countOf = async (table: 'documents' | 'document_inputs') =>
  Number((await database.query(`SELECT count(*) FROM ${table}`)).rows[0].count);
const storedFiles = () =>
  readdirSync(join(dataDir, 'documents'), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );

describe('a statement of the applicant', () => {
  it('is accepted, and nothing readable lies on the disk or in the database', async () => {
    const bytes = statement();
    const result = await receive(sent(await apply(), bytes));
    const sha256 = sha256Of(bytes);
    assert.deepEqual(
      { ...result, documentId: 0 },
      { documentId: 0, sha256, fate: 'accepted', reason: 'read' },
    );
    const row = await rowOf(result.documentId);
    assert.deepEqual([row.state, row.content_type, row.bytes], ['accepted', 'application/pdf', bytes.length]);
    const path = join(dataDir, 'documents', row.file_key);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const texts = [ANA.name, 'Rodar', ANA.idNumber, '%PDF', 'estado.pdf', '2310400'];
    const stored = [readFileSync(path), row.reading, row.claims, Buffer.from(JSON.stringify(row))];
    for (const text of texts) assert.ok(!stored.some((one: Buffer) => one.includes(text)), text);
  });

  it('that comes again by the same message is fetched, stored and read once', async () => {
    const file = sent(await apply(), statement());
    const first = await receive(file);
    const count = storedFiles().length;
    const channel = { fetchMedia: () => assert.fail('fetched again') };
    const reader = () => assert.fail('read again');
    assert.deepEqual(await receive(file, { channel, reader }), first);
    assert.equal(storedFiles().length, count);
  });

  it('that comes again by another message is the same document', async () => {
    const application = await apply();
    const bytes = statement();
    const first = await receive(sent(application, bytes));
    assert.deepEqual(await receive(sent(application, bytes)), first);
    const other = await receive(sent(await apply(), bytes));
    assert.notEqual(other.documentId, first.documentId);
  });

  it('thirty files at once are thirty documents, each read once', async () => {
    const application = await apply();
    let read = 0;
    const reader = async () => {
      read += 1;
      return { fault: 'no_text' } as const;
    };
    const files = Array.from({ length: 30 }, () => sent(application, statement()));
    const results = await Promise.all(files.map((file) => receive(file, { reader })));
    assert.equal(new Set(results.map(({ documentId }) => documentId)).size, 30);
    assert.ok(results.every(({ reason }) => reason === 'no_text'));
    assert.equal(read, 30);
  });

  it('that two workers take at once is one document with one file', async () => {
    const application = await apply();
    const bytes = statement();
    const [documents, inputs] = [await countOf('documents'), await countOf('document_inputs')];
    const file = sent(application, bytes);
    const again = sent(application, bytes);
    const results = await Promise.all([receive(file), receive(file), receive(again)]);
    assert.equal(new Set(results.map(({ documentId }) => documentId)).size, 1);
    assert.deepEqual(
      [await countOf('documents'), await countOf('document_inputs')],
      [documents + 1, inputs + 2],
    );
    const { file_key } = await rowOf(results[0]!.documentId);
    const due = (await database.query('SELECT file_key FROM document_removals')).rows.map(
      (row) => row.file_key,
    );
    const stored = storedFiles().map(
      (one) => `${one.parentPath.slice(one.parentPath.lastIndexOf('/') + 1)}/${one.name}`,
    );
    assert.ok(stored.includes(file_key) && !due.includes(file_key));
  });
});

describe('a file that is not taken', () => {
  // `conversation/files.test.ts` has the others.
  it('is refused with its reason, and again the same by the same message', async () => {
    const file = sent(await apply(), png(10, 10));
    const result = await receive(file);
    assert.deepEqual([result.fate, result.reason], ['refused', 'type_mismatch']);
    assert.equal((await rowOf(result.documentId)).state, 'rejected');
    assert.deepEqual(await receive(file), result);
  });

  it('a voice message is refused and never fetched', async () => {
    const file = sent(await apply(), Buffer.from('OggS'), { claimedType: 'audio/ogg; codecs=opus' });
    const channel = { fetchMedia: () => assert.fail('fetched') };
    assert.equal((await receive(file, { channel })).reason, 'unsupported_type');
  });

  it('bytes that differ from what the channel claims of the media; a hash may be in base64', async () => {
    const application = await apply();
    const bytes = statement();
    const claimedSha256 = Buffer.from(sha256Of(bytes), 'hex').toString('base64');
    assert.equal((await receive(sent(application, bytes, { claimedSha256 }))).reason, 'read');
    const lying = {
      fetchMedia: async () => ({ kind: 'media', bytes, contentType: null, sha256: '00'.repeat(32) }) as const,
    };
    assert.equal((await receive(sent(application, statement()), { channel: lying })).reason, 'hash_mismatch');
  });

  it('a file of an application that is not there', async () => {
    const application = await apply();
    const file = sent(application, statement());
    const before = await countOf('documents');
    const nobody = await receive({ ...file, applicationId: 999_999_936 as typeof application });
    assert.deepEqual([nobody.fate, nobody.reason, nobody.documentId], ['refused', 'gone', null]);
    assert.equal(await countOf('documents'), before);
  });
});

describe('a document that a person has to look at', () => {
  it('of another person, or of a layout that nobody knows', async () => {
    const other = await receive(sent(await apply(), statement({ name: 'Luis Ruiz' })));
    assert.deepEqual([other.fate, other.reason], ['operator', 'another_holder']);
    const unknown = await receive(sent(await apply(), pdfOf([[['Estado de cuenta de otra empresa']]])));
    assert.deepEqual([unknown.fate, unknown.reason], ['operator', 'unknown_layout']);
    assert.equal((await rowOf(unknown.documentId)).state, 'received');
  });
  it('a picture is a hint', async () => {
    const result = await receive(sent(await apply(), png(200, 100), { claimedType: 'image/png' }));
    assert.deepEqual([result.fate, result.reason], ['operator', 'no_text']);
  });
  it('one that the reader did not survive', async () => {
    const reader = async () => ({ fault: 'reader_memory' }) as const;
    const result = await receive(sent(await apply(), statement()), { reader });
    assert.deepEqual([result.fate, result.reason], ['operator', 'reader_memory']);
  });
  it('statements of debts are kept as they are', async () => {
    const result = await receive(
      sent(await apply(), pdfOf([[['Banco', 'Saldo $ 1.000.000']]]), { purpose: 'debts' }),
    );
    assert.deepEqual([result.fate, result.reason], ['accepted', 'stored']);
  });
});

describe('a fault on the way', () => {
  it('of the channel, the scanner or the store is tried again, and the same message succeeds then', async () => {
    const file = sent(await apply(), statement());
    const attempt = (more: Partial<typeof context>) => receiveDocument({ ...context, ...more }, file);
    const channel = { fetchMedia: async () => ({ kind: 'retry', reason: 'timeout' }) as never };
    const scanner = async () => ({ kind: 'unavailable', reason: 'down' }) as const;
    const put = () => Promise.reject(new DocumentStoreError('the disk is full'));
    const reasons = [];
    for (const more of [{ channel }, { scanner }, { store: { ...context.store, put } }]) {
      const result = await attempt(more);
      assert.ok('retryAfterMs' in result && result.retryAfterMs >= 1_000);
      reasons.push(result.reason);
    }
    assert.deepEqual(reasons, ['channel', 'scanner', 'store']);
    assert.equal((await receive(file)).reason, 'read');
  });

  it('a process that dies after the store and before the reading goes on there', async () => {
    const file = sent(await apply(), statement());
    const reader = () => Promise.reject(new Error('killed'));
    await assert.rejects(receiveDocument({ ...context, reader }, file), /killed/);
    const channel = { fetchMedia: () => assert.fail('fetched again') };
    assert.equal((await receive(file, { channel })).reason, 'read');
  });

  it('a file that is missing in the store goes to an operator', async () => {
    const file = sent(await apply(), statement());
    const reader = () => Promise.reject(new Error('killed'));
    await assert.rejects(receiveDocument({ ...context, reader }, file), /killed/);
    const store = { ...context.store, get: async () => undefined };
    const result = await receive(file, { store });
    assert.deepEqual([result.fate, result.reason], ['operator', 'file_missing']);
  });

  it('a file that was changed, cut off, or sealed with another key in the store goes to an operator', async () => {
    const wrong: readonly ((sealed: Buffer) => Buffer)[] = [
      (sealed) => Buffer.concat([sealed.subarray(0, -1), Buffer.of(sealed.at(-1)! ^ 1)]),
      (sealed) => sealed.subarray(0, 40),
      () => Buffer.alloc(0),
      (sealed) => sealWith(newFileSecret(), sealed, 'file'),
    ];
    for (const change of wrong) {
      const file = sent(await apply(), statement());
      const reader = () => Promise.reject(new Error('killed'));
      await assert.rejects(receiveDocument({ ...context, reader }, file), /killed/);
      const get = async (key: string) => change((await context.store.get(key))!);
      const result = await receive(file, { store: { ...context.store, get } });
      assert.deepEqual([result.fate, result.reason], ['operator', 'file_damaged']);
    }
  });

  it('a store that cannot be read now is tried again', async () => {
    const file = sent(await apply(), statement());
    const reader = () => Promise.reject(new Error('killed'));
    await assert.rejects(receiveDocument({ ...context, reader }, file), /killed/);
    const get = () => Promise.reject(new DocumentStoreError('403'));
    const result = await receiveDocument({ ...context, store: { ...context.store, get } }, file);
    assert.equal('retryAfterMs' in result && result.reason, 'store');
    assert.equal((await receive(file)).reason, 'read');
  });

  it('a data key that this process lacks is waited for', async () => {
    const file = sent(await apply(), statement());
    const reader = () => Promise.reject(new Error('killed'));
    await assert.rejects(receiveDocument({ ...context, reader }, file), /killed/);
    const other = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[2, randomBytes(32)]]) });
    const result = await receiveDocument({ ...context, vault: other }, file);
    assert.deepEqual('retryAfterMs' in result && result.reason, 'unknown_key');
  });

  it('a retired data key seals nothing more', async () => {
    const file = sent(await apply(), statement());
    await database.query('SELECT refuse_data_key(1, true)');
    await assert.rejects(receiveDocument(context, file), /data key 1 is retired/);
    await database.query('SELECT refuse_data_key(1, false)');
    assert.equal((await receive(file)).reason, 'read');
  });
});

describe('a virus scanner', { skip: !hasClamd && 'clamd is missing (apt-get install clamav-daemon)' }, () => {
  it('keeps an infected file out, and one that is down lets nothing pass', async () => {
    const clamd = await startClamd();
    const scanner = clamdScanner(clamd.address, machineClock);
    const application = await apply();
    assert.equal((await receive(sent(application, statement()), { scanner })).reason, 'read');
    const infected = Buffer.concat([statement(), Buffer.from(`\n%${VIRUS}`)]);
    const result = await receive(sent(application, infected), { scanner });
    assert.deepEqual([result.fate, result.reason], ['refused', 'infected']);
    assert.equal((await rowOf(result.documentId)).file_key, null);
    await clamd.stop();
    const later = await receiveDocument({ ...context, scanner }, sent(application, statement()));
    assert.deepEqual('retryAfterMs' in later && later.reason, 'scanner');
  });
});
