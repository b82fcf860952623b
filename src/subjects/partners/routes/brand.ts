/** The routes of the operator API about the brand of a key (docs/brand.md). `uses/brand.ts` does the work. */
import { type Static, Type } from 'typebox';
import { TEMPLATE_STATUSES } from '../../../domain/message/channel-templates.ts';
import { TEMPLATE_KINDS } from '../../../domain/message/notify.ts';
import { MESSAGE_LANGUAGES } from '../../../domain/message/outgoing-message.ts';
import { type Brand, type EffectiveBrand, effectiveBrand } from '../../../domain/partner/brand.ts';
import { acting } from '../../../program/operations/acting.ts';
import { form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { BRAND_FAULTS } from '../rules/check-brand.ts';
import { checkedBrand, type KnownTemplates, lookAtBrand, setBrand } from '../uses/brand.ts';
import { requireKey } from '../uses/keys.ts';
import { actingBy, answered, keyIdOf, type PartnerDesk, partnerIdOf } from './answered.ts';

const document = <T>() => Type.Unsafe<T>(Type.Record(Type.String(), Type.Unknown()));
/** What differs from the default; docs/brand.md has its form. */
const BrandFile = document<Brand>();

const ShownBrand = form({
  key_id: Type.Integer(),
  hint: Type.String(),
  partner: PartnerName,
  brand: BrandFile,
  /** What a part has that the brand leaves out. */
  defaults: document<EffectiveBrand>(),
});
export type BrandReply = Static<typeof ShownBrand>;

const Kind = oneOf(TEMPLATE_KINDS);
const MessageLanguage = oneOf(MESSAGE_LANGUAGES);
const Look = form({
  faults: Type.Array(
    form({
      /** Leads to the value, such as `texts.offer.es`; empty: the whole brand. */
      path: Type.String(),
      code: oneOf(BRAND_FAULTS),
      /** The reason in English. */
      text: Type.String(),
      about: orNull(Type.String()),
    }),
  ),
  /** The messages to a made-up applicant, and the templates of them; null: the brand has faults. */
  shown: orNull(
    form({
      previews: Type.Array(
        form({
          kind: Kind,
          language: MessageLanguage,
          text: Type.String(),
          buttons: Type.Array(Type.String()),
          parameters: Type.Array(Type.String()),
        }),
      ),
      templates: Type.Array(
        form({
          kind: Kind,
          language: MessageLanguage,
          name: Type.String(),
          /** Under which the channel approved it, such as es_CO. */
          code: Type.String(),
          /** What the channel says of it; null: it did not tell its templates. */
          status: orNull(oneOf([...TEMPLATE_STATUSES, 'missing'] as const)),
          /** The channel refused it, so its messages wait: since when, and the channel's code; null: it has not. */
          paused: orNull(form({ reason: Type.String(), paused_at: Time })),
        }),
      ),
      /** `not_asked`: there is no account to ask for. */
      channel: oneOf(['read', 'failed', 'not_asked'] as const),
    }),
  ),
});
export type BrandLookReply = Static<typeof Look>;

const Candidate = form({ brand: BrandFile });
/** `was`: the brand that was changed. */
const NewBrand = form({ brand: BrandFile, was: BrandFile });
const PATH = '/partners/{id}/keys/{key}/brand';
const ADMIN = { access: 'admin', failures: [404] } as const;

export function brandRoutes(desk: PartnerDesk, known: KnownTemplates): Route[] {
  const shownKey = async (params: Readonly<Record<string, string>>) => {
    const key = await requireKey(desk, keyIdOf(params), partnerIdOf(params));
    const { id: keyId, partner, ...rest } = key;
    return { ...rest, keyId, partner, defaults: effectiveBrand({}, partner.name) };
  };
  return [
    route({
      ...{ ...ADMIN, method: 'GET', path: PATH },
      summary: 'The brand of a key, and the defaults of what it leaves out.',
      reply: ShownBrand,
      run: ({ params }) => answered(async () => ({ body: inForm(ShownBrand, await shownKey(params)) })),
    }),
    route({
      ...{ ...ADMIN, method: 'POST', path: `${PATH}/look` },
      summary: 'The faults of a brand, or its messages to a made-up applicant. It stores nothing.',
      body: Candidate,
      reply: Look,
      run: (call) =>
        answered(async () => {
          const of = { keyId: keyIdOf(call.params), partnerId: partnerIdOf(call.params) };
          const { faults, shown } = await lookAtBrand(actingBy(desk, call), of, call.body.brand, known);
          const previews = shown?.previews.map(({ kind, language, message }) => ({
            ...{ kind, language, text: message.text, parameters: message.template.parameters },
            buttons: message.buttons.map(({ title }) => title),
          }));
          return { body: inForm(Look, { faults, shown: shown && { ...shown, previews: previews ?? [] } }) };
        }),
    }),
    route({
      ...{ ...ADMIN, method: 'PUT', path: PATH, needsFresh: true, conflicts: ['brand_changed'] },
      summary:
        'Gives a key another brand, also for messages that wait. It needs a sign-in of the last five minutes.',
      body: NewBrand,
      reply: ShownBrand,
      run: (call) =>
        answered(async () => {
          const brand = checkedBrand(call.body.brand, 'brand');
          const id = keyIdOf(call.params);
          await acting(
            actingBy(desk, call),
            async (part) => {
              await requireKey(part, id, partnerIdOf(call.params));
              return setBrand(part, id, brand, call.body.was);
            },
            () => ({ act: 'key brand set', target: `key ${id}` }),
          );
          return { body: inForm(ShownBrand, await shownKey(call.params)) };
        }),
    }),
  ];
}
