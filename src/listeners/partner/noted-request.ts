/** What is noted of a partner's request when it is answered: no personal data, and nothing that it sent. Pure. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Outcome } from '../../domain/application/read-application.ts';
import type { Credential } from '../../domain/partner/credential.ts';
import type { NotedRequest } from '../../subjects/partners/uses/request-log.ts';
import { fieldError } from '../../wire/contract/texts.ts';

const COUNTED = {
  registered: 'registered',
  duplicate: 'duplicate',
  over_quota: 'overQuota',
  invalid: 'invalid',
  not_an_object: 'notAnObject',
} as const satisfies Record<Outcome['kind'], keyof NonNullable<NotedRequest['counts']>>;

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
    counts: outcomes && countsOf(outcomes),
    faults: outcomes && faultsOf(outcomes),
  };
}

function countsOf(outcomes: readonly Outcome[]): NonNullable<NotedRequest['counts']> {
  const counts = { registered: 0, duplicate: 0, overQuota: 0, invalid: 0, notAnObject: 0 };
  for (const { kind } of outcomes) counts[COUNTED[kind]] += 1;
  return counts;
}

/** By the documented name of the field and the code of its rule (D55). */
function faultsOf(outcomes: readonly Outcome[]): NotedRequest['faults'] {
  let faults: Record<string, number> | null = null;
  for (const outcome of outcomes) {
    if (outcome.kind !== 'invalid') continue;
    faults ??= {};
    for (const fault of outcome.faults) {
      const { name, code } = fieldError(fault);
      const broken = `${name}.${code}`;
      faults[broken] = (faults[broken] ?? 0) + 1;
    }
  }
  return faults;
}
