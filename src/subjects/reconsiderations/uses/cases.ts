/**
 * What operators do with cases: list them, read the person's words, answer (D50; docs/reconsiderations.md, "The
 * queue"). An answer changes no status (D34); it is in the record of acts and in the history of the application.
 */
import { type CaseKind, type CaseOutcome, outcomesOf } from '../../../domain/application/cases.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { refusalReasons, type WordedReason } from '../../../domain/application/refusal.ts';
import { languageOfPhone } from '../../../domain/conversation/language.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { inTransaction, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { addToHistory } from '../../applications/sql/application-marks.ts';
import { reasonsOfApplications } from '../../applications/sql/decided-reasons.ts';
import { readSpeakers } from '../../applications/sql/speakers.ts';
import { queueReplies, REPLY_BELL, sealReply } from '../../messages/sql/replies.ts';
import { suppressedOf } from '../../messages/sql/suppressions.ts';
import { type CaseContent, MOST_ANSWER_CHARACTERS } from '../rules/case.ts';
import { filled, TEXTS } from '../rules/texts.ts';
import {
  type CasePlace,
  caseOf,
  casesAfter,
  casesOf,
  holdCases,
  nextTurn,
  type StoredCase,
  writeAnswer,
} from '../sql/cases.ts';
import { readAskedAbout } from '../sql/refused.ts';
import { contentOf, sealedContent } from './content.ts';

/** Why the chat cannot tell an answer now. The person gets it with the next message in the chat. */
export type Unreached = 'window_closed' | 'suppressed' | 'wrong_person' | 'unreadable';

/** A case as operators see it, without what the person wrote. */
export interface ShownCase extends Omit<StoredCase, 'content' | 'sealId'> {
  readonly reasons: readonly WordedReason[];
  /** The channel would take an answer now. */
  readonly chatIsOpen: boolean;
  /** null: it is open, or it does not open. */
  readonly answer: string | null;
}

interface Store {
  readonly database: Session;
  readonly vault: Vault;
}

/** A page of cases, and where the next one begins; null: this is the last one. */
export async function listCases(
  store: Store,
  filter: { readonly isOpen: boolean; readonly kind: CaseKind | null },
  after: CasePlace | null,
  most: number,
): Promise<{ readonly cases: ShownCase[]; readonly next: CasePlace | null }> {
  const found = await casesAfter(store.database, filter, after, most + 1);
  const page = found.slice(0, most);
  const last = page.at(-1);
  const next =
    found.length > most && last !== undefined
      ? { ms: (filter.isOpen ? last.dueAt : last.answeredAt!).getTime(), id: last.id }
      : null;
  return { cases: await shown(store, page), next };
}

/** One case; null: there is none. */
export async function showCase(store: Store, id: number): Promise<ShownCase | null> {
  const found = await caseOf(store.database, id);
  return found === null ? null : ((await shown(store, [found]))[0] ?? null);
}

async function shown({ database, vault }: Store, cases: readonly StoredCase[]): Promise<ShownCase[]> {
  if (cases.length === 0) return [];
  const ids = [...new Set(cases.map(({ applicationId }) => applicationId))];
  const decided = await reasonsOfApplications(database, ids);
  const about = new Map((await readAskedAbout(database, ids)).map((one) => [one.applicationId, one]));
  const now = await databaseTime(database);
  return cases.map((one) => {
    const { content: _, sealId: __, ...rest } = one;
    const known = about.get(one.applicationId);
    const reasons = refusalReasons(known?.reviewCode ?? null, decided.get(one.applicationId) ?? []);
    const answer = one.outcome === null ? null : (contentOf(vault, one)?.answer ?? null);
    return { ...rest, reasons, chatIsOpen: one.windowUntil > now, answer };
  });
}

/** What persons wrote about an application, case by case; null where it does not open. Personal data. */
export async function wordsOfCases(
  { database, vault }: Store,
  id: ApplicationId,
): Promise<{ readonly id: number; readonly kind: CaseKind; readonly content: CaseContent | null }[]> {
  return (await casesOf(database, id)).map((one) => ({
    id: one.id,
    kind: one.kind,
    content: contentOf(vault, one),
  }));
}

export interface GivenAnswer {
  readonly outcome: CaseOutcome;
  readonly text: string;
}

/**
 * How an answer ended. `unreached` null: a reply tells it. `gone`: there is no such case. `other`: it is answered
 * otherwise.
 */
export type Answered =
  | { readonly kind: 'answered'; readonly found: StoredCase; readonly unreached: Unreached | null }
  | { readonly kind: 'gone' }
  | { readonly kind: 'other'; readonly found: StoredCase };

/**
 * Answers a case and records the act. The same answer by the same operator again counts once. Throws `OperatorError` if
 * the outcome or the text is refused.
 */
export async function answerCase(
  context: OperatorContext,
  id: number,
  { outcome, text: given }: GivenAnswer,
): Promise<Answered> {
  const text = readableText(given, MOST_ANSWER_CHARACTERS, { hasLines: true });
  if (text === null) {
    throw new OperatorError(
      `the answer must have 1 to ${MOST_ANSWER_CHARACTERS} characters, without control or hidden ones: the applicant reads it`,
    );
  }
  const done = await acting<Answered & { readonly isNew?: boolean }>(
    context,
    (part) => inTransaction(part.database, (session) => answerHeld(session, context, id, { outcome, text })),
    (result) =>
      result.kind === 'answered' && result.isNew === true
        ? { act: 'reconsideration answer', applicationId: result.found.applicationId }
        : null,
  );
  if (done.kind === 'answered' && done.unreached === null) REPLY_BELL.ring();
  return done;
}

async function answerHeld(
  session: Transaction,
  { vault, actor }: OperatorContext,
  id: number,
  { outcome, text }: GivenAnswer,
): Promise<Answered & { readonly isNew?: boolean }> {
  const before = await caseOf(session, id);
  if (before === null) return { kind: 'gone' };
  if (!outcomesOf(before.kind).includes(outcome))
    throw new OperatorError(`the outcome must be ${outcomesOf(before.kind).join(' or ')}`);
  const { applicationId } = before;
  const [about] = await readAskedAbout(session, [applicationId]);
  const speaker = (await readSpeakers(session, vault, [applicationId])).get(applicationId);
  await holdCases(session, [applicationId]);
  const found = await caseOf(session, id);
  if (found === null || about === undefined) return { kind: 'gone' };
  const content = contentOf(vault, found);
  if (found.outcome !== null) {
    const isSame = found.outcome === outcome && found.answeredBy === actor && content?.answer === text;
    return isSame ? { kind: 'answered', found, unreached: null } : { kind: 'other', found };
  }
  const isMuted = (await suppressedOf(session, [about.phoneIndex])).size > 0;
  const at = await databaseTime(session);
  const unreached: Unreached | null = about.isWrongPerson
    ? 'wrong_person'
    : isMuted
      ? 'suppressed'
      : found.windowUntil <= at
        ? 'window_closed'
        : speaker?.phone == null
          ? 'unreadable'
          : null;
  const toldTurn = unreached === null ? await nextTurn(session, applicationId) : null;
  await writeAnswer(session, id, {
    outcome,
    by: actor,
    content: sealedContent(vault, found, { words: content?.words ?? [], answer: text }),
    toldTurn,
    at,
  });
  const action = found.kind === 'data' ? 'data_answered' : 'review_answered';
  await addToHistory(session, applicationId, { actor, action, status: about.status, reason: outcome });
  if (toldTurn !== null && speaker?.phone != null) {
    const { language } = languageOfPhone(speaker.phone);
    const { partner } = effectiveBrand(speaker.brand, speaker.partnerName);
    const body = { text: filled(TEXTS[language][outcome], { partner, answer: text }), buttons: [] };
    const sealed = sealReply(vault, { applicationId, turn: toldTurn }, { ...body, readMessageId: null });
    const { partnerId, phoneIndex } = about;
    const { windowUntil } = found;
    await queueReplies(session, [
      { applicationId, turn: toldTurn, partnerId, phoneIndex, content: sealed, windowUntil },
    ]);
  }
  const now = (await caseOf(session, id)) ?? found;
  return { kind: 'answered', found: now, unreached, isNew: true };
}
