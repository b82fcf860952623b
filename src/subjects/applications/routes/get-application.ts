/**
 * Answers `GET /PRO/applications/{id}`, after the request's admission (D41). `uses/partner-application.ts` reads the
 * store.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { renderApplication } from '../../../wire/contract/partner-reads.ts';
import { RequestError } from '../../../wire/contract/request.ts';
import { inTime } from '../../../wire/gate/in-time.ts';
import { json } from '../../../wire/gate/json.ts';
import type { PartnerApplication } from '../uses/partner-application.ts';

/** The use case behind the request. */
export interface ApplicationService {
  readonly clock: Clock;
  readonly application: (partnerId: PartnerId, id: string) => Promise<PartnerApplication | null>;
}

/** Answers with one of the partner's applications. `id` is a text that the partner sent. */
export async function getApplication(
  { clock, application }: ApplicationService,
  id: string,
  credential: Credential,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const found = await inTime(clock, request.deadline, application(credential.partner.id, id));
  if (found === null) throw new RequestError('not_found');
  return json(reply, renderApplication(found, request.language));
}
