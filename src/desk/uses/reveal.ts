/** Shows an application's personal data to an operator who said why. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { showApplication } from '../../applications/uses/applications.ts';
import { parsePayload } from '../../conversation/rules/payload.ts';
import type { ShownInput } from '../../conversation/uses/operate.ts';
import { incomeCheckOf } from '../../income/sql/income-checks.ts';
import { type Observation, observationsOf } from '../../income/uses/show-income.ts';
import { readReplyContents } from '../../messages/sql/replies/contents.ts';
import type { OperatorContext } from '../../operations/operator-context.ts';
import { REVEAL } from '../../operations/sql/operator-events.ts';
import { noteReveal } from './note-reveal.ts';
import { chatOf } from './show-application.ts';

/** A line of the chat. */
export interface ChatLine {
  readonly at: Date;
  readonly from: 'applicant' | 'service';
  readonly turn: number | null;
  readonly text: string;
  readonly choices: readonly string[];
}

export interface RevealedApplication {
  readonly fields: Awaited<ReturnType<typeof showApplication>>['fields'];
  readonly chat: readonly ChatLine[];
  /** null: nothing was checked, or it is erased. */
  readonly income: readonly Observation[] | null;
}

/**
 * Records the reading and its reason, and then reads. The record is committed before anything is opened. Throws a
 * `Refusal` where the operator has revealed too many, which records nothing.
 */
export async function reveal(
  context: OperatorContext,
  applicationId: ApplicationId,
  reason: string,
): Promise<RevealedApplication> {
  await noteReveal(context, { act: REVEAL, applicationId, reason });
  const { fields } = await showApplication(context, applicationId);
  const check = await incomeCheckOf(context.database, applicationId);
  return {
    fields,
    chat: await chat(context, applicationId),
    income: check && observationsOf(context.vault, applicationId, check),
  };
}

async function chat(context: OperatorContext, id: ApplicationId): Promise<ChatLine[]> {
  const shown = await chatOf(context, id);
  if (shown === null) return [];
  const contents = new Map(
    (await readReplyContents(context.database, context.vault, id)).map(({ turn, content }) => [
      turn,
      content,
    ]),
  );
  const replies = shown.replies.flatMap(({ turn, createdAt }): ChatLine[] => {
    const content = contents.get(turn);
    if (content == null) return [];
    const choices = [...content.buttons, ...(content.list?.rows ?? [])].map(({ title }) => title);
    return [{ at: createdAt, from: 'service', turn, text: content.text, choices }];
  });
  const inputs = shown.inputs.flatMap((input): ChatLine[] => {
    const text = textOf(input);
    return text === null ? [] : [{ at: input.at, from: 'applicant', turn: input.turn, text, choices: [] }];
  });
  // A turn answers what it heard, and the channel's clock is not the store's.
  const placeOf = ({ turn, from }: ChatLine) => (turn ?? Infinity) + (from === 'service' ? 0.5 : 0);
  return [...inputs, ...replies].toSorted((a, b) => placeOf(a) - placeOf(b) || Number(a.at) - Number(b.at));
}

/** What the applicant wrote, sent or chose; null for everything else that happened. */
function textOf({ source, content }: ShownInput): string | null {
  if (source !== 'person') return null;
  switch (content?.kind) {
    case 'text':
      return content.body;
    case 'file':
      return content.filename ?? content.media;
    case 'tap':
      return parsePayload(content.payload)?.choice ?? 'a choice of another message';
    default:
      return null;
  }
}
