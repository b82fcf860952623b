/**
 * Connects conversations to the subjects below them: documents, income and signing, behind the interfaces of
 * `uses/ports.ts`. Also uploads PDFs to the channel over the network.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  type DebtsInput,
  OUTLOOK_REASONS,
  type Outlook,
  type ShownContract,
} from '../../../domain/conversation/input.ts';
import { type DebtBlock, sumText } from '../../../domain/loan/debt.ts';
import type { Offer } from '../../../domain/loan/offer.ts';
import type { Channel } from '../../../domain/message/channel.ts';
import { formatMoney } from '../../../domain/money/money.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { fromBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readApplications } from '../../applications/sql/applications.ts';
import { documentOfInput } from '../../documents/sql/documents.ts';
import type { DocumentContext } from '../../documents/uses/context.ts';
import { debtsOf, type StatementDebts } from '../../documents/uses/document-file.ts';
import { receiveDocument } from '../../documents/uses/receive-document.ts';
import { checkIncome, type IncomeContext } from '../../income/uses/check-income.ts';
import { checkAnswer } from '../../signing/uses/check-answer.ts';
import type { SigningContext } from '../../signing/uses/context.ts';
import { type DebtList, forgetTold, listOfDebts, putDebts, tellDebts } from '../../signing/uses/debts.ts';
import { finalSchedule } from '../../signing/uses/final-schedule.ts';
import { finishContract } from '../../signing/uses/finish-contract.ts';
import { makeContract } from '../../signing/uses/make-contract.ts';
import { type Blocked, costsOf, offerOf, outlookOf } from '../../signing/uses/price.ts';
import { sendCode } from '../../signing/uses/send-code.ts';
import { recordEvidence, signContract } from '../../signing/uses/sign-contract.ts';
import { rejectWithdrawn, withdraw } from '../../signing/uses/withdraw.ts';
import { shownFate } from '../rules/files.ts';
import { shownOffer } from '../rules/shown-offer.ts';
import { applicationsOfSamePhone } from '../sql/conversations.ts';
import type { IncomeEnd, Later, Performer, Signing, WorkOrder } from './ports.ts';

/** What the work beside the conversations works with. */
export interface Neighbours {
  readonly documents: DocumentContext;
  readonly income: IncomeContext;
  readonly signing: SigningContext;
  readonly channel: Pick<Channel, 'uploadMedia'>;
}

const CODE_MINUTES = 10;
const AGAIN_MS = 30_000;

/** Does the work: reads documents, checks incomes, makes offers and contracts, sends codes. */
export function performerOf({ documents, income, signing, channel }: Neighbours): Performer {
  return {
    readDocument: (order, file) => readDocument(documents, order, file),
    checkIncome: ({ applicationId }) => incomeOf(income, applicationId, null),
    answerSource: ({ applicationId }, code) => incomeOf(income, applicationId, code),
    async outlook({ applicationId, locale }) {
      return shownOutlook(await outlookOf(signing, applicationId), locale);
    },
    async offer({ applicationId, locale }) {
      const offer = await offerOf(signing, applicationId);
      return offer.kind === 'blocked'
        ? debtBlockOf(offer)
        : { ...shownOffer(offer, locale), costs: costsOf(offer) };
    },
    async makeContract({ applicationId, signal }) {
      const made = await makeContract(signing, applicationId);
      if (made.kind === 'blocked') return debtBlockOf(made);
      if (made.kind === 'retry') return later(made.reason);
      const uploaded = await upload(channel, made, signal);
      return uploaded !== null && 'mediaId' in uploaded
        ? { ...uploaded, costs: costsOf(made.offer) }
        : uploaded;
    },
    async finishContract({ applicationId, signal }) {
      const signed = await finishContract(signing, applicationId);
      // Another process is making it, or no certificate is set.
      if (signed === null) return { retryAfterMs: 0, reason: 'not_finished' };
      const { contract, bytes } = signed;
      const sha256 = hash('sha256', bytes);
      return upload(channel, { bytes, sha256, filename: `contract-${contract.id}-signed.pdf` }, signal);
    },
    async makeSchedule({ applicationId, signal }) {
      const made = await finalSchedule(signing, applicationId);
      if (made === 'none') return null;
      if (made === 'later') return { retryAfterMs: 0, reason: 'not_finished' };
      const { contract, bytes } = made;
      const filename = `contract-${contract.id}-schedule.pdf`;
      return upload(channel, { bytes, sha256: hash('sha256', bytes), filename }, signal);
    },
    async sendCode({ applicationId, locale, signal }) {
      const sent = await sendCode(signing, applicationId, signal);
      if (sent.kind === 'later') return { retryAfterMs: 0, reason: sent.reason };
      const way = sent.kind === 'sent' && sent.way === 'channel' ? sameChat(locale) : 'SMS';
      const result = sent.kind === 'sent' && sent.isAgain ? 'sent_again' : sent.kind;
      return { result, way, minutes: CODE_MINUTES };
    },
  };
}

/** What is wrong with the debts; null: something else is in the way. */
function debtBlockOf({ reason }: Blocked): DebtBlock | null {
  return reason === 'debts_differ' || reason === 'debts_above_net' ? reason : null;
}

/** Uploads a PDF to the channel; null: the channel refuses the file. */
async function upload(
  channel: Neighbours['channel'],
  { bytes, filename, sha256 }: { bytes: Buffer; filename: string; sha256: string },
  signal: AbortSignal,
): Promise<ShownContract | null | Later> {
  const uploaded = await channel.uploadMedia({ bytes, filename, contentType: 'application/pdf' }, signal);
  if (uploaded.kind === 'uploaded') return { sha256, mediaId: uploaded.mediaId, filename };
  return uploaded.kind === 'retry' ? later(uploaded.reason) : null;
}

async function incomeOf(income: IncomeContext, id: ApplicationId, code: string | null): Promise<IncomeEnd> {
  const checked = await checkIncome(income, id, code);
  if ('retryAfterMs' in checked) return checked;
  return 'step' in checked ? { kind: 'source_step', ...checked } : checked.outcome;
}

async function readDocument(
  documents: DocumentContext,
  { applicationId, partnerId }: WorkOrder,
  file: Parameters<Performer['readDocument']>[1],
): ReturnType<Performer['readDocument']> {
  const { database, vault } = documents;
  const [application] = await readApplications(database, vault, [applicationId]);
  if (application?.fault === 'unknown_key') return later('unknown_key');
  const { name, id_number: idNumber } = application?.fields ?? {};
  const end = await receiveDocument(documents, {
    applicationId,
    partnerId,
    purpose: file.purpose,
    mediaId: file.mediaId,
    filename: file.filename,
    claimedType: file.claimedType,
    claimedSha256: file.claimedSha256,
    samePhone: await applicationsOfSamePhone(database, applicationId),
    inputIndex: fromBigint<'channel_message_id'>(file.inputIndex),
    holder: { name: textOf(name), idNumber: textOf(idNumber) },
  });
  if ('retryAfterMs' in end) return end;
  return shownFate(end.reason);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function later(reason: string): Later {
  return { retryAfterMs: AGAIN_MS, reason };
}

function shownOutlook(found: Offer | Blocked, locale: string): Outlook {
  if (found.kind === 'offer') {
    const money = (text: string) => formatMoney(text, found.currency, locale);
    const { amount, months, installment } = found;
    return {
      isPossible: true,
      amount: money(amount),
      months: `${months}`,
      installment: money(installment),
    };
  }
  const { limits, reason } = found;
  const told = OUTLOOK_REASONS.find((one) => one === reason) ?? null;
  if (limits === undefined) return { isPossible: false, reason: told, limit: '' };
  const { minimum, maximum, currency } = limits;
  const limit =
    reason === 'wrong_currency'
      ? currency
      : formatMoney(reason === 'below_minimum' ? minimum : maximum, currency, locale);
  return { isPossible: false, reason: told, limit };
}

/** Where the person has to look for the code. A code into the same chat is no second way, and the text says so. */
function sameChat(locale: string): string {
  if (locale.startsWith('pt')) return 'esta conversa';
  return locale.startsWith('en') ? 'this chat' : 'este chat';
}

/** Checks answers, signs, withdraws and records evidence, in the transaction of a turn. */
export function signingOf(vault: Vault): Signing {
  return {
    checkAnswer: (session, id, question, text) => checkAnswer(session, vault, id, question, text),
    sign: (session, id, acceptance) => signContract(session, vault, id, acceptance),
    tellDebts: async (session, id, locale, text) => {
      const told = await tellDebts(session, vault, id, text);
      switch (told.kind) {
        case 'list':
          return shownDebts(told, locale);
        case 'again':
          return {
            ...{ kind: 'debts', result: 'again', fault: told.fault },
            numbers: told.lines.slice(0, MOST_NUMBERS).join(', '),
          };
        default:
          return { kind: 'debts', result: told.kind };
      }
    },
    readDebts: async (session, id, locale, documentIndex) => {
      const read = () => debtsOfInput(session, vault, documentIndex);
      const put = await putDebts(session, vault, id, { read, by: null });
      return put.kind === 'list' ? shownDebts(put, locale) : { kind: 'debts', result: put.kind };
    },
    askDebts: async (session, id, locale) => {
      const list = await listOfDebts(session, vault, id);
      return list === null ? { kind: 'debts', result: 'fixed' } : shownDebts(list, locale);
    },
    forgetDebts: (session, id) => forgetTold(session, vault, id),
    withdraw,
    recordEvidence: (session, some) => recordEvidence(session, vault, some),
    rejectWithdrawn,
  };
}

/** The debts that the document of a message tells; null: none. */
async function debtsOfInput(
  session: Transaction,
  vault: Vault,
  documentIndex: string | null,
): Promise<StatementDebts | null> {
  if (documentIndex === null) return null;
  const document = await documentOfInput(session, fromBigint<'channel_message_id'>(documentIndex));
  return document && debtsOf(vault, document);
}

/** The most numbers of lines that fit into a sentence. */
const MOST_NUMBERS = 12;
/** The most debts in a reply, and the most characters of a creditor there: a reply has a limit. */
const MOST_SHOWN = 10;
const MOST_OF_CREDITOR = 22;

/** The list in the words of the chat: a line a debt, and the sum. */
function shownDebts({ debts, currency }: DebtList, locale: string): DebtsInput {
  if (debts.length === 0) return { kind: 'debts', result: 'none' };
  const money = (text: string) => formatMoney(text, currency, locale);
  const lines = debts.slice(0, MOST_SHOWN).map(({ creditor, balance }) => {
    const characters = [...creditor];
    const name =
      characters.length > MOST_OF_CREDITOR
        ? `${characters.slice(0, MOST_OF_CREDITOR - 1).join('')}…`
        : creditor;
    return `${name}: ${money(balance)}`;
  });
  const more = debts.length - lines.length;
  const text = [...lines, ...(more > 0 ? [`… (+${more})`] : [])].join('\n');
  return { kind: 'debts', result: 'told', debts: text, sum: money(sumText(debts, currency)) };
}
