/**
 * Answers `GET /PRO` and `GET /DEV`, after the request's admission (contract, "Ask for the quota"; D22).
 * `uses/quota-status.ts` reads the store.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, Environment } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { renderQuota } from '../../../wire/contract/response.ts';
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
  const { name, country } = credential.partner;
  return json(
    reply,
    renderQuota({ ...quota, partnerName: name, partnerCountry: country }, request.language, environment),
  );
}
