/** The answers of the OpenAPI document that refuse a whole request, by HTTP status (contract, "HTTP codes"). Pure. */
import type { Environment } from '../../domain/partner/credential.ts';
import { LANGUAGES } from '../../ground/base/language.ts';
import { type Operation, problemsOf, problemTexts } from './catalogue.ts';
import { header, OF_EVERY_ANSWER } from './openapi-headers.ts';
import { reference, type Schema } from './openapi-request.ts';
import { type FailureStatus, requestStatus } from './texts.ts';

const WHEN: Readonly<Record<FailureStatus, string>> = {
  400: 'The request cannot be read, or its batch is empty or too big; correct it and send it again.',
  401: 'The key is absent, unknown or revoked, or it is for the other environment.',
  404: 'Any other path.',
  405: 'Any other method on this path, before the key is looked at.',
  410: 'The events after the cursor are no longer kept.',
  413: 'The body is too long; send fewer applications at once.',
  500: 'Nothing of the request was stored; send it again after a moment.',
};

/** The meaning of a status, if an operation gives it a special one. */
const WHEN_OF: Partial<Record<Operation, Partial<Record<FailureStatus, string>>>> = {
  quota: { 400: 'The request cannot be read.', 500: 'Ask again after a moment.' },
  events: {
    400: 'The request cannot be read, or a parameter is wrong.',
    500: 'Ask again after a moment, with the same cursor.',
  },
  application: {
    400: 'The request cannot be read.',
    404: 'You have no application with this id.',
    500: 'Ask again after a moment.',
  },
  search: {
    400: 'The request cannot be read, or a member of the body is wrong.',
    413: 'The body is too long.',
    500: 'Ask again after a moment.',
  },
};

/** Every failure of an operation on an environment. */
export function failures(operation: Operation, environment: Environment): Record<string, Schema> {
  const byStatus = Map.groupBy(problemsOf(operation, environment), requestStatus);
  return Object.fromEntries(
    [...byStatus].map(([status, problems]) => [
      status,
      failure(status, problems, WHEN_OF[operation]?.[status]),
    ]),
  );
}

/** One failure, with its texts in both languages. */
export function failure(
  status: FailureStatus,
  problems: ReturnType<typeof problemsOf>,
  description = WHEN[status],
): Schema {
  const examples = problems.flatMap((problem) =>
    problemTexts(problem).map((error, index) => [`${problem}_${LANGUAGES[index]}`, { value: { error } }]),
  );
  return {
    description,
    // A request that cannot be read as HTTP has no id.
    headers: {
      ...OF_EVERY_ANSWER,
      ...(status === 400 ? {} : { 'X-Request-Id': header('RequestId') }),
      ...(status === 405 ? { Allow: header(problems.includes('only_get') ? 'AllowGet' : 'Allow') } : {}),
      ...(status === 500 ? { 'Retry-After': header('RetryAfter') } : {}),
    },
    content: {
      'application/json': {
        schema: {
          allOf: [reference('Failure')],
          properties: { error: { type: 'string', enum: problems.flatMap(problemTexts) } },
        },
        examples: Object.fromEntries(examples),
      },
    },
  };
}
