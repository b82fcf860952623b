/**
 * Answers the two requests of partners, a batch and the quota, after their admission (contract, "Endpoints"; D24,
 * D36).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BatchRequest, BatchResult } from '../applications/uses/ingest-batch.ts';
import { chooseLanguage } from '../contract/language.ts';
import {
  checkContentType,
  checkIdempotencyKey,
  RequestError,
  readSubmittedBatch,
} from '../contract/request.ts';
import { renderBatch, renderQuota } from '../contract/response.ts';
import type { FaultText } from '../contract/texts.ts';
import { inTime } from '../gate/in-time.ts';
import type { Credential, Environment } from '../partners/rules/credential.ts';
import type { Quota } from '../partners/uses/quota-status.ts';

/** The use cases behind the two requests. */
export interface PartnerService {
  readonly ingest: (request: BatchRequest) => Promise<BatchResult>;
  readonly quota: (credential: Credential) => Promise<Quota>;
}

/** Answers with the quota of the key's partner. */
export async function getQuota(
  service: PartnerService,
  environment: Environment,
  credential: Credential,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const quota = await inTime(request.deadline, service.quota(credential));
  const { name, country } = credential.partner;
  return json(
    reply,
    renderQuota({ ...quota, partnerName: name, partnerCountry: country }, request.language, environment),
  );
}

/** Registers a batch, or on `/DEV` tells the outcomes that production would have. */
export async function postBatch(
  service: PartnerService,
  faultText: FaultText,
  environment: Environment,
  credential: Credential,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const sentKey = request.headers['idempotency-key'] as string | undefined;
  const idempotencyKey = environment === 'PRO' ? checkIdempotencyKey(sentKey) : null;
  checkContentType(request.headers['content-type']);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const submitted = readSubmittedBatch(body);
  const language = chooseLanguage(credential.language, submitted.language);
  request.language = language;
  const result = await service.ingest({
    credential,
    environment,
    elements: submitted.elements,
    language,
    idempotencyKey,
    body,
    deadline: request.deadline,
  });
  if (result.kind === 'key_died') throw new RequestError('unauthorized');
  if (result.kind === 'idempotency_reuse') throw new RequestError('idempotency_reuse');
  request.outcomes = result.outcomes;
  if (result.replayed) reply.header('Idempotency-Replayed', 'true');
  return json(reply, renderBatch(result.outcomes, result.language, environment, faultText));
}

/** Sends JSON text. Uses its own serializer, because Fastify would add a charset to the contract's content type. */
export function json(reply: FastifyReply, text: string) {
  // A text goes out in one piece with the head. Bytes would be copied twice.
  return reply.header('Content-Type', 'application/json').serializer(asItIs).send(text);
}

function asItIs(text: string): string {
  return text;
}
