/** The headers of requests and answers in the OpenAPI document (contract, "Headers"). Data alone. */

/** Headers of requests. */
export const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Your own name for this batch. The same value with the same bytes within 24 hours gets the first answer again and registers nothing; with other bytes it is refused with 400. Only a 200 is remembered. On `/DEV` it means nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\u0020-\\u007e]+$' },
    example: 'payroll-2026-11-21-0001',
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description:
      'Spanish where `es` is preferred over `en`, for the answer to GET and to a request that fails before its root name is read; any other batch is answered in the language of its root name. Events are English in every language.',
    schema: { type: 'string' },
    example: 'es',
  },
};

/** Headers of answers. */
export const HEADERS = {
  RequestId: {
    description: 'Names the request in the log of the service; quote it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  IdempotencyReplayed: {
    description: 'Present where this answer is the first answer again.',
    schema: { type: 'string', const: 'true' },
  },
  QuotaRemaining: {
    description:
      'What is left of the daily cap of the key, after the batch. Only of a key with a cap, and where the request has `Accept: application/json; profile=codes`.',
    schema: { type: 'integer', minimum: 0 },
  },
  QuotaReset: {
    description: 'Seconds until more of the quota is free. As `X-Quota-Remaining`, where anything is used.',
    schema: { type: 'integer', minimum: 0 },
  },
  RetryAfter: {
    description: 'Seconds to wait; present where the service knows.',
    schema: { type: 'integer', minimum: 0 },
  },
  Allow: {
    description: 'The methods that the path takes.',
    required: true,
    schema: { type: 'string', const: 'GET, POST' },
  },
  AllowGet: {
    description: 'The method that the path takes.',
    required: true,
    schema: { type: 'string', const: 'GET' },
  },
  CacheControl: {
    description: 'No cache may keep the answer.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  ContentTypeOptions: {
    description: 'The body has the type that `Content-Type` names.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
};

/** Refers to a header of an answer. */
export const header = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
/** The headers of every answer. */
export const OF_EVERY_ANSWER = {
  'Cache-Control': header('CacheControl'),
  'X-Content-Type-Options': header('ContentTypeOptions'),
};
/** The headers of the profile `codes` (D55). */
export const OF_CODES = {
  'X-Quota-Remaining': header('QuotaRemaining'),
  'X-Quota-Reset': header('QuotaReset'),
};
