/** The forms of what a partner asked lately (docs/operators.md, "Requests"). Pure. */
import { type Static, Type } from 'typebox';
import { form, orNull, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import type { listRequests } from '../uses/requests.ts';

export const MOST_REQUESTS = 100;

const Uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const Count = Type.Integer({ minimum: 0 });

export const RequestsQuery = form({
  /** The `X-Request-Id` of one request. */
  request_id: Type.Optional(Uuid),
  cursor: Type.Optional(Uuid),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_REQUESTS })),
});

export const Requests = form({
  /** The newest first. */
  requests: Type.Array(
    form({
      request_id: Type.String(),
      key_id: Type.Integer(),
      /** When its answer was sent. */
      at: Time,
      method: Type.String(),
      route: Type.String(),
      status: Type.Integer(),
      duration_ms: Count,
      /** Why it was refused as a whole: a code; null: it was not. */
      problem: orNull(Type.String()),
      /** The answer was one of before, by its Idempotency-Key. */
      replayed: Type.Boolean(),
      /** Of a batch: how many elements it had, and how many of them had which outcome; null: it was no batch. */
      elements: orNull(Count),
      outcomes: orNull(
        form({
          registered: Count,
          duplicate: Count,
          over_quota: Count,
          invalid: Count,
          not_an_object: Count,
        }),
      ),
      /** How many elements broke which rule, by the names and codes of D55. */
      errors: Type.Array(form({ field: Type.String(), code: Type.String(), elements: Count })),
    }),
  ),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
});
export type RequestsReply = Static<typeof Requests>;

/** A page of requests as the answer has it. */
export function requestsReply({ requests, next }: Awaited<ReturnType<typeof listRequests>>): RequestsReply {
  return inForm(Requests, {
    requests: requests.map(({ counts, faults, ms, ...request }) => ({
      ...request,
      durationMs: ms,
      elements: counts && Object.values(counts).reduce((sum, count) => sum + count, 0),
      outcomes: counts,
      errors: Object.entries(faults ?? {}).map(([broken, elements]) => {
        const [field = '', code = ''] = broken.split('.');
        return { field, code, elements };
      }),
    })),
    next,
  });
}
