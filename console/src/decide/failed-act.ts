/** Why a decision, or what else is done to an application, was refused: in words that say what to do. */
import type { ChangedReply } from '../../../src/desk/routes/proposal-forms.ts';
import { AnswerError } from '../api/ask.ts';
import { failureText } from '../api/failure.ts';
import type { Texts } from '../texts/texts.ts';

/** `time` writes a time in the language of the page. */
export function failedActText(error: unknown, texts: Texts, time: (iso: string) => string): string {
  const { codes, decide } = texts;
  if (error instanceof AnswerError && error.status === 412) {
    const { by, act, at } = (error.body ?? {}) as Partial<ChangedReply>;
    if (by === undefined || act === undefined || at === undefined) return decide.changed;
    return decide.changedBy(by.login, codes.acts[act as keyof typeof codes.acts] ?? act, time(at));
  }
  return failureText(error, texts, { 403: decide.forbidden, 409: conflictText(error, texts) });
}

/** The body of a 409 names who stands in the way: by a proposal, which has an act, or by a claim. */
function conflictText(error: unknown, { decide, desk }: Texts): string {
  const { by, act } = (error instanceof AnswerError ? (error.body ?? {}) : {}) as Partial<ChangedReply>;
  if (by === undefined) return decide.illegal;
  if (act === undefined) return decide.claimedBy(by.login);
  return decide.proposedBy(desk.proposed[act as keyof typeof desk.proposed] ?? act, by.login);
}
