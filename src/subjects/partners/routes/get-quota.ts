/**
 * Answers `GET /PRO` and `GET /DEV`, after the request's admission (contract, "Ask for the quota"; D22).
 * `uses/quota-status.ts` reads the store.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, Environment } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { renderQuota } from '../../../wire/contract/response.ts';
import { asksForCodes } from '../../../wire/contract/texts.ts';
import { inTime } from '../../../wire/gate/in-time.ts';
import { json } from '../../../wire/gate/json.ts';
import type { Quota } from '../uses/quota-status.ts';

/** The use case behind the request. */
export interface QuotaService {
  readonly clock: Clock;
  readonly quota: (credential: Credential) => Promise<Quota>;
}

/** Answers with the quota of the key's partner. */
export async function getQuota(
  service: QuotaService,
  environment: Environment,
  credential: Credential,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const quota = await inTime(service.clock, request.deadline, service.quota(credential));
  if (asksForCodes(request.headers.accept)) reply.headers(headersOf(quota));
  const { name, country } = credential.partner;
  return json(
    reply,
    renderQuota({ ...quota, partnerName: name, partnerCountry: country }, request.language, environment),
  );
}

/**
 * The headers of the profile `codes` beside the answer to a batch (D55). The batch is registered by then: an answer
 * without these headers is better than none.
 */
export async function quotaHeaders(
  service: QuotaService,
  credential: Credential,
  deadline: number,
): Promise<Record<string, string>> {
  if (credential.dailyCap === null) return {};
  return inTime(service.clock, deadline, service.quota(credential)).then(headersOf, () => ({}));
}

/** What is left of the daily cap, and when more of it is free; nothing of a key without a cap. */
function headersOf({ remaining, resetSeconds }: Quota): Record<string, string> {
  if (remaining === null) return {};
  const left = { 'X-Quota-Remaining': `${remaining}` };
  return resetSeconds === null ? left : { ...left, 'X-Quota-Reset': `${resetSeconds}` };
}
