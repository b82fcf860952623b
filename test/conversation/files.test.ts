/**
 * The files of applicants as a conversation uses them, from the channel's real protocol to the words that the person
 * reads: each bad input has its answer and its line for the operator (D43, D44).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import type { WhatsAppConfig } from '../../src/app/config/config.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { DEFAULT_FLOW } from '../../src/domain/conversation/default-flow.ts';
import { newState, type State } from '../../src/domain/conversation/state.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { channelIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { next } from '../../src/subjects/conversation/rules/next.ts';
import { performerOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import type { WorkOrder } from '../../src/subjects/conversation/uses/ports.ts';
import { MOST_DOCUMENTS } from '../../src/subjects/documents/uses/receive-document.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { whatsappMedia } from '../../src/subjects/messages/channels/whatsapp-media.ts';
import { pdfOf, statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { EMPTY_ZIP, encryptedPdf, jpegHead, pdfOfObjects, png, webpHead } from '../documents/files.ts';
import { ANA, documentStage, newestMonths } from '../documents/support.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { startWhatsAppApi } from '../support/whatsapp-api.ts';

const stage = await documentStage();
const { apply, database, runtime, vault, json } = stage;
const api = await startWhatsAppApi();
after(() => api.close());
const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const limits = { timeoutMs: PATIENCE_MS, maxAnswerBytes: 10_000, idleMs: 4_000 };
const channel = whatsappMedia(settings, machineClock, limits, PATIENCE_MS);
const income = openIncome(({ read }) => read(undefined, { dataDir: stage.dataDir, ownDatabase: true }), {
  database: runtime,
  vault,
  clock: machineClock,
});

/** What is worked on for a conversation. */
const performerWith = (changes: Partial<typeof stage.context> = {}) =>
  performerOf({
    ...{ documents: { ...stage.context, channel, mostBytes: 200_000, ...changes }, income },
    ...{ signing: undefined as never, channel },
  });
const performer = performerWith();
const orderOf = (id: Awaited<ReturnType<typeof apply>>): WorkOrder => ({
  applicationId: id,
  partnerId: stage.partnerId as PartnerId,
  locale: 'es-CO',
  signal: new AbortController().signal,
});

interface Sent {
  readonly bytes: Buffer;
  readonly type?: string;
  readonly claimedSha256?: string;
  readonly filename?: string;
  readonly mediaId?: string;
}

const messageIndex = () => `${toBigint(channelIndexOf(vault, randomUUID()))}`;
const fileOf = ({ bytes, type = 'application/pdf', claimedSha256, filename, mediaId }: Sent) => ({
  ...({ kind: 'file', media: 'document', purpose: 'earnings', channelId: null } as const),
  ...{ mediaId: mediaId ?? api.media.keep({ bytes, contentType: type }), claimedType: type },
  ...{ claimedSha256: claimedSha256 ?? null, filename: filename ?? 'estado.pdf', inputIndex: messageIndex() },
});

/** A conversation that has asked for statements and got one file. */
const WAITING: State = {
  ...newState('pending_signature'),
  ...{ place: 'earnings', files: { earnings: 1, debts: 0 }, reading: 1 },
};
/** The first thing that the person is told of the file; null: nothing. */
function toldOf(fate: Awaited<ReturnType<typeof performer.readDocument>>): string | null {
  if (typeof fate === 'object' && 'retryAfterMs' in fate) return `again: ${fate.reason}`;
  const { effects } = next(DEFAULT_FLOW, WAITING, { kind: 'document', purpose: 'earnings', fate });
  const said = effects.find((effect) => effect.kind === 'say');
  return said === undefined ? null : said.text;
}

const { today, months } = await newestMonths(database);
const MONTHS = Object.fromEntries(months.map((month, index) => [month, 2_200_000 + 100_000 * index]));
const statement = (name: string = ANA.name) =>
  Buffer.concat([
    statementPdf({ layout: 'rodar-co-1', ...ANA, name, issued: today, months: MONTHS }),
    Buffer.from(`\n%${randomUUID()}`),
  ]);
const followed = (bytes: Buffer, tail: string | Buffer) => Buffer.concat([bytes, Buffer.from(tail)]);
const circle = pdfOfObjects(['<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R] >>']);

/** A bad input, what the person is told, and the state and reason that `document list` shows. */
const BAD: readonly [what: string, file: Sent, told: string | null, row: string][] = [
  ['an encrypted PDF', { bytes: encryptedPdf() }, 'file_locked', 'rejected encrypted'],
  ['a PDF whose pages are a circle', { bytes: circle }, 'file_unreadable', 'rejected damaged'],
  [
    'a PDF and an archive',
    { bytes: followed(statement(), EMPTY_ZIP) },
    'file_wrong_type',
    'rejected polyglot',
  ],
  [
    'a picture of 100 megapixels',
    { bytes: jpegHead(10_000, 10_000), type: 'image/jpeg' },
    'file_too_large',
    'rejected too_many_pixels',
  ],
  ['a picture that says to be a PDF', { bytes: png(9, 9) }, 'file_wrong_type', 'rejected type_mismatch'],
  [
    'a program',
    { bytes: Buffer.from('MZ\x90'), type: 'application/pdf' },
    'file_wrong_type',
    'rejected unsupported_type',
  ],
  [
    'a picture that is cut off',
    { bytes: webpHead(9, 9).subarray(0, 29), type: 'image/webp' },
    'file_unreadable',
    'rejected damaged',
  ],
  [
    'a statement of another person',
    { bytes: statement('Luis Ruiz') },
    'file_other_person',
    'received another_holder',
  ],
  [
    'a statement that nobody knows',
    { bytes: pdfOf([[['Otra empresa, otro documento']]]) },
    null,
    'received unknown_layout',
  ],
  ['a file without a byte', { bytes: Buffer.alloc(0) }, 'file_unreadable', 'rejected empty'],
  [
    'a file that is too large',
    { bytes: followed(statement(), ' '.repeat(200_000)) },
    'file_too_large',
    'rejected too_large',
  ],
  [
    'a file that the channel never had',
    { bytes: Buffer.alloc(0), mediaId: '999' },
    'file_gone',
    'rejected gone',
  ],
  [
    'bytes that are not those of the message',
    { bytes: statement(), claimedSha256: 'ab'.repeat(32) },
    'file_gone',
    'rejected hash_mismatch',
  ],
];

describe('a bad file has an answer for the person and a line for the operator', () => {
  for (const [what, sent, told, row] of BAD) {
    it(what, async () => {
      const application = await apply();
      const fate = await performer.readDocument(orderOf(application), fileOf(sent));
      assert.equal(toldOf(fate), told);
      const [document] = await json('document', 'list', '--application', `${application}`);
      assert.equal(`${document.state} ${document.reason}`, row);
    });
  }

  it('more files than an applicant has: no row', async () => {
    const application = await apply();
    const add = `INSERT INTO documents (application_id, partner_id, purpose, state, reason, received_ms)
      SELECT $1, $2, 'earnings', 'rejected', 'empty', ms FROM elapsed, generate_series(1, $3)`;
    await database.query(add, [application, stage.partnerId, MOST_DOCUMENTS]);
    const fate = await performer.readDocument(orderOf(application), fileOf({ bytes: statement() }));
    assert.equal(toldOf(fate), 'too_many_files');
  });

  it('more reading than a phone has in 24 hours, over all of its applications: a person looks at the file', async () => {
    const mostMs = 300_000;
    const limited = performerWith({ mostReadingMs: mostMs });
    const phone = 4_711;
    const converse = async () => {
      const id = await apply();
      await database.query(
        `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn)
          VALUES ($1, $2, $3, 'pending_signature', 1)`,
        [id, stage.partnerId, phone],
      );
      return id;
    };
    const [before, application] = [await converse(), await converse()];
    await database.query(
      `INSERT INTO documents (application_id, partner_id, purpose, state, reason, reading_ms)
        VALUES ($1, $2, 'earnings', 'received', 'no_text', $3)`,
      [before, stage.partnerId, mostMs - 1],
    );
    const send = async () =>
      toldOf(await limited.readDocument(orderOf(application), fileOf({ bytes: statement() })));
    const rows = async () =>
      (await json('document', 'list', '--application', `${application}`)).map(
        ({ state, reason, bytes }: { state: string; reason: string; bytes: number | null }) =>
          `${state} ${reason} ${bytes !== null}`,
      );
    assert.equal(await send(), null);
    const { rows: took } = await database.query<{ ms: number }>(
      'SELECT reading_ms AS ms FROM documents WHERE application_id = $1',
      [application],
    );
    assert.ok(took[0]!.ms > 0);
    assert.equal(await send(), 'file_by_person');
    assert.deepEqual((await rows()).toSorted(), ['accepted read true', 'received reading_limit true']);
    // A day later the phone has its time again.
    await database.query(
      'UPDATE documents SET received_ms = received_ms - 86400000 WHERE application_id = ANY ($1)',
      [[before, application]],
    );
    assert.equal(await send(), null);
  });

  it('a name with paths and control characters is kept sealed, and shown without them', async () => {
    const application = await apply();
    const filename = '../../etc/passwd\u0000\u001b]0;x\u0007\r\n\u202efdp.exe';
    await performer.readDocument(orderOf(application), fileOf({ bytes: statement(), filename }));
    const [{ id }] = await json('document', 'list', '--application', `${application}`);
    const shown = await stage.run('document', 'show', `${id}`, '--reveal', '--reason', 'ticket 1');
    assert.equal(shown.code, 0, shown.err);
    assert.match(shown.out, /passwd/);
    assert.doesNotMatch(shown.out, /[\u0000\u001b\u0007\r\u202e]/);
  });
});

it('a fault of the channel is no fault of the person: the file waits', async () => {
  api.media.faults.download.push('close');
  const fate = await performer.readDocument(orderOf(await apply()), fileOf({ bytes: statement() }));
  assert.equal(toldOf(fate), 'again: channel');
});

describe('D44: the income as a conversation asks for it', () => {
  it('without documents is an operator’s, with a statement that fits it is confirmed', async () => {
    const application = await apply({ income: 2_300_000 });
    assert.equal(await performer.checkIncome(orderOf(application)), 'operator');
    await performer.readDocument(orderOf(application), fileOf({ bytes: statement() }));
    assert.equal(await performer.checkIncome(orderOf(application)), 'confirmed');
  });
  it('of a provider that needs time is asked for again', async () => {
    const provider = {
      name: 'slow',
      observe: async () => ({ kind: 'wait', retryAfterMs: 5_000 }) as const,
      resume: () => assert.fail('resumed'),
    };
    const slow = performerOf({
      ...{ documents: stage.context, income: { ...income, provider } },
      ...{ signing: undefined as never, channel },
    });
    assert.deepEqual(await slow.checkIncome(orderOf(await apply())), {
      retryAfterMs: 5_000,
      reason: 'provider',
    });
  });
});
