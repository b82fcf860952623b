/**
 * The form of each request of the simulator's page, by the last part of its path. Loads 680 modules of `typebox`, so
 * only a service whose page somebody opens loads this file.
 */
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import type { MessageId } from '../applications/rules/ids.ts';
import { MAX_DELAY_MS } from './simulator.ts';

const strict = { additionalProperties: false };
const Id = Type.Unsafe<MessageId>(Type.String({ pattern: '^[1-9][0-9]{0,16}$' }));
const Share = Type.Number({ minimum: 0, maximum: 1 });

const FORMS = {
  chats: Type.Object({ phone: Type.Optional(Type.String({ maxLength: 64 })) }, strict),
  tap: Type.Object({ messageId: Id, button: Type.Integer({ minimum: 0, maximum: 9 }) }, strict),
  open: Type.Object({ messageId: Id }, strict),
  text: Type.Object({ messageId: Id, body: Type.String({ minLength: 1, maxLength: 1_000 }) }, strict),
  release: Type.Object({}, strict),
  faults: Type.Object(
    {
      failShare: Share,
      delayMs: Type.Integer({ minimum: 0, maximum: MAX_DELAY_MS }),
      lostShare: Share,
      doubledShare: Share,
    },
    strict,
  ),
};

export type FormName = keyof typeof FORMS;
export type Form<Name extends FormName> = Static<(typeof FORMS)[Name]>;

/** Whether a query or a body has the form. */
export function hasForm<Name extends FormName>(name: Name, value: unknown): value is Form<Name> {
  return Value.Check(FORMS[name], value);
}
