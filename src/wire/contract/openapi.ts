/**
 * Makes the OpenAPI 3.1 documents of the partner API, one for each language of names. Pure. Fields, names, texts,
 * limits and sandbox scenarios come from the tables that the service uses; tests compare the documents with the
 * service's answers. `src/wire/contract/README.md`
 * says how names, texts and languages come out of the tables.
 */

import type { NamedField } from '../../domain/application/fields.ts';
import { SANDBOX_SCENARIOS } from '../../domain/application/sandbox.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/partner/credential.ts';
import type { Language, Words } from '../../ground/base/language.ts';
import { API_VERSION } from './changes.ts';
import { batchExamples, quotaExamples } from './examples.ts';
import { failure, failures } from './openapi-failures.ts';
import { HEADERS, header, OF_CODES, OF_EVERY_ANSWER, PARAMETERS } from './openapi-headers.ts';
import { READ_PARAMETERS, readPaths, readSchemas } from './openapi-reads.ts';
import { reference, requestSchemas, type Schema } from './openapi-request.ts';
import { answerName, responseSchemas } from './openapi-response.ts';
import { MAX_APPLICATIONS, MAX_BODY_BYTES, MAX_VALUES, UNCOUNTED_BYTES } from './texts.ts';

interface OpenApiOptions {
  /** Empty, or begins with a slash and does not end with one. */
  readonly basePath: string;
  readonly fields: readonly NamedField[];
  /** The language of the names and of the answers. English is the documented one; Spanish is for older partners. */
  readonly language: Language;
  /** The requests that the service itself sends; absent: none. */
  readonly webhooks?: Schema;
}

/** The document as a JSON value. */
export function openApi({ basePath, fields, language, webhooks }: OpenApiOptions): Schema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Ventanilla',
      version: API_VERSION,
      summary: 'Credit applications by the batch: scored, decided and registered one by one.',
      description: [NAMES[language], INTRODUCTION].join('\n\n'),
      contact: { name: 'The operator of this service, who gave you your key' },
    },
    tags: TAGS,
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ apiKey: [] }],
    paths: {
      ...Object.fromEntries(
        ENVIRONMENTS.map((environment) => [
          `/${environment}`,
          {
            parameters: [{ $ref: '#/components/parameters/AcceptLanguage' }],
            post: submit(fields, environment, language),
            get: quota(environment, language),
          },
        ]),
      ),
      ...readPaths(language),
    },
    ...(webhooks && { webhooks }),
    'x-any-other-path': { $ref: '#/components/responses/NotFound' },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'A key is issued for `/PRO`, `/DEV` or both. It is checked before the body is read.',
        },
      },
      parameters: { ...PARAMETERS, ...READ_PARAMETERS },
      headers: HEADERS,
      schemas: {
        ...requestSchemas(fields, language),
        ...responseSchemas(fields, language),
        ...readSchemas(language),
      },
      responses: { NotFound: failure(404, ['not_found']) },
    },
  };
}

const TAGS = [
  { name: 'batches', description: 'Applications on their way in.' },
  { name: 'quota', description: 'How many applications you may still send.' },
  { name: 'events', description: 'What happened since.' },
];

const NAMES: Words = {
  en: 'This document has the English names. `openapi.es.json` beside it has the Spanish ones, which older programs send: the service reads them too, also mixed with English ones. A body with `aplicaciones` is answered in Spanish. A key may be pinned to one language, which then wins.',
  es: 'This document has the Spanish names, for programs that send them already. New programs use the English ones of `openapi.json`. A body with `aplicaciones` is answered in Spanish, GET where `Accept-Language` says so. A key may be pinned to one language, which then wins.',
};

const INTRODUCTION = [
  'A batch holds 1 to 100 applications. Each one is registered or refused by itself: compare `results` with `errors_detail`, not only the HTTP code.',
  `A body is JSON in UTF-8, at most ${MAX_BODY_BYTES} bytes and, where it has more than ${UNCOUNTED_BYTES}, ${MAX_VALUES} values in all, unknown fields included; a batch needs 1,300.`,
  'With `Accept: application/json; profile=codes` errors have codes and fields beside their texts, and a key with a cap hears in headers what is left of its quota.',
  '`/DEV` answers as `/PRO` does, but stores, counts and sends nothing.',
  '`GET /PRO/events` tells what happens to your applications after their registration, `GET /PRO/applications/{id}` tells one application as it is now, and `POST /PRO/applications/search` lists those of a day or of a person.',
  'A 500 means that nothing of the batch was stored: send it again, with the same `Idempotency-Key`. Where a connection closes without an answer, the batch may be stored: send it again too, which only the key makes safe.',
].join('\n\n');

function submit(fields: readonly NamedField[], environment: Environment, language: Language): Schema {
  const dev = environment === 'DEV';
  const examples = batchExamples(fields, environment, language);
  return {
    operationId: dev ? 'simulateBatch' : 'submitBatch',
    tags: ['batches'],
    summary: dev ? 'Try a batch: nothing is stored, counted or sent' : 'Register a batch',
    description: dev ? SANDBOX : `1 to ${MAX_APPLICATIONS} applications.`,
    parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: reference('Batch'),
          examples: Object.fromEntries(
            examples
              .filter(({ isFlawless }) => isFlawless)
              .map(({ name, summary, request }) => [name, { summary, value: request }]),
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
          ...OF_CODES,
          ...(dev ? {} : { 'Idempotency-Replayed': header('IdempotencyReplayed') }),
        },
        content: {
          'application/json': {
            schema: reference(answerName('BatchAnswer', environment)),
            examples: Object.fromEntries(
              examples.map(({ name, summary, answer }) => [name, { summary, value: answer }]),
            ),
          },
        },
      },
      ...failures('submit', environment),
    },
  };
}

const SANDBOX = [
  'Validates, scores and answers as `POST /PRO` does. The same data may be sent any number of times. These phones force an outcome:',
  ['| phone | what comes of it |', '| --- | --- |']
    .concat(SANDBOX_SCENARIOS.map(({ phone, description }) => `| \`${phone}\` | ${description.en} |`))
    .join('\n'),
].join('\n\n');

function quota(environment: Environment, language: Language): Schema {
  const examples = Object.entries(quotaExamples(environment, language)).map(([name, value]) => [
    name,
    { value },
  ]);
  return {
    operationId: environment === 'DEV' ? 'simulatedQuota' : 'quota',
    tags: ['quota'],
    summary: 'Where you stand with your daily quota',
    description: 'Applications that were registered in the last 24 hours count, of all your keys together.',
    responses: {
      200: {
        description: 'The quota now.',
        headers: { ...OF_EVERY_ANSWER, 'X-Request-Id': header('RequestId'), ...OF_CODES },
        content: {
          'application/json': {
            schema: reference(answerName('Quota', environment)),
            examples: Object.fromEntries(examples),
          },
        },
      },
      ...failures('quota', environment),
    },
  };
}
