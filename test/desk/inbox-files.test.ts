/**
 * Files that operators send to applicants: stored sealed, uploaded by the worker in the order of the chat, gone with
 * the person (docs/operators.md, "The inbox"; docs/documents.md, "Files to applicants").
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { Channel, UploadFile, UploadResult } from '../../src/domain/message/channel.ts';
import { type OutgoingReply, replyFaults, type StoredReplyFile } from '../../src/domain/message/reply.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inboxRoutes } from '../../src/subjects/desk/routes/inbox.ts';
import type { ScanResult } from '../../src/subjects/documents/scan/clamd.ts';
import { forgetOldSentFiles } from '../../src/subjects/documents/sql/sent-files.ts';
import { openDocumentStore } from '../../src/subjects/documents/store/document-store.ts';
import { openWith } from '../../src/subjects/documents/store/sealed-file.ts';
import { sendingFiles } from '../../src/subjects/documents/uses/file-to-send.ts';
import { deleteFiles, lookAtFiles } from '../../src/subjects/documents/uses/keep-files.ts';
import { deliverReplies } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { repliesOf } from '../../src/subjects/messages/sql/replies.ts';
import { commandLine } from '../cli/harness.ts';
import { EMPTY_ZIP, jpegHead, pdfOf, png } from '../documents/files.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { replyContext } from '../support/replies.ts';
import { runJob } from '../support/upkeep.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const dataDir = mkdtempSync(join(tmpdir(), 'ventanilla-sent-files-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const files = await openDocumentStore(join(dataDir, 'documents'), null, machineClock);
const { json, run } = commandLine(store, { DATA_DIR: dataDir });
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const talks = await conversationsOf(store, key);
let scan: ScanResult = { kind: 'clean' };
const desk = await startTestConsole(
  store,
  inboxRoutes({ database: runtime, vault, clock: machineClock, terms: async () => null }, async () => ({
    store: files,
    scanner: async () => scan,
  })),
);
const ruth = await (await desk.enrolled('ruth', 'reviewer')).signIn();
const rob = await (await desk.enrolled('rob', 'reviewer')).signIn();

const PDF = pdfOf([[['Plan de pagos']]]);
const never = new AbortController().signal;

type Person = Awaited<ReturnType<typeof talks.applicantAt>>;

/** Somebody who asks for a person. */
async function asking(): Promise<Person> {
  const person = await talks.applicantAt();
  await person.tap();
  await person.choose(0);
  await person.write('asesor');
  return person;
}

interface Given {
  readonly bytes?: Buffer;
  readonly filename?: string;
  readonly text?: string;
  readonly key?: string;
}
const send = (visitor: Visitor, { id }: { id: number }, given: Given = {}) => {
  const { bytes = PDF, filename = 'plan.pdf', text, key: once } = given;
  return visitor.ask(
    'POST',
    `/api/conversations/${id}/files`,
    { filename, content: bytes.toString('base64'), ...(text !== undefined && { text }) },
    once === undefined ? {} : { 'Idempotency-Key': once },
  );
};
const fileOf = async (person: Person): Promise<StoredReplyFile> => {
  const file = (await person.replies()).at(-1)?.file;
  assert.ok(file, 'the last reply has a file');
  return file;
};
const contentsOf = async (person: Person) =>
  (await person.replies()).map(({ text, file }) => text || file?.filename);
const rowsOf = async ({ id }: Person) =>
  (await database.query('SELECT file_key FROM sent_files WHERE application_id = $1', [id])).rowCount;
const outcomes = async ({ id }: Person) =>
  (await repliesOf(database, toApplicationId(id))).map(({ status, reason }) =>
    `${status} ${reason ?? ''}`.trim(),
  );

/** A channel that answers each upload as told, and keeps what it got in order. */
function channelOf(
  uploaded: (file: UploadFile) => UploadResult = () => ({ kind: 'uploaded', mediaId: randomUUID() }),
) {
  const acts: string[] = [];
  const got: OutgoingReply[] = [];
  const channel: Pick<Channel, 'sendReply' | 'uploadMedia' | 'markRead'> = {
    async uploadMedia(file) {
      acts.push(`upload ${file.filename} ${file.bytes.length}`);
      return uploaded(file);
    },
    async sendReply(reply) {
      assert.deepEqual(replyFaults(reply), []);
      acts.push(`send ${reply.text || reply.document?.filename}`);
      got.push(reply);
      return { kind: 'accepted', channelMessageId: `wamid.${reply.callback}` };
    },
    async markRead() {},
  };
  const sendReply = sendingFiles(channel, async () => files, machineClock);
  const deliver = async () => {
    const turn = await deliverReplies(replyContext(store, { ...channel, sendReply }), never);
    await turn.concluded;
    return turn.claimed;
  };
  return { acts, got, deliver };
}

beforeEach(async () => {
  scan = { kind: 'clean' };
  await database.query('UPDATE sender SET tokens = 1000, credit = 1000, failures = 0, broken_at = NULL');
});

describe('a file to the applicant', () => {
  it('lies sealed in the store, its secret in the sealed reply alone, and is recorded without its content', async () => {
    const person = await asking();
    const { status, body } = await send(ruth, person, { text: 'El plan' });
    assert.deepEqual([status, body.waits_since, body.claim.by.login], [200, null, 'ruth']);
    const { key: fileKey, secret, contentType, filename } = await fileOf(person);
    assert.deepEqual([contentType, filename], ['application/pdf', 'plan.pdf']);
    const sealed = await files.get(fileKey);
    assert.ok(sealed && !sealed.includes('%PDF'));
    assert.ok(openWith(Buffer.from(secret, 'base64'), sealed, fileKey).equals(PDF));
    const acts = await json('audit', 'list', '--application', `${person.id}`);
    const [act] = acts.filter((one: { act: string }) => one.act === 'conversation send-file');
    assert.ok(act);
    assert.equal(/plan|El /.test(JSON.stringify(act)), false);
  });

  it('counts once by its key, and another file under the key is refused', async () => {
    const person = await asking();
    const before = (await person.replies()).length;
    const once = `file-${person.id}`;
    for (const [given, status] of [
      [{}, 200],
      [{}, 200],
      [{ bytes: pdfOf([[['Otro']]]) }, 400],
      [{ text: 'Otro' }, 400],
    ] as const)
      assert.equal((await send(ruth, person, { ...given, key: once })).status, status);
    assert.deepEqual([(await person.replies()).length, await rowsOf(person)], [before + 1, 1]);
  });

  it('is checked by its content: what does not go leaves nothing', async () => {
    const person = await asking();
    const before = await contentsOf(person);
    const refused = {
      'a program': Buffer.from('MZ\x90\x00 program'),
      'an empty file': Buffer.from(' '),
      'a PDF that is an archive too': Buffer.concat([PDF, EMPTY_ZIP]),
      'a page in a PDF': Buffer.from('%PDF-1.7 <script>alert(1)</script>'),
      'a picture that is cut off': png(3, 2).subarray(0, 40),
      'a picture of too many pixels': jpegHead(30_000, 30_000),
      'a WebP': Buffer.from('RIFF\x10\x00\x00\x00WEBPVP8 '),
      'a picture over 5 MB': Buffer.concat([jpegHead(9, 9), Buffer.alloc(5_000_000)]),
      'a PDF over 10 MB': Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(9_999_992, 0x20)]),
    };
    for (const [what, bytes] of Object.entries(refused)) {
      const { status, body } = await send(ruth, person, { bytes });
      assert.deepEqual([status, /must be a PDF/.test(body.error)], [400, true], `${what}: ${body.error}`);
    }
    scan = { kind: 'infected', name: 'Eicar' };
    assert.equal((await send(ruth, person)).status, 400);
    scan = { kind: 'unavailable', reason: 'away' };
    assert.equal((await send(ruth, person)).body.code, 'not_scanned');
    scan = { kind: 'clean' };
    const path = `/api/conversations/${person.id}/files`;
    for (const content of ['%%%', 'YQ', 'Y Q='])
      assert.equal((await ruth.ask('POST', path, { filename: 'a', content })).status, 400, content);
    const tooMuch = await ruth.ask('POST', path, { filename: 'a', content: 'A'.repeat(13_500_000) });
    assert.equal(tooMuch.status, 413);
    assert.deepEqual([await contentsOf(person), await rowsOf(person)], [before, 0]);
  });

  it('goes only where a text may: the claim, the window, the holder', async () => {
    const person = await asking();
    await rob.ask('POST', `/api/conversations/${person.id}/claim`, {});
    assert.equal((await send(ruth, person)).body.code, 'claimed');
    await database.query(
      "UPDATE conversations SET heard_at = now() - interval '24 hours' WHERE application_id = $1",
      [person.id],
    );
    assert.equal((await send(rob, person)).body.code, 'window_closed');
    assert.equal((await send(ruth, { id: 999_999 })).status, 404);
    assert.equal(await rowsOf(person), 0);
  });

  it('of an application there are 60 at most', async () => {
    const person = await asking();
    await database.query(
      "INSERT INTO sent_files (file_key, application_id) SELECT 'many ' || n, $1 FROM generate_series(1, 60) AS n",
      [person.id],
    );
    const { status, body } = await send(ruth, person);
    assert.deepEqual(
      [status, body.error],
      [400, `body: application ${person.id} has had 60 files: no more are sent`],
    );
    await database.query("DELETE FROM sent_files WHERE file_key LIKE 'many %'");
  });
});

describe('the way of a file to the channel', () => {
  it('is uploaded right before it is sent, after the texts before it and before those after it', async () => {
    const person = await asking();
    await talks.deliver();
    const say = (text: string) => ruth.ask('POST', `/api/conversations/${person.id}/messages`, { text });
    await say('Primero');
    await send(ruth, person);
    await send(ruth, person, { bytes: png(3, 2), filename: 'foto.png', text: 'La foto' });
    await say('Al final');
    const { acts, got, deliver } = channelOf();
    for (let turns = 0; turns < 9 && (await deliver()) > 0; turns += 1);
    assert.deepEqual(acts, [
      'send Primero',
      `upload plan.pdf ${PDF.length}`,
      'send plan.pdf',
      `upload foto.png ${png(3, 2).length}`,
      'send La foto',
      'send Al final',
    ]);
    assert.deepEqual(
      got.map(({ document }) => document?.isPicture ?? document?.filename),
      [undefined, 'plan.pdf', true, undefined],
    );
    assert.equal(JSON.stringify(got).includes('secret'), false);
  });

  it('an upload that fails for now is tried again with its reply; one that is refused for good fails it', async () => {
    const person = await asking();
    await talks.deliver();
    await send(ruth, person);
    const results: UploadResult[] = [
      { kind: 'retry', reason: 'http_500' },
      { kind: 'refused', reason: '131053' },
    ];
    const { acts, deliver } = channelOf(() => results.shift()!);
    await deliver();
    assert.equal((await outcomes(person)).at(-1), 'queued http_500');
    await database.query("UPDATE replies SET due_at = now() WHERE status = 'queued'");
    await deliver();
    assert.equal((await outcomes(person)).at(-1), 'failed 131053');
    assert.equal(acts.length, 2, 'nothing was sent');
  });

  it('a file that the store has lost, or another one in its place, fails the reply and no other', async () => {
    const [lost, damaged, fine] = [await asking(), await asking(), await asking()];
    await talks.deliver();
    for (const person of [lost, damaged, fine]) await send(ruth, person);
    await files.delete((await fileOf(lost)).key);
    await files.put((await fileOf(damaged)).key, Buffer.alloc(99));
    await channelOf().deliver();
    assert.deepEqual(
      [(await outcomes(lost)).at(-1), (await outcomes(damaged)).at(-1), (await outcomes(fine)).at(-1)],
      ['failed file_missing', 'failed file_damaged', 'accepted'],
    );
  });
});

describe('what is left of a file', () => {
  it('nothing after the erasure of its person; the export names it and has no secret', async () => {
    const person = await asking();
    await send(ruth, person);
    await talks.deliver();
    const { key: fileKey, secret } = await fileOf(person);
    const named = ['--phone', person.phone, '--reason', 'ticket'];
    const { out } = await run('subject', 'export', ...named, '--reveal');
    assert.deepEqual([out.includes('plan.pdf'), out.includes(secret)], [true, false]);
    await json('subject', 'erase', ...named, '--close', '--yes');
    await deleteFiles(runtime, files);
    assert.deepEqual([await rowsOf(person), await files.get(fileKey)], [0, undefined]);
  });

  it('the upkeep keeps it beside documents, until its application or DOCUMENT_DAYS ends by both clocks', async () => {
    const [old, orphaned] = [await asking(), await asking()];
    for (const person of [old, orphaned]) await send(ruth, person);
    const keys = [(await fileOf(old)).key, (await fileOf(orphaned)).key];
    for (const one of keys) {
      const part = Number.parseInt(one.slice('document-'.length, 'document-'.length + 2), 16);
      await lookAtFiles(runtime, files, part);
      const { rowCount } = await database.query('SELECT FROM document_removals WHERE file_key = $1', [one]);
      assert.equal(rowCount, 0);
    }
    await database.query("UPDATE sent_files SET sent_at = now() - interval '91 days' WHERE file_key = $1", [
      keys[0],
    ]);
    await forgetOldSentFiles(runtime, 90);
    assert.equal(await rowsOf(old), 1);
    await database.query(
      "UPDATE sent_files SET sent_ms = elapsed_ms() - ms_of(interval '91 days') WHERE file_key = $1",
      [keys[0]],
    );
    await forgetOldSentFiles(runtime, 90);
    await database.query('UPDATE sent_files SET application_id = 999999936 WHERE file_key = $1', [keys[1]]);
    await runJob(runtime, 'delete documents without applications');
    await deleteFiles(runtime, files);
    assert.deepEqual(await Promise.all(keys.map((one) => files.get(one))), [undefined, undefined]);
  });
});
