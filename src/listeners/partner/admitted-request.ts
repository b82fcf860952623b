/**
 * Takes a partner's request to its work: checks its key, then waits for its turn (contract, "Authentication"; D2, D37).
 * Touches the request; `authenticate` asks the database.
 */
import type { FastifyRequest } from 'fastify';
import type { Credential, Environment } from '../../domain/partner/credential.ts';
import type { Clock } from '../../ground/base/clock.ts';
import type { Pace } from '../../subjects/events/uses/partner-events.ts';
import type { Authenticate } from '../../subjects/partners/uses/authenticate.ts';
import { RequestError } from '../../wire/contract/request.ts';
import { chooseLanguage } from '../../wire/contract/texts.ts';
import { type Admission, costOf } from '../../wire/gate/admission.ts';
import { connectionOf } from '../../wire/gate/front-door.ts';
import { inTime } from '../../wire/gate/in-time.ts';
import { inTurn } from '../../wire/gate/in-turn.ts';

/** The most bytes of a refused request's body that are read; if more is to come, the connection is closed. */
export const UNWANTED_BYTES = 256 * 1024;

/** What the key's check needs. */
interface KeyCheck {
  readonly clock: Clock;
  readonly authenticate: Authenticate;
  readonly admission: Admission;
}

/** The credential that `checkKey` has found. */
export function credentialOf({ credential }: FastifyRequest): Credential {
  if (credential === null) throw new RequestError('unauthorized');
  return credential;
}

/**
 * The hook of a partner's route that checks the key before the body. Throws `RequestError` without a valid key,
 * `OtherEnvironmentError` with a key for the other environment, and `OverloadError` if the partner's backlog is too
 * long (D37).
 */
export function checkKey({ clock, authenticate, admission }: KeyCheck, environment: Environment) {
  return async (request: FastifyRequest) => {
    const apiKey = request.headers['x-api-key'];
    const found = authenticate(typeof apiKey === 'string' ? apiKey : undefined, environment);
    const credential = await inTime(clock, request.deadline, found);
    if (credential === null) throw new RequestError('unauthorized');
    request.credential = credential;
    request.language = chooseLanguage(credential.language, request.language);
    // The admission comes before the body is read, because a refused request does not need its body.
    await admission.check(credential.partner.id, costOf(0), () => {
      // Discard the body now, so that it does not stay in memory until the answer.
      if (connectionOf(request.raw).unread <= UNWANTED_BYTES) request.raw.resume();
    });
  };
}

/** Does the work of a request when its partner is admitted (D37). `events`: how many it may read. */
export async function whenAdmitted<T>(
  admission: Admission,
  request: FastifyRequest,
  work: (credential: Credential, pace: Pace) => Promise<T>,
  events = 0,
): Promise<T> {
  const { body, deadline } = request;
  const credential = credentialOf(request);
  const turn = {
    partnerId: credential.partner.id,
    bodyBytes: Buffer.isBuffer(body) ? body.length : 0,
    events,
    deadline,
    isGone: () => request.raw.socket.destroyed,
  };
  return inTurn(admission, turn, (pace) => work(credential, pace));
}
