/**
 * Collects everything that the store has about a person, over all partners (docs/subject.md, "Export"). Reads the
 * tables of all subjects, and opens envelopes, replies, notes and lines of payments.
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { fromBigint, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import { readNotes } from '../../desk/uses/notes.ts';
import { readReplyContents } from '../../messages/sql/replies/contents.ts';
import { type ExplainedApplication, showApplication } from '../../messages/uses/explained-application.ts';
import { wordsOfCases } from '../../reconsiderations/uses/cases.ts';
import { readableDebts } from '../../signing/sql/debts.ts';
import { findLines } from '../../signing/uses/show-lines.ts';
import { eventsOf, phonesOf, type Trace, tracesOfApplication, tracesOfPhones } from '../sql/traces.ts';
import { type Asked, findApplications, readNamed, spellingsOf } from './find-applications.ts';

/** An application with what is stored beside it. */
interface ExportedApplication {
  readonly application: ExplainedApplication;
  readonly beside: Trace;
}

export interface Exported {
  readonly applications: readonly ExportedApplication[];
  /** The spellings in which the applications have the phone or the ID number that the operator gave. */
  readonly spellings: ReadonlySet<string>;
  /** What partners can read about the applications. */
  readonly events: readonly Trace[];
  /** What is stored under the phones, by table. */
  readonly phones: Readonly<Record<string, readonly Trace[]>>;
}

/**
 * Everything about a person. `noted` is called with the ids before any personal data is returned. Throws
 * `OperatorError` if `asked` names nobody.
 */
export async function exportSubject(
  context: OperatorContext,
  asked: Asked,
  noted: (ids: readonly ApplicationId[]) => Promise<void>,
): Promise<Exported> {
  const { database, vault } = context;
  const named = await readNamed(context, asked);
  const found = await findApplications(context, named);
  const ids = found.map(({ id }) => id);
  await noted(ids);
  const applications: ExportedApplication[] = [];
  for (const id of ids) {
    const application = await showApplication(context, id);
    const beside = await tracesOfApplication(database, id);
    const texts = {
      reply_texts: await replyTexts(context, id),
      note_texts: await noteTexts(context, id),
      case_texts: await caseTexts(context, id),
      debt_texts: await debtTexts(context, id),
      payment_lines: await paymentLines(context, id),
    };
    applications.push({ application, beside: { ...beside, ...texts } });
  }
  const phones = new Set((await phonesOf(database, ids)).map((stored) => fromBigint<'phone'>(stored)));
  if ('phone' in named) phones.add(phoneIndexOf(vault, named.phone));
  const partners = [...new Set(found.map(({ partner }) => partner.id))];
  const exported = {
    applications,
    spellings: spellingsOf(named, found),
    events: ids.length === 0 ? [] : await eventsOf(database, partners, ids),
    phones: await tracesOfPhones(database, [...phones] as readonly BlindIndex<'phone'>[]),
  };
  // During a vault reindex the search would miss something.
  await requireIndexKey(database, vault);
  return exported;
}

/** What the service answered the person; `text` is null if the content does not open. */
async function replyTexts({ database, vault }: OperatorContext, id: ApplicationId): Promise<Trace[]> {
  const replies = await readReplyContents(database, vault, id);
  return replies.map(({ turn, content }) => ({
    turn,
    text: content?.text ?? null,
    choices: [...(content?.buttons ?? []), ...(content?.list?.rows ?? [])].map(({ title }) => title),
    document: (content?.document ?? content?.file)?.filename ?? null,
  }));
}

/** What the person wrote in each case, and what was answered; null: the content does not open. */
async function caseTexts(context: OperatorContext, id: ApplicationId): Promise<Trace[]> {
  return (await wordsOfCases(context, id)).map(({ id: of, content }) => ({
    id: of,
    words: content?.words.map(({ text }) => text) ?? null,
    answer: content?.answer ?? null,
  }));
}

/** What operators wrote about the person, in the form of `replyTexts`. */
async function noteTexts(context: OperatorContext, id: ApplicationId): Promise<Trace[]> {
  return (await readNotes(context, id)).map(({ id: note, text }) => ({ id: note, text }));
}

/** Whom the person owes what; null: the values do not open. */
async function debtTexts({ database, vault }: OperatorContext, id: ApplicationId): Promise<Trace[]> {
  return (await readableDebts(database, vault, id)).map(({ id: debt, values }) => ({
    id: debt,
    creditor: values?.creditor ?? null,
    reference: values?.reference ?? null,
    balance: values?.balance ?? null,
    as_of: values?.asOf ?? null,
    overdue_since: values?.overdueSince ?? null,
  }));
}

/** What was paid out of the signed contract to whom, and what came back. */
async function paymentLines(context: OperatorContext, id: ApplicationId): Promise<Trace[]> {
  const found = await findLines(context, id);
  return (found?.lines ?? []).map(({ number, payee, amount, reference }) => ({
    ...{ number, payee, amount, reference, currency: found!.currency },
  }));
}
