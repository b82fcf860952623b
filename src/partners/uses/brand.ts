/** What operators do with the brand of a key (contract, "Events"; D31, D32). */

import { toMessageId } from '../../applications/rules/ids.ts';
import { toPhone } from '../../applications/rules/phone.ts';
import { describeError } from '../../base/describe-error.ts';
import { parseOperatorJson } from '../../base/operator-json.ts';
import { DEFAULT_FLOW } from '../../conversation/rules/default-flow.ts';
import { type Flow, flowWith } from '../../conversation/rules/flow.ts';
import { composeMessage } from '../../messages/rules/compose-message.ts';
import type { MessageLanguage, OutgoingMessage } from '../../messages/rules/outgoing-message.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { type Brand, type EffectiveBrand, effectiveBrand, typesAndLanguages } from '../rules/brand.ts';
import { brandFaults } from '../rules/check-brand.ts';
import type { KeyId } from '../rules/credential.ts';
import { type ApiKey, setStoredBrand } from '../sql/api-keys.ts';
import { requireKey } from './keys.ts';

export type { Brand };

/** A message to a made-up applicant. */
export interface Preview {
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

function previewsOf(brand: EffectiveBrand): Preview[] {
  return [...typesAndLanguages()].map(([type, language]) => ({
    language,
    message: composeMessage({
      ...MADE_UP[language],
      messageId: toMessageId('1'),
      attempt: 1,
      type,
      partnerName: brand.partner,
      brand,
    }),
  }));
}
