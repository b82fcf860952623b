/** Documents of applications in a database of the tests' own, from the simulator's channel. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type ApplicationId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { channelIndexOf } from '../../src/seal/blind-indexes.ts';
import { chooseReader } from '../../src/subjects/documents/reader/choose-reader.ts';
import {
  PDF_LIMITS,
  PICTURE_LIMITS,
  pdfTextReader,
  processReader,
  type Reader,
} from '../../src/subjects/documents/reader/reader.ts';
import { openDocumentStore } from '../../src/subjects/documents/store/document-store.ts';
import type { DocumentContext } from '../../src/subjects/documents/uses/context.ts';
import { loadLayouts } from '../../src/subjects/documents/uses/load-layouts.ts';
import {
  type ReceivedDocument,
  receiveDocument,
  type SentFile,
} from '../../src/subjects/documents/uses/receive-document.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';

/** The applicant of the tests. */
export const ANA = { name: 'Ana María Pérez Gómez', idNumber: '52345678' } as const;

/** The day of the database, and the three newest months that are over everywhere, oldest first. */
export async function newestMonths(database: Database): Promise<{ today: string; months: string[] }> {
  const { rows } = await database.query<{ today: string; months: string[] }>(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today,
       ARRAY(SELECT to_char(date_trunc('month', now() AT TIME ZONE 'UTC' - interval '12 hours') - n * interval '1 month', 'YYYY-MM')
         FROM generate_series(3, 1, -1) AS n) AS months`,
  );
  return rows[0]!;
}

/** The reader of a service, without its limits of time: a busy machine may take longer than these. */
export function patientReader(): Reader {
  const choose = () => chooseReader(machineClock, 'exposed');
  const pdf = processReader(machineClock, choose, { ...PDF_LIMITS, timeMs: PATIENCE_MS });
  const picture = processReader(machineClock, choose, { ...PICTURE_LIMITS, timeMs: PATIENCE_MS });
  return (bytes, type, turn) => (type === 'application/pdf' ? pdf : picture)(bytes, type, turn);
}

/** What reads for the console. */
export const shownText = (): Reader =>
  pdfTextReader(machineClock, () => chooseReader(machineClock, 'exposed'));

/** Call this at the top of a test file. */
export async function documentStage() {
  const store = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'ventanilla-documents-'));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const simulator = new Simulator(async () => {}, machineClock);
  const files = await openDocumentStore(join(dataDir, 'documents'), null, machineClock);
  const context: DocumentContext = {
    database: store.runtime,
    vault: store.vault,
    clock: machineClock,
    channel: simulator,
    store: files,
    scanner: null,
    reader: patientReader(),
    mostReadingMs: null,
    layouts: await loadLayouts(null),
    mostBytes: 25_000_000,
  };
  const cli = commandLine(store, { DATA_DIR: dataDir });
  const register = await registrarOf(store);
  const { id: partnerId } = await cli.json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: keyId } = await cli.json('key', 'issue', '--partner', `${partnerId}`);
  let serial = 0;
  /** A new application of Ana's, with a phone of its own. */
  const apply = async (changes: Parameters<typeof applicant>[0] = {}): Promise<ApplicationId> => {
    serial += 1;
    const phone = toPhone(`+57300888${String(serial).padStart(4, '0')}`);
    const own = { name: ANA.name, id_number: ANA.idNumber, phone, ...changes };
    const [id] = await register(keyId, [applicant(own)]);
    return toApplicationId(id!);
  };
  /** A file that came by a message of its own; `changes` differ from what an honest channel tells. */
  const sent = (applicationId: ApplicationId, bytes: Buffer, changes: Partial<SentFile> = {}): SentFile => ({
    applicationId,
    samePhone: [],
    partnerId: partnerId as PartnerId,
    purpose: 'earnings',
    inputIndex: channelIndexOf(store.vault, randomUUID()),
    mediaId: simulator.files.keep({
      bytes,
      contentType: changes.claimedType ?? 'application/pdf',
      filename: 'a',
    }),
    claimedType: 'application/pdf',
    claimedSha256: null,
    filename: 'estado.pdf',
    holder: ANA,
    ...changes,
  });
  /** Receives a file; fails where it is to be tried again. */
  const receive = async (file: SentFile, more: Partial<DocumentContext> = {}): Promise<ReceivedDocument> => {
    const result = await receiveDocument({ ...context, ...more }, file);
    if ('retryAfterMs' in result) throw new Error(result.reason);
    return result;
  };
  return { ...store, ...cli, dataDir, simulator, files, context, apply, sent, receive, partnerId, keyId };
}
