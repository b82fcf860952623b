/** The schemas of the operator API's routes about what policies decided and would decide. Pure. */
import { type Static, Type } from 'typebox';
import type { Cube } from '../../../domain/scorecard/what-if.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { Activation, Version, Who } from '../../policies/routes/forms.ts';
import { MOST_DAYS } from '../rules/shadow-days.ts';

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

/** By the decision before, then by the one after, in the order of `approved`, `in_review`, `rejected`. */
const Matrix = Type.Array(Type.Array(Type.Integer()));

const Shadow = form({
  id: Type.Integer(),
  version: Type.String(),
  /** The version whose decisions are those before. */
  live: Type.String(),
  state: oneOf(['running', 'ending', 'ended']),
  ended_why: orNull(oneOf(['stopped', 'end_date', 'activation', 'card_failed'])),
  started_at: Time,
  ends_at: Time,
  ended_at: orNull(Time),
  applications: Type.Integer(),
  matrix: Matrix,
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
  versions: Type.Array(
    form({
      version: Type.String(),
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
  shadows: Type.Array(Shadow),
});

export const TrialsQuery = form({ version: Version });

const Share = form({
  name: Type.String(),
  applications: Type.Integer(),
  /** Those that were approved, and those that would be, with the 95 % interval of their share. */
  before: Type.Integer(),
  after: Type.Integer(),
  low: Type.Number(),
  high: Type.Number(),
});

export const Trials = form({
  /** What this process tries, and what failed a moment ago. */
  runs: Type.Array(
    form({
      version: Type.String(),
      since: orNull(Type.String()),
      applications: Type.Integer(),
      has_failed: Type.Boolean(),
    }),
  ),
  /** The newest backtests of the version. */
  backtests: Type.Array(
    form({
      id: Type.Integer(),
      /** Whether the version is still what was tried. */
      is_current: Type.Boolean(),
      since: orNull(Type.String()),
      at: Time,
      by: Who,
      applications: Type.Integer(),
      matrix: Matrix,
      /** The debts, in US dollars. */
      usd: Type.Array(Type.Array(Type.Number())),
      reviews_a_day: form({ before: Type.Number(), after: Type.Number() }),
      currencies: Type.Array(Share),
      partners: Type.Array(Share),
      months: Type.Array(Share),
    }),
  ),
  shadows: Type.Array(Shadow),
});

export const NewBacktest = form({
  version: Version,
  /** The first day of the registrations, in UTC; null: all. */
  since: orNull(Type.String({ format: 'date' })),
});

export const NewShadow = form({
  version: Version,
  days: Type.Integer({ minimum: 1, maximum: MOST_DAYS }),
});

export const ShadowEnd = form({ version: Version });

export type HistoryReply = Static<typeof History>;
export type DifferenceReply = Static<typeof Difference>;
export type WatchReply = Static<typeof Watch>;
export type ShadowReply = Static<typeof Shadow>;
export type TrialsReply = Static<typeof Trials>;
export type BacktestReply = TrialsReply['backtests'][number];
