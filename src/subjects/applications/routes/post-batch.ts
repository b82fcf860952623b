/**
 * Answers `POST /PRO` and `POST /DEV`, after the request's admission (contract, "Submit a batch"; D24, D36).
 * `uses/ingest-batch.ts` does the work.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, Environment } from '../../../domain/partner/credential.ts';
import {
  checkContentType,
  checkIdempotencyKey,
  RequestError,
  readSubmittedBatch,
} from '../../../wire/contract/request.ts';
import { renderBatch } from '../../../wire/contract/response.ts';
import { asksForCodes, chooseLanguage, type FaultText } from '../../../wire/contract/texts.ts';
import { json } from '../../../wire/gate/json.ts';
import type { BatchRequest, BatchResult } from '../uses/ingest-batch.ts';

/** The use cases behind the request. */
export interface BatchService {
  readonly ingest: (request: BatchRequest) => Promise<BatchResult>;
  /** Headers about what is left of the key's cap (D55). Never throws. */
  readonly quotaHeaders: (credential: Credential, deadline: number) => Promise<Record<string, string>>;
}

/** Registers a batch, or on `/DEV` tells the outcomes that production would have. */
export async function postBatch(
  service: BatchService,
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
  const submitted = readSubmittedBatch(body, request.headers['content-encoding']);
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
  if (result.kind === 'dead_key') throw new RequestError('unauthorized');
  if (result.kind === 'idempotency_reuse') throw new RequestError('idempotency_reuse');
  request.outcomes = result.outcomes;
  if (result.replayed) reply.header('Idempotency-Replayed', 'true');
  const withCodes = asksForCodes(request.headers.accept);
  if (withCodes) reply.headers(await service.quotaHeaders(credential, request.deadline));
  return json(reply, renderBatch(result.outcomes, result.language, environment, faultText, withCodes));
}
