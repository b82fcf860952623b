/** One request with a batch, and its answer as the rules know it. */
import { createHash } from 'node:crypto';
import type { Answer, Call, Outcome, SentApplication } from '../../history/history.ts';
import { ANSWER_WITHIN_MS, type PartnerKey, type World } from './world.ts';

const DUPLICATE = 'a request already exists for this messaging-channel number';
const OVER_QUOTA = 'quota_partner_exceeded';

interface Body {
  readonly results: readonly ({ readonly id_number: string } & Omit<
    Extract<Outcome, { kind: 'registered' }>,
    'kind'
  >)[];
  readonly errors_detail?: readonly { readonly id_number: string; readonly error: string }[];
}

export interface Request {
  readonly url: string;
  readonly partner: PartnerKey;
  readonly key: string | null;
  readonly body: string;
  readonly sent: readonly SentApplication[];
  /** The client leaves after this time. */
  readonly leaveAfterMs: number;
}

/** Sends the batch, and holds the promises that concern every request. */
export async function call(world: World, request: Request): Promise<Call> {
  const { recorder, promises } = world;
  const fromMs = recorder.nowMs();
  const answer = await post(request).catch(() => null);
  const toMs = recorder.nowMs();
  const ms = toMs - fromMs;
  promises.hold('answered', ms < ANSWER_WITHIN_MS, () => `POST after ${Math.round(ms)} ms`);
  const isRight = answer === null || answer.status === 200 || answer.status === 500;
  promises.hold('statuses', isRight, () => `${answer?.status} to ${request.partner.name}`);
  const made = { fromMs, toMs, answer };
  recorder.noteCall(made);
  return made;
}

async function post({ url, partner, key, body, sent, leaveAfterMs }: Request): Promise<Answer> {
  const headers = { 'X-API-Key': partner.apiKey, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/PRO`, {
    method: 'POST',
    headers: key === null ? headers : { ...headers, 'Idempotency-Key': key },
    body,
    signal: AbortSignal.timeout(leaveAfterMs),
  });
  const text = await response.text();
  return {
    status: response.status,
    isReplay: response.headers.get('Idempotency-Replayed') === 'true',
    digest: createHash('sha256').update(text).digest('base64url'),
    outcomes: response.status === 200 ? outcomesIn(JSON.parse(text) as Body, sent) : null,
  };
}

/** The answer has results and errors apart; the rules have them by position. */
function outcomesIn(
  { results, errors_detail: errors = [] }: Body,
  sent: readonly SentApplication[],
): Outcome[] {
  const registered = new Map(results.map((result) => [result.id_number, result]));
  const refused = new Map(errors.map(({ id_number, error }) => [id_number, error]));
  return sent.map(({ idNumber }): Outcome => {
    const result = registered.get(idNumber);
    if (result !== undefined) {
      const { id, score, decision, status } = result;
      return { kind: 'registered', id, score, decision, status };
    }
    const error = refused.get(idNumber);
    if (error === undefined) throw new Error(`the answer lacks the application of ${idNumber}`);
    return { kind: error === DUPLICATE ? 'duplicate' : error === OVER_QUOTA ? 'over_quota' : 'invalid' };
  });
}
