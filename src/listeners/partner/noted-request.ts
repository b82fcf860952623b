/** What is noted of a partner's request when it is answered: no personal data, and nothing that it sent. Pure. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential } from '../../domain/partner/credential.ts';
import { notedOutcomes } from '../../subjects/partners/routes/noted-outcomes.ts';
import type { NotedRequest } from '../../subjects/partners/uses/request-log.ts';

/** The request, whose answer has been sent under this credential. */
export function notedRequest(
  { id, method, routeOptions, problem, outcomes }: FastifyRequest,
  reply: FastifyReply,
  { partner, keyId }: Credential,
): NotedRequest {
  const { statusCode: status, elapsedTime: ms } = reply;
  return {
    ...{ requestId: id, partnerId: partner.id, keyId, method, status, ms, problem },
    route: routeOptions.url ?? '',
    replayed: reply.hasHeader('Idempotency-Replayed'),
    ...notedOutcomes(outcomes),
  };
}
