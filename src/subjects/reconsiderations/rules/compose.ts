/** Makes the reply to somebody who was refused, or who asks for the data (D50). Pure. */
import type { CaseOutcome } from '../../../domain/application/cases.ts';
import type { WordedReason } from '../../../domain/application/refusal.ts';
import type { Language } from '../../../domain/conversation/flow.ts';
import type { Button } from '../../../domain/message/outgoing-message.ts';
import { replyFaults } from '../../../domain/message/reply.ts';

import type { Part } from './decide.ts';
import { filled, TEXTS } from './texts.ts';

/** What a reply is made of. */
export interface Told {
  readonly language: Language;
  /** The partner's name for applicants. */
  readonly partner: string;
  readonly reasons: readonly WordedReason[];
  /** Of each case that is opened or open, the last day of its term, as its country writes it. */
  readonly lastDays: Readonly<Partial<Record<'reconsideration' | 'data', string>>>;
  /** The answers that were not told yet. */
  readonly answers: readonly { readonly outcome: CaseOutcome; readonly answer: string }[];
  readonly reviewPayload: string;
}

export interface Composed {
  readonly text: string;
  readonly buttons: readonly Button[];
  /** The codes of the reasons that the text tells. */
  readonly codes: readonly string[];
  readonly language: Language;
}

/** The reply. Where it is too long for the channel, the last reasons are left out. */
export function compose(says: readonly Part[], told: Told): Composed {
  for (let most = told.reasons.length; ; most -= 1) {
    const composed = composeWith(says, told, told.reasons.slice(0, most));
    if (most <= 1 || replyFaults(composed).length === 0) return composed;
  }
}

function composeWith(says: readonly Part[], told: Told, reasons: readonly WordedReason[]): Composed {
  const { language, partner, lastDays, answers } = told;
  const texts = TEXTS[language];
  const textOf: Readonly<Record<Part, () => string>> = {
    answers: () =>
      answers.map(({ outcome, answer }) => filled(texts[outcome], { partner, answer })).join('\n\n'),
    review_asked: () => filled(texts.review_asked, { partner, date: lastDays.reconsideration ?? '' }),
    data_asked: () => filled(texts.data_asked, { date: lastDays.data ?? '' }),
    reasons: () =>
      reasons.length === 0
        ? filled(texts.without_reasons, { partner })
        : filled(texts.reasons, {
            partner,
            reasons: reasons.map(({ words }) => `• ${words[language]}`).join('\n'),
          }),
  };
  const tells = says.includes('reasons');
  return {
    text: says.map((part) => textOf[part]()).join('\n\n'),
    buttons: tells ? [{ title: texts.button, payload: told.reviewPayload }] : [],
    codes: tells ? reasons.map(({ code }) => code) : [],
    language,
  };
}
