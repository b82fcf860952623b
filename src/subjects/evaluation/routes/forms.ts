/** The schemas of the operator API's routes about what policies decided and would decide. Pure. */
import { type Static, Type } from 'typebox';
import type { Cube } from '../../../domain/scorecard/what-if.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { Activation, Version } from '../../policies/routes/forms.ts';

/** A count that is not over: ask again in a second. */
const counting = { counting: Type.Boolean(), counted: Type.Integer(), since: orNull(Type.String()) };

export const HistoryQuery = form({ version: Version });
export const History = form({
  ...counting,
  cube: orNull(
    Type.Unsafe<Cube>(
      form({
        values: Type.Record(Type.String(), Type.Array(Type.String())),
        usd: Type.Array(Type.String()),
        shares: Type.Array(Type.String()),
        applications: Type.Integer(),
        /** A key and its count, one pair after the other. `domain/scorecard/what-if.ts` makes and reads the keys. */
        cells: Type.Array(Type.Integer()),
      }),
    ),
  ),
});

export const DifferenceQuery = form({ before: Version, after: Version });
export const Difference = form({
  ...counting,
  applications: orNull(Type.Integer()),
  /** The applications that the second version decides otherwise. */
  changed: orNull(Type.Integer()),
  differences: Type.Array(
    form({
      place: Type.String(),
      before: orNull(Type.String()),
      after: orNull(Type.String()),
      /** null: it is counted, or nobody can be counted. */
      applications: orNull(Type.Integer()),
    }),
  ),
});

const Drift = form({
  characteristic: Type.String(),
  psi: orNull(Type.Number()),
  threshold: orNull(Type.Number()),
  alert: Type.Boolean(),
});

export const Watch = form({
  ...counting,
  applications: Type.Integer(),
  days: Type.Array(
    form({
      day: Type.String(),
      approved: Type.Integer(),
      in_review: Type.Integer(),
      rejected: Type.Integer(),
    }),
  ),
  scores: Type.Array(Type.Integer()),
  reasons: Type.Array(
    form({
      code: Type.String(),
      count: Type.Integer(),
      /** null: no live text. */
      texts: orNull(form({ en: Type.String(), es: Type.String(), pt: Type.String() })),
    }),
  ),
  drift: orNull(
    form({
      version: Type.String(),
      baseline: Type.Integer(),
      applications: Type.Integer(),
      rows: Type.Array(Drift),
    }),
  ),
  activations: Type.Array(Activation),
  shadows: Type.Array(
    form({
      id: Type.Integer(),
      version: Type.String(),
      /** The version whose decisions are those before. */
      live: Type.String(),
      state: oneOf(['running', 'ending', 'ended']),
      ended_why: orNull(Type.String()),
      started_at: Time,
      ends_at: Time,
      applications: Type.Integer(),
      /** By the decision before, then by the one of the shadow, in the order of `approved`, `in_review`, `rejected`. */
      matrix: Type.Array(Type.Array(Type.Integer())),
    }),
  ),
});

export type HistoryReply = Static<typeof History>;
export type DifferenceReply = Static<typeof Difference>;
export type WatchReply = Static<typeof Watch>;
