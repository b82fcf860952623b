/**
 * Answers `POST /PRO/applications/search` and the same on `/DEV`, after the request's admission (D56).
 * `uses/partner-search.ts` reads the store.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, Environment, PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type OwnSearch, renderFound } from '../../../wire/contract/partner-search.ts';
import { RequestError } from '../../../wire/contract/request.ts';
import { inTime } from '../../../wire/gate/in-time.ts';
import { json } from '../../../wire/gate/json.ts';
import type { OwnFound, Pace } from '../uses/partner-search.ts';

/** The use case behind the request. */
export interface SearchService {
  readonly clock: Clock;
  readonly search: (partnerId: PartnerId, search: OwnSearch, pace: Pace) => Promise<OwnFound | 'bad_cursor'>;
}

/** On `/DEV` nothing is stored, so nothing is found, and no cursor was given. */
const NOTHING: OwnFound = { applications: [], unreadable: [], next: null };

/** Answers with a page of the partner's own applications. */
export async function searchApplications(
  { clock, search }: SearchService,
  environment: Environment,
  asked: OwnSearch,
  { credential, pace }: { readonly credential: Credential; readonly pace: Pace },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const found =
    environment === 'PRO'
      ? await inTime(clock, request.deadline, search(credential.partner.id, asked, pace))
      : asked.cursor === null
        ? NOTHING
        : 'bad_cursor';
  if (found === 'bad_cursor') throw new RequestError('bad_page_cursor');
  return json(reply, renderFound(found, request.language, environment));
}
