/**
 * Answers `GET /PRO/events`, after the request's admission (D41; contract, "Read the events"). `uses/partner-events.ts`
 * reads the store.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type FeedQuery, renderFeed } from '../../../wire/contract/partner-reads.ts';
import { RequestError } from '../../../wire/contract/request.ts';
import { inTime } from '../../../wire/gate/in-time.ts';
import { json } from '../../../wire/gate/json.ts';
import type { Feed, Pace } from '../uses/partner-events.ts';

/** The use case behind the request. */
export interface FeedService {
  readonly clock: Clock;
  readonly feed: (partnerId: PartnerId, query: FeedQuery, pace: Pace) => Promise<Feed>;
}

const PROBLEMS = { bad_cursor: 'bad_cursor', gone: 'cursor_gone' } as const;

/** Answers with a page of the partner's events. */
export async function getEvents(
  { clock, feed }: FeedService,
  query: FeedQuery,
  { credential, pace }: { readonly credential: Credential; readonly pace: Pace },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const found = await inTime(clock, request.deadline, feed(credential.partner.id, query, pace));
  if (found.kind !== 'page') throw new RequestError(PROBLEMS[found.kind]);
  return json(reply, renderFeed(found));
}
