/** Makes a message from an application and the brand of its key. Pure (D31, D32). */

import { type ApplicationId, applicationOfMessage, type MessageId } from '../application/ids.ts';
import { type Brand, effectiveBrand } from '../partner/brand.ts';
import { PLACEHOLDER_PATTERN, type Placeholder } from '../partner/brand-parts.ts';
import type { Phone } from '../phone/phone.ts';
import { localeOfPhone } from './message-locale.ts';
import { isOffering, type MessageType } from './notify.ts';
import { type Button, formatCallback, interestPayload, type OutgoingMessage } from './outgoing-message.ts';
import { shownName } from './shown-name.ts';

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
}

/**
 * Stands in place of a name that is left out (D42): a template takes all parameters that were approved, and none may be
 * empty. The word is the same in Spanish and Portuguese, and for women and men.
 */
const NAMELESS = 'cliente';

/** The message in the language of the phone's country, within all limits of the channel. Takes microseconds. */
export function composeMessage(source: MessageSource): OutgoingMessage {
  const { messageId, attempt, type, phone } = source;
  const applicationId = applicationOfMessage(messageId);
  const { language, locale } = localeOfPhone(phone);
  const brand = effectiveBrand(source.brand, source.partnerName);
  const template = brand.templates[type];
  const values: Readonly<Record<Placeholder, string>> = {
    name: shownName(source.name) ?? NAMELESS,
    partner: brand.partner,
    debt: isOffering(type) ? formatAmount(source.debtAmount, source.currency, locale) : '',
  };
  return {
    messageId,
    applicationId,
    attempt,
    type,
    phone,
    text: brand.texts[type][language].replace(PLACEHOLDER_PATTERN, (_, word: Placeholder) => values[word]),
    buttons: brand.buttons[type][language].map((title, index) => buttonOf(title, index, type, applicationId)),
    template: {
      name: template.name,
      language: template.languages[language],
      parameters: template.parameters.map((placeholder) => values[placeholder]),
    },
    callback: formatCallback(messageId, attempt),
  };
}

/** The first button of `approved` and `offer` is "I am interested" (D31). Other buttons are known by their index. */
function buttonOf(title: string, index: number, type: MessageType, applicationId: ApplicationId): Button {
  const interested = index === 0 && isOffering(type);
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
