/**
 * Answers `POST /PRO` and `POST /DEV`, after the request's admission (contract, "Submit a batch"; D24, D36). The portal
 * takes batches by the same functions. `uses/ingest-batch.ts` does the work.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Outcome } from '../../../domain/application/read-application.ts';
import type { Credential, Environment } from '../../../domain/partner/credential.ts';
import {
  checkContentType,
  checkIdempotencyKey,
  RequestError,
  readSubmittedBatch,
} from '../../../wire/contract/request.ts';
import { batchAnswer } from '../../../wire/contract/response.ts';
import { asksForCodes, chooseLanguage, type FaultText } from '../../../wire/contract/texts.ts';
import { json } from '../../../wire/gate/json.ts';
import type { BatchRequest, BatchResult } from '../uses/ingest-batch.ts';

/** The use cases behind the request. */
export interface BatchService {
  readonly ingest: (request: BatchRequest) => Promise<BatchResult>;
  /** Headers about what is left of the key's cap (D55). Never throws. */
  readonly quotaHeaders: (credential: Credential, deadline: number) => Promise<Record<string, string>>;
}

/** A batch as it was sent. */
interface SentBatch {
  readonly credential: Credential;
  readonly environment: Environment;
  readonly headers: IncomingHttpHeaders;
  /** The bytes. */
  readonly body: unknown;
  /** On `Clock.monotonicMs`. */
  readonly deadline: number;
}

/** Reads the headers and the body of a batch. Throws `RequestError`. */
export function readBatch({
  credential,
  environment,
  headers,
  body: sent,
  deadline,
}: SentBatch): BatchRequest {
  const sentKey = headers['idempotency-key'] as string | undefined;
  const idempotencyKey = environment === 'PRO' ? checkIdempotencyKey(sentKey) : null;
  checkContentType(headers['content-type']);
  const body = Buffer.isBuffer(sent) ? sent : Buffer.alloc(0);
  const submitted = readSubmittedBatch(body, headers['content-encoding']);
  const language = chooseLanguage(credential.language, submitted.language);
  const { elements } = submitted;
  return { credential, environment, elements, language, idempotencyKey, body, deadline };
}

/** What is told of a batch. */
interface BatchReply {
  readonly outcomes: readonly Outcome[];
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Registers a batch, or on `/DEV` tells the outcomes that production would have. `accept` is the request's header.
 * Throws `RequestError` and what `ingestBatch` throws.
 */
export async function answerBatch(
  service: BatchService,
  faultText: FaultText,
  batch: BatchRequest,
  accept: string | undefined,
): Promise<BatchReply> {
  const result = await service.ingest(batch);
  if (result.kind === 'dead_key') throw new RequestError('unauthorized');
  if (result.kind === 'idempotency_reuse') throw new RequestError('idempotency_reuse');
  const { outcomes, language, replayed } = result;
  const { credential, environment, deadline } = batch;
  const withCodes = asksForCodes(accept);
  return {
    outcomes,
    body: batchAnswer(outcomes, language, environment, faultText, withCodes),
    headers: {
      ...(replayed && { 'Idempotency-Replayed': 'true' }),
      ...(withCodes && (await service.quotaHeaders(credential, deadline))),
    },
  };
}

/** Answers a batch of a partner's request. */
export async function postBatch(
  service: BatchService,
  faultText: FaultText,
  environment: Environment,
  credential: Credential,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { headers, body, deadline } = request;
  const batch = readBatch({ credential, environment, headers, body, deadline });
  request.language = batch.language;
  const answer = await answerBatch(service, faultText, batch, headers.accept);
  request.outcomes = answer.outcomes;
  reply.headers(answer.headers);
  return json(reply, JSON.stringify(answer.body));
}
