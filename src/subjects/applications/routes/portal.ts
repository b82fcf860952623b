/**
 * The route of the portal that takes a batch (D54, docs/portal.md): as `POST /PRO` and `POST /DEV` do with a key of the
 * session's partner, which the account names by its id. The acts are recorded, the requests noted.
 */
import { Type } from 'typebox';
import type { NamedField } from '../../../domain/application/fields.ts';
import type { Outcome } from '../../../domain/application/read-application.ts';
import { ENVIRONMENTS, toKeyId } from '../../../domain/partner/credential.ts';
import { noting } from '../../../program/operations/acting.ts';
import { RequestError } from '../../../wire/contract/request.ts';
import { NAMES } from '../../../wire/contract/response.ts';
import {
  asksForCodes,
  faultTexts,
  MAX_APPLICATIONS,
  MAX_BODY_BYTES,
  requestStatus,
  requestText,
} from '../../../wire/contract/texts.ts';
import type { Admission } from '../../../wire/gate/admission.ts';
import { costOf } from '../../../wire/gate/admission.ts';
import { inTurn } from '../../../wire/gate/in-turn.ts';
import { form, oneOf } from '../../../wire/operator/form.ts';
import { type Answer, type Call, type Route, route } from '../../../wire/operator/route.ts';
import { actingBy, answered, type PartnerDesk } from '../../partners/routes/answered.ts';
import { notedOutcomes } from '../../partners/routes/noted-outcomes.ts';
import { chosenKey, endedKey } from '../../partners/uses/authenticate.ts';
import type { RequestLog } from '../../partners/uses/request-log.ts';
import { answerBatch, type BatchService, readBatch } from './post-batch.ts';

/** What the route shares with the partners' listener of the process. */
export interface BatchIntake extends BatchService {
  readonly fields: readonly NamedField[];
  readonly admission: Admission;
  readonly requests: Pick<RequestLog, 'hasRoom' | 'add'>;
  /** Makes an X-Request-Id. */
  readonly newRequestId: () => string;
}

const PATH = '/batches';
const Count = Type.Integer({ minimum: 0, maximum: MAX_APPLICATIONS });
const Entries = Type.Array(Type.Object({}), { maxItems: MAX_APPLICATIONS });

/** As the contract has it: an entry of `results` or `errors_detail` has its members. */
const answerIn = (names: (typeof NAMES)[keyof typeof NAMES]) =>
  Type.Object({
    [names.processed]: Count,
    [names.errors]: Count,
    [names.results]: Entries,
    [names.errors_detail]: Type.Optional(Entries),
    mode: Type.Optional(Type.Literal('dev')),
  });
const BatchAnswer = Type.Union([answerIn(NAMES.en), answerIn(NAMES.es)]);

const Choice = form({
  /** The id of a live key of the partner. */
  key: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  environment: oneOf(ENVIRONMENTS),
});

/** The route. */
export function portalBatchRoutes(desk: PartnerDesk & BatchIntake): Route[] {
  return [
    route({
      method: 'POST',
      path: PATH,
      access: 'owner',
      headers: ['Idempotency-Key'],
      failures: [404],
      conflicts: ['key_ended', 'other_environment'],
      maxBodyBytes: MAX_BODY_BYTES,
      summary:
        'Sends a batch as POST /PRO or POST /DEV does with this key: the body, the answer and the Idempotency-Key are those of the contract.',
      query: Choice,
      bytes: Type.Object({ applications: Entries }),
      reply: BatchAnswer,
      run: (call) => answered(() => sendBatch(desk, call)),
    }),
  ];
}

async function sendBatch(
  desk: PartnerDesk & BatchIntake,
  call: Call<unknown, { key: number; environment: (typeof ENVIRONMENTS)[number] }, 'owner'>,
): Promise<Answer<never>> {
  const { clock, admission, requests, newRequestId } = desk;
  const { environment, key } = call.query;
  const { headers, deadline, isGone } = call.sent;
  const { partnerId } = call.session;
  const credential = await chosenKey(desk, { partnerId, keyId: toKeyId(key) }, environment);
  const beganAt = clock.monotonicMs();
  const requestId = newRequestId();
  const note = (
    status: number,
    problem: string | null,
    outcomes: readonly Outcome[] | null,
    replayed: boolean,
  ) => {
    if (!requests.hasRoom(partnerId, credential.keyId)) return;
    requests.add({
      ...{
        requestId,
        partnerId,
        keyId: credential.keyId,
        method: 'POST',
        route: `/api${PATH}`,
        status,
        problem,
        replayed,
      },
      ms: clock.monotonicMs() - beganAt,
      ...notedOutcomes(outcomes),
    });
  };
  try {
    await admission.check(partnerId, costOf(0), () => {});
    const bodyBytes = Buffer.isBuffer(call.body) ? call.body.length : 0;
    const answer = await inTurn(admission, { partnerId, bodyBytes, deadline, isGone }, async () => {
      const batch = readBatch({ credential, environment, headers, body: call.body, deadline });
      // Before the batch, because its statement is shared with others: an act without a record must not be.
      if (environment === 'PRO')
        await noting(actingBy(desk, call), {
          act: 'batch send',
          target: `key ${key}, applications: ${batch.elements.length}`,
        });
      return answerBatch(desk, faultTexts(desk.fields), batch, headers.accept);
    });
    note(200, null, answer.outcomes, 'Idempotency-Replayed' in answer.headers);
    return { body: answer.body as never, headers: { ...answer.headers, 'X-Request-Id': requestId } };
  } catch (error) {
    if (!(error instanceof RequestError)) {
      note(500, 'internal', null, false);
      throw error;
    }
    const { problem } = error;
    if (problem === 'unauthorized') throw endedKey(credential.keyId);
    const status = requestStatus(problem);
    note(status, problem, null, false);
    const text = requestText(problem, error.language ?? 'en');
    return { status, body: { error: text, ...(asksForCodes(headers.accept) && { code: problem }) } };
  }
}
