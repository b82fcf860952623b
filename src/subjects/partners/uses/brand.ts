/**
 * What operators do with the brand of a key: read, check, set, preview (docs/brand.md; contract, "Events"; D31, D32).
 * Writes the store through `sql/api-keys.ts`.
 */

import { toMessageId } from '../../../domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { type Flow, flowWith } from '../../../domain/conversation/flow.ts';
import type {
  ReadTemplates,
  TemplateStatus,
  TemplatesRead,
} from '../../../domain/message/channel-templates.ts';
import { composeMessage } from '../../../domain/message/compose-message.ts';
import type { TemplateKind } from '../../../domain/message/notify.ts';
import type { MessageLanguage, OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import {
  type Brand,
  type EffectiveBrand,
  effectiveBrand,
  typesAndLanguages,
} from '../../../domain/partner/brand.ts';
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { toPhone } from '../../../domain/phone/phone.ts';
import { BUILT_IN_REASONS } from '../../../domain/scorecard/reasons.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { parseOperatorJson } from '../../../ground/base/operator-json.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { type BrandFault, brandFaults, faultText } from '../rules/check-brand.ts';
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
  return checkedBrand(value, `the brand file ${source}`);
}

/** A parsed value as a brand. Throws `OperatorError` with the place and the reason of every fault. */
export function checkedBrand(value: unknown, what: string): Brand {
  const faults = brandFaults(value);
  if (faults.length > 0) throw new OperatorError(`${what}: ${faults.map(faultText).join('; ')}`);
  return value as Brand;
}

/** The brand of a key. Throws `OperatorError`. */
export async function showBrand(context: OperatorContext, keyId: KeyId): Promise<KeyBrand> {
  return keyBrand(await requireKey(context, keyId));
}

/**
 * Gives a key another brand, which also applies to messages that are not sent yet. `checkedBrand` makes `brand`. `was`:
 * the brand that the operator changed; absent: whatever the key has. Throws `OperatorError`, also if it has another one
 * by now.
 */
export async function setBrand(
  context: OperatorContext,
  keyId: KeyId,
  brand: Brand,
  was?: Brand,
): Promise<KeyBrand> {
  const key = await setStoredBrand(context.database, context.vault, keyId, brand, was);
  if (key !== null) return keyBrand(key);
  await requireKey(context, keyId);
  throw new OperatorError(`key ${keyId} got another brand meanwhile: look at it again`, 'brand_changed');
}

/** A template that is held because the channel refused it. */
export interface PausedTemplate {
  readonly name: string;
  /** The channel's code. */
  readonly reason: string;
  readonly pausedAt: Date;
}

/** Which of these templates are held. The messages know. */
export type PausedAmong = (session: Session, names: readonly string[]) => Promise<readonly PausedTemplate[]>;

/** What is known of templates: by what sends told, and by what the channel says. */
export interface KnownTemplates {
  readonly pausedAmong: PausedAmong;
  readonly readTemplates: ReadTemplates;
}

/** A template as a brand names it, and what is known of it. */
export interface BrandTemplate {
  readonly kind: TemplateKind;
  readonly language: MessageLanguage;
  readonly name: string;
  /** The code under which it was approved, such as es_CO. */
  readonly code: string;
  /** What the channel says of it; `missing`: it has none of this name and language; null: it was not read. */
  readonly status: TemplateStatus | 'missing' | null;
  /** null: the channel has refused no message with it, or its messages were let go since. */
  readonly paused: Omit<PausedTemplate, 'name'> | null;
}

/** What a brand that is not stored would do. `shown` is null where it has faults. */
export interface BrandLook {
  readonly faults: readonly BrandFault[];
  readonly shown: {
    readonly previews: readonly Preview[];
    readonly templates: readonly BrandTemplate[];
    /** Whether the channel told its templates. */
    readonly channel: TemplatesRead['kind'];
  } | null;
}

/** Checks a brand for a key, and shows its messages and templates. Stores nothing. Throws `OperatorError`. */
export async function lookAtBrand(
  context: OperatorContext,
  { keyId, partnerId }: { readonly keyId: KeyId; readonly partnerId: PartnerId },
  value: unknown,
  { pausedAmong, readTemplates }: KnownTemplates,
): Promise<BrandLook> {
  const { partner } = await requireKey(context, keyId, partnerId);
  const faults = brandFaults(value);
  if (faults.length > 0) return { faults, shown: null };
  const brand = effectiveBrand(value as Brand, partner.name);
  const names = [...new Set(Object.values(brand.templates).map(({ name }) => name))];
  const [paused, read] = await Promise.all([pausedAmong(context.database, names), readTemplates()]);
  const templates = [...typesAndLanguages()].map(([kind, language]) => {
    const { name, languages } = brand.templates[kind];
    const held = paused.find((one) => one.name === name) ?? null;
    const code = languages[language];
    return { kind, language, name, code, status: statusOf(read, name, code), paused: held };
  });
  return { faults, shown: { previews: previewsOf(brand), templates, channel: read.kind } };
}

function statusOf(read: TemplatesRead, name: string, code: string): BrandTemplate['status'] {
  if (read.kind !== 'read') return null;
  const found = read.templates.find((one) => one.name === name && one.language === code);
  return found?.status ?? 'missing';
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
