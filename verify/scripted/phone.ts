/** What a phone shows: the replies of the service as a person reads them. Pure. */
import { TEXTS_ES } from '../../src/domain/conversation/texts/es.ts';
import { type ButtonPayload, parsePayload } from '../../src/subjects/conversation/rules/payload.ts';
import type { Question } from './scripts.ts';

/** A button, and what it stands for. */
export interface Button extends ButtonPayload {
  readonly text: string;
  readonly title: string;
}

export interface ShownReply {
  /** The channel's id. */
  readonly messageId: string;
  readonly text: string;
  readonly buttons: readonly Button[];
  /** The id of the uploaded file; null: there is none. */
  readonly mediaId: string | null;
}

interface ReplyMessage {
  readonly type: string;
  readonly text?: { readonly body: string };
  readonly document?: { readonly id: string; readonly caption?: string };
  readonly interactive?: {
    readonly header?: { readonly document?: { readonly id: string } };
    readonly body: { readonly text: string };
    readonly action: {
      readonly buttons?: readonly { readonly reply: { readonly id: string; readonly title: string } }[];
    };
  };
}

/** Reads a reply as the channel got it. */
export function shownReply(messageId: string, message: unknown): ShownReply {
  const { text, document, interactive } = message as ReplyMessage;
  const buttons = (interactive?.action.buttons ?? []).flatMap(({ reply: { id, title } }) => {
    const payload = parsePayload(id);
    return payload === null ? [] : [{ ...payload, text: id, title }];
  });
  return {
    messageId,
    text: text?.body ?? interactive?.body.text ?? document?.caption ?? '',
    buttons,
    mediaId: interactive?.header?.document?.id ?? document?.id ?? null,
  };
}

/** Whether a text has one of the default sentences, up to its first value. */
export function says(text: string, key: keyof typeof TEXTS_ES): boolean {
  return text.includes(TEXTS_ES[key].split('{')[0]!);
}

/** What a reply asks for; null: nothing. */
export function questionOf({ text, buttons }: ShownReply): Question | null {
  const place = buttons[0]?.place;
  if (place === 'data_consent' || place === 'summary' || place === 'contract' || place === 'code')
    return place;
  if (place === 'earnings')
    return buttons.some(({ choice }) => choice === 'done') ? 'more_files' : 'earnings';
  if (place === 'debts') {
    if (buttons.some(({ choice }) => choice === 'right')) return 'debts_right';
    return buttons.some(({ choice }) => choice === 'done') ? 'more_debts' : 'debts';
  }
  if (says(text, 'last_four')) return 'last_four';
  if (says(text, 'earnings') || says(text, 'earnings_again')) return 'earnings';
  if (says(text, 'debts') || says(text, 'debts_again')) return 'debts';
  if (says(text, 'in_review')) return 'in_review';
  if (says(text, 'handed_over')) return 'handed_over';
  // Whose answer to the code was lost hears of the signature with the next answer.
  return says(text, 'signed') || says(text, 'after_signed') ? 'signed' : null;
}

/** The SHA-256 that a text says in groups of eight digits; null: it says none. */
export function hashIn(text: string): string | null {
  return /(?:[0-9a-f]{8} ?){8}/.exec(text)?.[0].replaceAll(' ', '') ?? null;
}
