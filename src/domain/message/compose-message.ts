/**
 * Makes a message from an application and the brand of its key (D31, D32), with the part of the name that may be shown
 * (D42). Pure.
 */
import { type ApplicationId, applicationOfMessage, type MessageId } from '../application/ids.ts';
import type { WordedReason } from '../application/refusal.ts';
import {
  type Brand,
  effectiveBrand,
  MAX_VALUE_LENGTH,
  PLACEHOLDER_PATTERN,
  type Placeholder,
  shortName,
} from '../partner/brand.ts';
import type { Phone } from '../phone/phone.ts';
import { isOffering, type MessageType, type TemplateKind } from './notify.ts';
import {
  type Button,
  formatCallback,
  interestPayload,
  localeOfPhone,
  type OutgoingMessage,
  reviewPayload,
} from './outgoing-message.ts';

// The part of an applicant's name that a message shows (D42). A partner can put any text into the field `name`, and a
// message carries the names of the service and of the channel, so nothing but a name may pass.

/** A text of more words or characters is a sentence. */
const MAX_WORDS = 12;
const MAX_LENGTH = 100;
/** The most words of a name that a message shows, without particles. */
const SHOWN_NAMES = 2;
const MAX_WORD_LENGTH = 25;

/**
 * Format characters (bidi among them), and other invisible characters. They come with copied cells, so they are
 * dropped.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Signs that people type in place of the apostrophe. */
const APOSTROPHES = /[`´‘]/g;

/** A letter of the Latin alphabet. NFC leaves few accents apart, such as the tilde of Guarani's g. */
const LETTER = '[\\p{Script=Latin}&&\\p{L}][\\u0300-\\u034e\\u0350-\\u036f]{0,2}';
/** Parts with single apostrophes and hyphens between them, and a dot at the end of an abbreviation: O'Higgins, Ma. */
const WORD = `(?:${LETTER})+(?:['’ʼ\\-‐‑](?:${LETTER})+)*['’ʼ]?\\.?`;
/** Single letters with dots: J.R., M.ª */
const INITIALS = `${LETTER}(?:\\.${LETTER})+\\.?`;
const NAME_WORD = new RegExp(`^(?:${WORD}|${INITIALS})$`, 'v');

/** Words that belong to the name after them. */
const PARTICLE = /^(?:de|del|la|las|lo|los|el|y|e|i|da|das|do|dos|di|van|von|der|san|santa)$/i;

/**
 * The first two words of a name, with the particles between them: `María del Carmen`, `Ana Pérez`. Null: the text is
 * not a name, because a word of it has other characters than a name has, or because it is too long.
 */
export function shownName(text: string): string | null {
  const plain = text.replace(INVISIBLE, '').replace(APOSTROPHES, "'").normalize('NFC').trim();
  const words = plain.split(/\s+/);
  if (plain.length > MAX_LENGTH || words.length > MAX_WORDS) return null;
  if (!words.every((word) => word.length <= MAX_WORD_LENGTH && NAME_WORD.test(word))) return null;
  const shown = words.slice(0, endOfNames(words)).join(' ');
  return shown.length > MAX_VALUE_LENGTH.name ? null : shown;
}

function endOfNames(words: readonly string[]): number {
  let names = 0;
  for (const [index, word] of words.entries()) {
    if (!PARTICLE.test(word)) names += 1;
    if (names === SHOWN_NAMES) return index + 1;
  }
  // A particle at the end belongs to nothing.
  return words.findLastIndex((word) => !PARTICLE.test(word)) + 1 || words.length;
}

/** Everything that a message is made of. */
export interface MessageSource {
  readonly messageId: MessageId;
  /** Counts from 1. */
  readonly attempt: number;
  readonly type: MessageType;
  readonly phone: Phone;
  /** The applicant's name, as submitted. */
  readonly name: string;
  /** The partner's name, for a brand without a name. */
  readonly partnerName: string;
  readonly debtAmount: number;
  /** An active ISO 4217 code. */
  readonly currency: string;
  /** A brand without faults by `brandFaults`. */
  readonly brand: Brand;
  /** What a `rejected` message tells, the most important first; none: it tells no reasons (D50). */
  readonly reasons?: readonly WordedReason[];
}

/**
 * Stands in place of a name that is left out (D42): a template takes all parameters that were approved, and none may be
 * empty. The word is the same in Spanish and Portuguese, and for women and men.
 */
const NAMELESS = 'cliente';

/** The most reasons of a message. */
const MOST_REASONS = 2;
/** Stands for the second reason where there is one alone, because a template takes all its parameters. */
const NO_OTHER = { es: 'No hay otro motivo', pt: 'Não há outro motivo' } as const;

/** The message in the language of the phone's country, within all limits of the channel. Takes microseconds. */
export function composeMessage(source: MessageSource): OutgoingMessage {
  const { messageId, attempt, type, phone } = source;
  const applicationId = applicationOfMessage(messageId);
  const { language, locale } = localeOfPhone(phone);
  const brand = effectiveBrand(source.brand, source.partnerName);
  const reasons = type === 'rejected' ? (source.reasons ?? []).slice(0, MOST_REASONS) : [];
  const kind: TemplateKind = reasons.length > 0 ? 'rejected_reasons' : type;
  const template = brand.templates[kind];
  const reasonAt = (index: number) =>
    shortName(reasons[index]?.words[language] ?? NO_OTHER[language], MAX_VALUE_LENGTH.reason_1);
  const values: Readonly<Record<Placeholder, string>> = {
    name: shownName(source.name) ?? NAMELESS,
    partner: brand.partner,
    debt: isOffering(type) ? formatAmount(source.debtAmount, source.currency, locale) : '',
    reason_1: reasonAt(0),
    reason_2: reasonAt(1),
  };
  return {
    messageId,
    applicationId,
    attempt,
    type,
    phone,
    text: brand.texts[kind][language].replace(PLACEHOLDER_PATTERN, (_, word: Placeholder) => values[word]),
    buttons: brand.buttons[kind][language].map((title, index) => buttonOf(title, index, kind, applicationId)),
    template: {
      name: template.name,
      language: template.languages[language],
      parameters: template.parameters.map((placeholder) => values[placeholder]),
    },
    callback: formatCallback(messageId, attempt),
    ...(reasons.length > 0 && { told: { codes: reasons.map(({ code }) => code), language } }),
  };
}

/**
 * The first button of `approved` and `offer` is "I am interested" (D31), that of reasons asks for a review (D50). Other
 * buttons are known by their index.
 */
function buttonOf(title: string, index: number, kind: TemplateKind, applicationId: ApplicationId): Button {
  if (index === 0 && kind === 'rejected_reasons') return { title, payload: reviewPayload(applicationId) };
  const interested = index === 0 && isOffering(kind);
  const payload = interested ? interestPayload(applicationId) : `button.${index + 1}.${applicationId}`;
  return { title, payload };
}

/** Amounts from here on are written as powers of ten, because the text has a limit. No real debt is that high. */
const HUGE_AMOUNT = 1e15;

/** An amount in the form of the locale: `$ 8.000.000`, `R$ 8.500,00`, `US$ 1.200,50`. */
export function formatAmount(amount: number, currency: string, locale: string): string {
  const notation = amount < HUGE_AMOUNT ? 'standard' : 'scientific';
  return formatOf(locale, currency, notation).format(amount);
}

/** To make a format costs a thousand times more than to use it. At most one for each locale and currency. */
const FORMATS = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, currency: string, notation: 'standard' | 'scientific') {
  const key = `${locale} ${currency} ${notation}`;
  let format = FORMATS.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, { style: 'currency', currency, notation });
    FORMATS.set(key, format);
  }
  return format;
}
