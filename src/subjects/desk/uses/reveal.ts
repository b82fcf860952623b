/**
 * Reveals an application's personal data to an operator who gave a reason: fields, messages, chat and income
 * (docs/operators.md, "One application"). Records the reading first; then opens envelopes, inputs and replies.
 */
import type { CaseKind } from '../../../domain/application/cases.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { composeMessage } from '../../../domain/message/compose-message.ts';
import { isOffering } from '../../../domain/message/notify.ts';
import type { Button, OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { REVEAL } from '../../../program/operations/sql/operator-events.ts';
import type { ShownInput } from '../../conversation/uses/operate.ts';
import { incomeCheckOf } from '../../income/sql/income-checks.ts';
import { type Observation, observationsOf } from '../../income/uses/show-income.ts';
import { readReplyContents } from '../../messages/sql/replies/contents.ts';
import { toldReasons } from '../../messages/sql/told-reasons.ts';
import { type ExplainedApplication, showApplication } from '../../messages/uses/explained-application.ts';
import { wordsOfCases } from '../../reconsiderations/uses/cases.ts';
import { openDebts, type StoredDebt } from '../../signing/sql/debts.ts';
import { readBrandOf } from '../sql/brand-of.ts';
import type { KeyedRequest } from '../sql/desk-requests.ts';
import { noteReveal } from './note-reveal.ts';
import { chatOf } from './show-application.ts';

export interface RevealedApplication {
  readonly fields: Awaited<ReturnType<typeof showApplication>>['fields'];
  readonly corrections: Awaited<ReturnType<typeof showApplication>>['corrections'];
  readonly messages: readonly AnnouncedMessage[];
  readonly chat: readonly ChatLine[];
  /** null: nothing was checked, or it is erased. */
  readonly income: readonly Observation[] | null;
  readonly debts: readonly Pick<StoredDebt, 'id' | 'creditor' | 'reference'>[];
  /** What the person wrote to ask for a review or for the data (D50), case by case. */
  readonly asked: readonly {
    readonly id: number;
    readonly kind: CaseKind;
    readonly words: readonly { readonly at: Date; readonly text: string }[];
  }[];
}

/**
 * Records the reading and its reason, and then reads. The record is committed before anything is opened. Throws a
 * `Refusal` if the operator has revealed too many; then nothing is recorded. `request`: its repetition counts once.
 */
export async function reveal(
  context: OperatorContext,
  applicationId: ApplicationId,
  { reason, request }: { readonly reason: string; readonly request: KeyedRequest | null },
): Promise<RevealedApplication> {
  await noteReveal(context, { act: REVEAL, applicationId, reason }, request);
  const application = await showApplication(context, applicationId);
  const announced = await announcedMessages(context, application);
  const check = await incomeCheckOf(context.database, applicationId);
  return {
    fields: application.fields,
    corrections: application.corrections,
    messages: announced.map(({ messageId, text, buttons }) => ({
      id: messageId,
      text,
      choices: buttons.map(({ title }) => title),
    })),
    chat: await chatLines(context, applicationId, announced),
    income: check && observationsOf(context.vault, applicationId, check),
    debts: (await openDebts(context.database, context.vault, applicationId)) ?? [],
    asked: (await wordsOfCases(context, applicationId)).map(({ id, kind, content }) => ({
      id,
      kind,
      words: content?.words.map(({ atMs, text }) => ({ at: new Date(atMs), text })) ?? [],
    })),
  };
}

// Second part: the chat of an application with its texts, as the applicant saw it.

/** A line of the chat. */
interface ChatLine {
  readonly at: Date;
  readonly from: 'applicant' | 'service';
  readonly turn: number | null;
  /** What the applicant sent, named as in the chat without texts; `reply` for the service. */
  readonly kind: string;
  /** null: there is no text. */
  readonly text: string | null;
  readonly choices: readonly string[];
  /** The name of the attached file; null: there is no file, or it has no name. */
  readonly file: string | null;
}

/** A message that announced something. */
interface AnnouncedMessage {
  readonly id: string;
  readonly text: string;
  readonly choices: readonly string[];
}

/** The messages of an application, rendered with the present brand of its key. None if the person is erased. */
async function announcedMessages(
  { database }: OperatorContext,
  { id, fields, messages }: ExplainedApplication,
): Promise<OutgoingMessage[]> {
  const { name, phone, currency, debt_amount: debtAmount } = fields;
  const brand = await readBrandOf(database, id);
  if (brand === null || typeof name !== 'string' || typeof phone !== 'string') return [];
  if (typeof currency !== 'string' || typeof debtAmount !== 'number') return [];
  const told = await toldReasons(
    database,
    messages.map(({ id: messageId }) => messageId),
  );
  return messages.flatMap(({ id: messageId, type, attempts }) => {
    const attempt = Math.max(attempts, 1);
    const reasons = told.get(messageId) ?? [];
    const source = { messageId, type, attempt, name, phone: phone as Phone, reasons };
    try {
      return [composeMessage({ ...source, ...brand, debtAmount, currency })];
    } catch {
      // The brand or the currency cannot make a text any more. The type is still shown.
      return [];
    }
  });
}

/** What applicant and service said to each other. `announced`: the messages with the button of the first tap. */
async function chatLines(
  context: OperatorContext,
  id: ApplicationId,
  announced: readonly OutgoingMessage[],
): Promise<ChatLine[]> {
  const shown = await chatOf(context, id);
  if (shown === null) return [];
  const contents = new Map(
    (await readReplyContents(context.database, context.vault, id)).map(({ turn, content }) => [
      turn,
      content,
    ]),
  );
  const offered = [...contents.values()].flatMap((content) => choicesOf(content));
  const titles = new Map(
    [...announced.flatMap(({ buttons }) => buttons), ...offered].map(({ payload, title }) => [
      payload,
      title,
    ]),
  );
  const interest = announced.findLast(({ type }) => isOffering(type))?.buttons[0]?.title ?? null;
  const replies = shown.replies.flatMap(({ turn, createdAt: at }): ChatLine[] => {
    const content = contents.get(turn);
    if (content == null) return [];
    const choices = choicesOf(content).map(({ title }) => title);
    const file = (content.document ?? content.file)?.filename ?? null;
    return [{ at, from: 'service', turn, kind: 'reply', text: content.text, choices, file }];
  });
  const inputs = shown.inputs.flatMap((input): ChatLine[] => {
    const { at, source, turn, content } = input;
    if (source !== 'person' || content === null) return [];
    const said = { text: textOf(content, titles, interest), choices: [], file: fileOf(content) };
    return [{ at, from: 'applicant', turn, kind: content.kind, ...said }];
  });
  // Sorted by turns, because a turn answers what it heard, and the channel's clock is not the store's.
  const placeOf = ({ turn, from }: ChatLine) => (turn ?? Infinity) + (from === 'service' ? 0.5 : 0);
  return [...inputs, ...replies].toSorted((a, b) => placeOf(a) - placeOf(b) || Number(a.at) - Number(b.at));
}

type Reply = Awaited<ReturnType<typeof readReplyContents>>[number]['content'];
type Input = NonNullable<ShownInput['content']>;

function choicesOf(content: Reply): Button[] {
  return content === null ? [] : [...content.buttons, ...(content.list?.rows ?? [])];
}

/** What the applicant wrote or chose. A choice has the title that its message gave it. */
function textOf(content: Input, titles: ReadonlyMap<string, string>, interest: string | null): string | null {
  switch (content.kind) {
    case 'text':
      return content.body;
    case 'tap':
      return titles.get(content.payload) ?? null;
    case 'interest':
      return interest;
    default:
      return null;
  }
}

function fileOf(content: Input): string | null {
  return content.kind === 'file' ? content.filename : null;
}
