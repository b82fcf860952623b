/** Answers the requests that read a partner's events and one application, after their admission (D41). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FeedQuery, renderApplication, renderFeed } from '../contract/partner-reads.ts';
import { RequestError } from '../contract/request.ts';
import type { Feed, Pace, PartnerApplication } from '../events/uses/partner-events.ts';
import { inTime } from '../gate/in-time.ts';
import type { Credential } from '../partners/rules/credential.ts';
import { json } from './partner-requests.ts';

/** The use cases behind the requests. */
export interface PartnerReads {
  readonly feed: (partnerId: number, query: FeedQuery, pace: Pace) => Promise<Feed>;
  readonly application: (partnerId: number, id: string) => Promise<PartnerApplication | null>;
}

const PROBLEMS = { bad_cursor: 'bad_cursor', gone: 'cursor_gone' } as const;

/** Answers with a page of the partner's events. */
export async function getEvents(
  { feed }: PartnerReads,
  query: FeedQuery,
  { credential, pace }: { readonly credential: Credential; readonly pace: Pace },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const found = await inTime(request.deadline, feed(credential.partner.id, query, pace));
  if (found.kind !== 'page') throw new RequestError(PROBLEMS[found.kind]);
  return json(reply, renderFeed(found));
}

/** Answers with one of the partner's applications. `id` is a text that the partner sent. */
export async function getApplication(
  { application }: PartnerReads,
  id: string,
  credential: Credential,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const found = await inTime(request.deadline, application(credential.partner.id, id));
  if (found === null) throw new RequestError('not_found');
  return json(reply, renderApplication(found, request.language));
}
