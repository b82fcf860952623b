/** A chat with nothing made up beside it: documents, incomes, contracts, codes and signatures are the program's own. */
import { randomUUID } from 'node:crypto';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { performerOf, signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import type { Reader } from '../../src/subjects/documents/reader/reader.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { ANA, documentStage, newestMonths } from '../documents/support.ts';
import { APPROVED } from './applicant.ts';
import { conversationsOf } from './conversations.ts';
import type { TestDatabase } from './database.ts';
import { testSigning } from './signing.ts';

/** What the applicant of such a chat declares. */
const INCOME = 2_300_000;

/** Call this at the top of a test file. */
export async function wholeChat() {
  const stage = await documentStage();
  const { database, vault, dataDir, simulator, context: documents } = stage;
  const signing = await testSigning(stage);
  const { today, months } = await newestMonths(database);

  /** The conversations of a process whose sessions are these; it reads its files so. */
  const over = async (runtime: TestDatabase['runtime'], reader: Reader = documents.reader) => {
    const performer = performerOf({
      documents: { ...documents, database: runtime, reader },
      income: openIncome(({ read }) => read(undefined, { dataDir, ownDatabase: true }), {
        ...{ database: runtime, vault },
        clock: machineClock,
      }),
      signing: { ...signing.context, database: runtime },
      channel: simulator,
    });
    const chat = await conversationsOf({ ...stage, runtime }, stage.keyId, {
      ...{ performer, signing: signingOf(vault) },
    });
    /** An approved applicant. */
    const ana = (changes: object = {}) =>
      chat.applicantAt({ ...APPROVED, name: ANA.name, id_number: ANA.idNumber, income: INCOME, ...changes });
    return { ...chat, ana };
  };

  /** Bytes of a statement that nobody has sent before; `share`: of the declared income. */
  const statement = (share = 1, name: string = ANA.name): Buffer =>
    Buffer.concat([
      statementPdf({
        ...{ layout: 'rodar-co-1', ...ANA, name, issued: today },
        months: Object.fromEntries(months.map((month) => [month, Math.round(INCOME * share)])),
      }),
      Buffer.from(`\n%${randomUUID()}`),
    ]);

  /** The message with a PDF. */
  const pdfEvent = (
    ana: { fileEvent: (mediaId: string) => Promise<ChannelEvent> },
    bytes: Buffer,
  ): Promise<ChannelEvent> =>
    ana.fileEvent(simulator.files.keep({ bytes, contentType: 'application/pdf', filename: 'extracto.pdf' }));

  return { ...stage, signing, over, statement, pdfEvent };
}
