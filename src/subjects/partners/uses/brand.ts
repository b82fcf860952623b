/**
 * What operators do with the brand of a key: read, check, set, preview (docs/brand.md; contract, "Events"; D31, D32).
 * Writes the store through `sql/api-keys.ts`.
 */

import { toMessageId } from '../../../domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { type Flow, flowWith } from '../../../domain/conversation/flow.ts';
import { composeMessage } from '../../../domain/message/compose-message.ts';
import type { TemplateKind } from '../../../domain/message/notify.ts';
import type { MessageLanguage, OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import {
  type Brand,
  type EffectiveBrand,
  effectiveBrand,
  typesAndLanguages,
} from '../../../domain/partner/brand.ts';
import type { KeyId } from '../../../domain/partner/credential.ts';
import { toPhone } from '../../../domain/phone/phone.ts';
import { BUILT_IN_REASONS } from '../../../domain/scorecard/reasons.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { parseOperatorJson } from '../../../ground/base/operator-json.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { brandFaults } from '../rules/check-brand.ts';
import { type ApiKey, setStoredBrand } from '../sql/api-keys.ts';
import { requireKey } from './keys.ts';

export type { Brand };

/** A message to a made-up applicant. */
export interface Preview {
  readonly kind: TemplateKind;
  readonly language: MessageLanguage;
  readonly message: OutgoingMessage;
}

/** A key with its brand, the defaults filled in. */
export interface KeyBrand {
  readonly key: ApiKey;
  readonly brand: EffectiveBrand & { readonly conversation: false | Flow };
  /** One preview for each message type and language. */
  readonly previews: readonly Preview[];
}

/**
 * The brand in a file's text (docs/brand.md); `source` names the file in the error. Throws `OperatorError` with the
 * place and the reason of every fault.
 */
export function readBrand(text: string, source: string): Brand {
  let value: unknown;
  try {
    value = parseOperatorJson(text);
  } catch (error) {
    // The parser's message quotes the file; without its line breaks the message stays on one line.
    const reason = describeError(error).replace(/[\s\p{Cc}]+/gu, ' ');
    throw new OperatorError(`the brand file ${source} must hold JSON: ${reason}`);
  }
  const faults = brandFaults(value);
  if (faults.length > 0) throw new OperatorError(`the brand file ${source}: ${faults.join('; ')}`);
  return value as Brand;
}

/** The brand of a key. Throws `OperatorError`. */
export async function showBrand(context: OperatorContext, keyId: KeyId): Promise<KeyBrand> {
  return keyBrand(await requireKey(context, keyId));
}

/**
 * Gives a key another brand, which also applies to messages that are not sent yet. `readBrand` makes `brand`. Throws
 * `OperatorError`.
 */
export async function setBrand(context: OperatorContext, keyId: KeyId, brand: Brand): Promise<KeyBrand> {
  const key = await setStoredBrand(context.database, context.vault, keyId, brand);
  if (key === null) throw new OperatorError(`there is no key ${keyId}`);
  return keyBrand(key);
}

function keyBrand(key: ApiKey): KeyBrand {
  const brand = effectiveBrand(key.brand, key.partner.name);
  const changes = key.brand.conversation ?? {};
  const conversation = changes !== false && flowWith(DEFAULT_FLOW, changes);
  return { key, brand: { ...brand, conversation }, previews: previewsOf(brand) };
}

const MADE_UP = {
  es: { name: 'Luz Marina Torres', phone: toPhone('+573000000000'), debtAmount: 8_000_000, currency: 'COP' },
  pt: { name: 'João Silva', phone: toPhone('+5511900000000'), debtAmount: 8_500, currency: 'BRL' },
} as const;

const MADE_UP_REASONS = (['three_debts', 'no_history'] as const).map((code) => ({
  code,
  words: BUILT_IN_REASONS[code],
}));

function previewsOf(brand: EffectiveBrand): Preview[] {
  return [...typesAndLanguages()].map(([kind, language]) => ({
    kind,
    language,
    message: composeMessage({
      ...MADE_UP[language],
      messageId: toMessageId('1'),
      attempt: 1,
      ...(kind === 'rejected_reasons' ? { type: 'rejected', reasons: MADE_UP_REASONS } : { type: kind }),
      partnerName: brand.partner,
      brand,
    }),
  }));
}
