/**
 * Turns every failure of a partner's request into an answer, a log line or a closed connection (D1, D3, D15, D20,
 * D24, D37, D38). Touches the reply and the log alone; `wire/contract/texts.ts` has the texts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { SandboxFailure } from '../../domain/application/sandbox.ts';
import { errorFields } from '../../ground/base/describe-error.ts';
import { InDoubtError, OverloadError, UnavailableError } from '../../ground/base/registration-failure.ts';
import { type LogFailure, temporaryTrouble } from '../../program/operations/failure-log.ts';
import { OtherEnvironmentError } from '../../subjects/partners/uses/authenticate.ts';
import { RequestError } from '../../wire/contract/request.ts';
import {
  asksForCodes,
  chooseLanguage,
  type RequestProblem,
  requestStatus,
  requestText,
} from '../../wire/contract/texts.ts';

/** The problems that Fastify finds before a handler runs. */
const LIBRARY_PROBLEMS: Readonly<Record<string, RequestProblem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'content_type',
  FST_ERR_BAD_URL: 'not_found',
};

const RETRY_AFTER_SECONDS = 1;

interface Presenting {
  readonly basePath: string;
  readonly log: Logger;
  readonly logFailure: LogFailure;
}

/** Answers a failure. Closes the connection if the outcome is not known, because no answer would be true. */
export function presentError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { basePath, log, logFailure }: Presenting,
): FastifyReply {
  if (error instanceof InDoubtError) {
    log.error({ request_id: request.id, error: errorFields(error) }, 'outcome in doubt, connection closed');
    request.problem = 'in_doubt';
    reply.hijack();
    request.raw.socket.destroy();
    return reply;
  }
  const problem = hasLeft(error, request) ? 'bad_request' : problemOf(error);
  request.problem = problem;
  if (problem === 'internal') {
    const trouble = temporaryTrouble(error);
    if (trouble !== null) reply.header('Retry-After', String(retryAfterOf(error)));
    if (error instanceof OverloadError) {
      // Admission logs refusals together, because a log line for each would add to the overload.
      request.problem = 'overload';
    } else if (error instanceof SandboxFailure) {
      // No log line, because a partner's rehearsal is not a failure for the operator.
      request.problem = 'sandbox';
    } else {
      const fields = { request_id: request.id, error: errorFields(error) };
      if (trouble !== null) logFailure(trouble, fields);
      else log.error(fields, 'request failed');
    }
  }
  const text = requestText(problem, languageOf(error, request, problem), {
    bytes: request.routeOptions.bodyLimit,
    base: basePath,
  });
  const answer = asksForCodes(request.headers.accept) ? { error: text, code: problem } : { error: text };
  return reply
    .status(requestStatus(problem))
    .header('Content-Type', 'application/json')
    .send(Buffer.from(JSON.stringify(answer)));
}

function retryAfterOf(error: unknown): number {
  return error instanceof UnavailableError ? error.retryAfterSeconds : RETRY_AFTER_SECONDS;
}

/** True if the client left in the middle of its body, which is no failure of the service. */
function hasLeft(error: unknown, request: FastifyRequest): boolean {
  const reset = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
  return reset && request.raw.destroyed && !request.raw.complete;
}

function problemOf(error: unknown): RequestProblem {
  if (error instanceof RequestError) return error.problem;
  if (error instanceof OtherEnvironmentError)
    return error.environment === 'PRO' ? 'key_for_pro' : 'key_for_dev';
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return LIBRARY_PROBLEMS[code] ?? 'internal';
}

/** The key's pinned language, else that of the root name. For a body that is too large to read it is English. */
function languageOf(error: unknown, request: FastifyRequest, problem: RequestProblem) {
  const setting = request.credential?.language ?? 'auto';
  if (error instanceof RequestError && error.language !== null)
    return chooseLanguage(setting, error.language);
  return problem === 'too_large' ? chooseLanguage(setting, 'en') : request.language;
}
