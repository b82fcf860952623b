/**
 * The OpenAPI 3.1 document of the partner API. The fields, names, texts, limits and sandbox scenarios come from the
 * tables that the service uses. A test compares the document with the answers of the service.
 */

import type { NamedField } from '../domain/application/fields.ts';
import { SANDBOX_SCENARIOS } from '../domain/application/sandbox.ts';
import { LANGUAGES } from '../domain/language.ts';
import { ENVIRONMENTS, type Environment } from '../domain/partner/credential.ts';
import { API_VERSION } from './changes.ts';
import { batchExamples, quotaExamples } from './examples.ts';
import { failure, failures } from './openapi-failures.ts';
import { HEADERS, header, OF_EVERY_ANSWER, PARAMETERS } from './openapi-headers.ts';
import { reference, requestSchemas, type Schema } from './openapi-request.ts';
import { answerName, responseSchemas } from './openapi-response.ts';
import { MAX_APPLICATIONS, MAX_BODY_BYTES, MAX_VALUES, UNCOUNTED_BYTES } from './texts.ts';

interface OpenApiOptions {
  /** Empty, or begins with a slash and does not end with one. */
  readonly basePath: string;
  readonly fields: readonly NamedField[];
}

/** The document as a JSON value. */
export function openApi({ basePath, fields }: OpenApiOptions): Schema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Ventanilla',
      version: API_VERSION,
      summary: 'Credit applications by the batch: scored, decided and registered one by one.',
      description: INTRODUCTION,
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(
      ENVIRONMENTS.map((environment) => [
        `/${environment}`,
        {
          parameters: [{ $ref: '#/components/parameters/AcceptLanguage' }],
          post: submit(fields, environment),
          get: quota(environment),
        },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'A key is issued for `/PRO`, `/DEV` or both. It is checked before the body is read.',
        },
      },
      parameters: PARAMETERS,
      headers: HEADERS,
      schemas: { ...requestSchemas(fields), ...responseSchemas(fields) },
      responses: { NotFound: failure(404, ['not_found']) },
    },
  };
}

const INTRODUCTION = [
  'A batch holds 1 to 100 applications. Each one is registered or refused by itself: compare `results` with `errors_detail`, not only the HTTP code.',
  `A body is JSON in UTF-8, at most ${MAX_BODY_BYTES} bytes and, where it has more than ${UNCOUNTED_BYTES}, ${MAX_VALUES} values in all, unknown fields included; a batch needs 1,300. English names are the documented ones; the Spanish ones are still read, and a body with \`aplicaciones\` is answered in Spanish. A key may be pinned to one language, which then wins.`,
  '`/DEV` answers as `/PRO` does, but stores, counts and sends nothing.',
  'A 500 means that nothing of the batch was stored: send it again, with the same `Idempotency-Key`. So does a connection that closes without an answer, but there only the key makes it safe.',
].join('\n\n');

function submit(fields: readonly NamedField[], environment: Environment): Schema {
  const dev = environment === 'DEV';
  const examples = LANGUAGES.flatMap((language) =>
    batchExamples(fields, environment, language).map((example) => ({
      ...example,
      key: `${example.name}_${language}`,
    })),
  );
  return {
    operationId: dev ? 'simulateBatch' : 'submitBatch',
    summary: dev ? 'Try a batch: nothing is stored, counted or sent' : 'Register a batch',
    description: dev ? SANDBOX : `1 to ${MAX_APPLICATIONS} applications, in English or in Spanish.`,
    parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { oneOf: [reference('Batch'), reference('Lote')] },
          examples: Object.fromEntries(
            examples
              .filter(({ isFlawless }) => isFlawless)
              .map(({ key, summary, request }) => [key, { summary, value: request }]),
          ),
        },
      },
    },
    responses: {
      200: {
        description: 'What became of each application.',
        headers: {
          ...OF_EVERY_ANSWER,
          'X-Request-Id': header('RequestId'),
          ...(dev ? {} : { 'Idempotency-Replayed': header('IdempotencyReplayed') }),
        },
        content: {
          'application/json': {
            schema: inEitherLanguage('BatchAnswer', environment),
            examples: Object.fromEntries(
              examples.map(({ key, summary, answer }) => [key, { summary, value: answer }]),
            ),
          },
        },
      },
      ...failures('post', environment),
    },
  };
}

const SANDBOX = [
  'Validates, scores and answers as `POST /PRO` does. The same data may be sent any number of times. These phones force an outcome:',
  ['| phone | what comes of it |', '| --- | --- |']
    .concat(SANDBOX_SCENARIOS.map(({ phone, description }) => `| \`${phone}\` | ${description.en} |`))
    .join('\n'),
].join('\n\n');

function quota(environment: Environment): Schema {
  const examples = LANGUAGES.flatMap((language) =>
    Object.entries(quotaExamples(environment, language)).map(([name, value]) => [
      `${name}_${language}`,
      { value },
    ]),
  );
  return {
    operationId: environment === 'DEV' ? 'simulatedQuota' : 'quota',
    summary: 'Where you stand with your daily quota',
    description: 'Applications that were registered in the last 24 hours count, of all your keys together.',
    responses: {
      200: {
        description: 'The quota now.',
        headers: { ...OF_EVERY_ANSWER, 'X-Request-Id': header('RequestId') },
        content: {
          'application/json': {
            schema: inEitherLanguage('Quota', environment),
            examples: Object.fromEntries(examples),
          },
        },
      },
      ...failures('get', environment),
    },
  };
}

function inEitherLanguage(what: 'BatchAnswer' | 'Quota', environment: Environment): Schema {
  return { oneOf: LANGUAGES.map((language) => reference(answerName(what, environment, language))) };
}
