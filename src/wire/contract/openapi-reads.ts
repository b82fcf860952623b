/** The requests of the OpenAPI document that read events and applications, and their answers (D41, D56). Pure. */
import { APPLICATION_STATUSES } from '../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../domain/application/reason-codes.ts';
import { CONVERSATION_ENDS, INCOME_OUTCOMES, PARTNER_EVENT_TYPES } from '../../domain/event/event.ts';
import { OUTCOME_TYPES } from '../../domain/message/notify.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/partner/credential.ts';
import { MOST_REASONS, REASON_CODE } from '../../domain/scorecard/reasons.ts';
import { LIMIT_CODES } from '../../domain/scorecard/scorecard.ts';
import type { Language } from '../../ground/base/language.ts';
import { EVENT_WORDS } from './event-words.ts';
import { applicationExample, feedExamples, foundExamples, searchExamples } from './examples-reads.ts';
import { failures } from './openapi-failures.ts';
import { header, OF_EVERY_ANSWER } from './openapi-headers.ts';
import { reference, type Schema } from './openapi-request.ts';
import { answerName, record } from './openapi-response.ts';
import { FOUND_NAMES } from './partner-search.ts';
import { DECISION_NAMES, LATER_STATUS_NAMES, NAMES } from './response.ts';
import { DEFAULT_EVENTS, MAX_EVENTS, MAX_FOUND } from './texts.ts';

/** Parameters of these requests. */
export const READ_PARAMETERS = {
  After: {
    name: 'after',
    in: 'query',
    description:
      'Only the events after this one: the `next` of the page before, or the `id` of any event of yours. Without it the feed begins with the oldest event that is kept.',
    schema: reference('EventId'),
  },
  Limit: {
    name: 'limit',
    in: 'query',
    description: 'The most events of the page.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_EVENTS, default: DEFAULT_EVENTS },
  },
  Types: {
    name: 'types',
    in: 'query',
    description:
      'Only events of these types, with commas between the names. Without it you read the events of applications and messages; name the types of conversations, documents, incomes and contracts to read them. Each set of types has its own order without gaps: keep to one set for a cursor.',
    style: 'form',
    explode: false,
    schema: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: PARTNER_EVENT_TYPES },
    },
  },
  ApplicationId: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The `id` of the application, as the answer to its batch and its events tell it.',
    schema: { type: 'integer', minimum: 1 },
    example: 346,
  },
};

const ACCEPT_LANGUAGE = { $ref: '#/components/parameters/AcceptLanguage' };

/** The paths below those of the environments. */
export function readPaths(language: Language): Record<string, Schema> {
  return {
    '/PRO/events': { parameters: [ACCEPT_LANGUAGE], get: EVENTS },
    '/PRO/applications/{id}': { parameters: [ACCEPT_LANGUAGE], get: application(language) },
    ...Object.fromEntries(
      ENVIRONMENTS.map((environment) => [
        `/${environment}/applications/search`,
        { parameters: [ACCEPT_LANGUAGE], post: search(environment, language) },
      ]),
    ),
  };
}

function answer(description: string, schema: Schema, examples: Readonly<Record<string, object>>): Schema {
  return {
    description,
    headers: { ...OF_EVERY_ANSWER, 'X-Request-Id': header('RequestId') },
    content: {
      'application/json': {
        schema,
        examples: valuesOf(examples),
      },
    },
  };
}

function valuesOf(examples: Readonly<Record<string, object>>): Schema {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

const EVENTS: Schema = {
  operationId: 'readEvents',
  tags: ['events'],
  summary: 'What happened to your applications since you registered them',
  description:
    'Your events in their order, without gaps. Store `next` with what you did, and ask with it as `after`: at once while `has_more` is true, else after a while. Events are kept for 30 days. The names are English in every language.',
  parameters: ['After', 'Limit', 'Types'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
  responses: {
    200: answer('A page of events, oldest first.', reference('EventPage'), feedExamples()),
    ...failures('events', 'PRO'),
  },
};

function application(language: Language): Schema {
  return {
    operationId: 'readApplication',
    tags: ['events'],
    summary: 'One of your applications as it is now',
    description:
      'Its score and decision, which never change, and its status. The names are those of the document.',
    parameters: [{ $ref: '#/components/parameters/ApplicationId' }],
    responses: {
      200: answer('The application.', reference('ApplicationState'), {
        application: applicationExample(language),
      }),
      ...failures('application', 'PRO'),
    },
  };
}

function search(environment: Environment, language: Language): Schema {
  const dev = environment === 'DEV';
  return {
    operationId: dev ? 'simulatedSearch' : 'searchApplications',
    tags: ['events'],
    summary: dev ? 'Try a search: nothing is ever found' : 'Your own applications of a day, or of a person',
    description: dev
      ? 'Checks the request and answers as `POST /PRO/applications/search` does, with no applications.'
      : 'It is a POST because an ID number belongs into no address. Newest first. Ask with `next` as `cursor` for the page after, until it is null; a page may be short, or empty, and still have a `next`.',
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: reference('Search'), examples: valuesOf(searchExamples(language)) },
      },
    },
    responses: {
      200: answer(
        'A page, newest first.',
        reference(answerName('Found', environment)),
        foundExamples(environment, language),
      ),
      ...failures('search', environment),
    },
  };
}

const REASON_CODES: Schema = {
  description:
    'Up to four reasons of a decision that is no approval, the most important first. They stay what they were at the registration. A policy may have codes of its own.',
  type: 'array',
  items: { type: 'string', pattern: REASON_CODE.source },
  maxItems: MOST_REASONS,
};
const ID_NUMBER = { description: 'null: the data of the applicant was erased.', type: ['string', 'null'] };
const TIME = { description: 'With a numeric UTC offset.', type: 'string', format: 'date-time' };
const optionalTime = (description: string): Schema => ({ ...TIME, description, type: ['string', 'null'] });

/** Every component of these answers. */
export function readSchemas(language: Language): Record<string, Schema> {
  const names = NAMES[language];
  return {
    EventId: {
      description: 'The id of an event. It is also the cursor that continues after the event.',
      type: 'string',
      pattern: '^evt_[A-Za-z0-9_-]{27}$',
    },
    EventPage: record({
      events: { type: 'array', maxItems: MAX_EVENTS, items: reference('PartnerEvent') },
      next: {
        description: 'The cursor of the next page, also where there are no events.',
        ...reference('EventId'),
      },
      has_more: { description: 'There are more events already.', type: 'boolean' },
    }),
    PartnerEvent: {
      description: 'A later version may add types: ignore those that you do not know.',
      oneOf: [
        ...['StatusChangedEvent', 'InterestedEvent', 'MessageFailedEvent', 'ConversationStartedEvent'],
        ...['DocumentsReceivedEvent', 'IncomeVerifiedEvent', 'ContractSignedEvent', 'ContractWithdrawnEvent'],
        'ConversationEndedEvent',
      ].map(reference),
    },
    StatusChangedEvent: event(
      'application.status_changed',
      'An operator approved, rejected or disbursed the application.',
      {
        from: { type: 'string', enum: APPLICATION_STATUSES },
        to: { type: 'string', enum: APPLICATION_STATUSES },
        reason_code: { type: 'string', enum: ALL_REASON_CODES },
        reason_codes: REASON_CODES,
      },
    ),
    InterestedEvent: event(
      'application.interested',
      'The applicant tapped "I am interested" for the first time.',
      {},
    ),
    MessageFailedEvent: event('message.failed', 'A message to the applicant failed.', {
      message: { description: 'The type of the message.', type: 'string', enum: OUTCOME_TYPES },
    }),
    ConversationStartedEvent: event('conversation.started', EVENT_WORDS['conversation.started'].en, {}),
    DocumentsReceivedEvent: event('documents.received', EVENT_WORDS['documents.received'].en, {}),
    IncomeVerifiedEvent: event('income.verified', EVENT_WORDS['income.verified'].en, {
      outcome: { type: 'string', enum: INCOME_OUTCOMES },
    }),
    ContractSignedEvent: event('contract.signed', EVENT_WORDS['contract.signed'].en, {}),
    ContractWithdrawnEvent: event('contract.withdrawn', EVENT_WORDS['contract.withdrawn'].en, {}),
    ConversationEndedEvent: event('conversation.ended', EVENT_WORDS['conversation.ended'].en, {
      outcome: { type: 'string', enum: CONVERSATION_ENDS },
    }),
    ...searchSchemas(language),
    ApplicationState: record({
      id: { type: 'integer', minimum: 1 },
      [names.id_number]: ID_NUMBER,
      score: { type: 'integer', minimum: 0, maximum: 100 },
      decision: {
        description: 'The decision by the score; a review changes the status alone.',
        type: 'string',
        enum: Object.values(DECISION_NAMES[language]),
      },
      [names.status]: { type: 'string', enum: Object.values(LATER_STATUS_NAMES[language]) },
      reason_code: {
        description:
          'Why it has this status: the code of the last review, or the limit that rejected it at its registration. null: the score alone decided.',
        type: ['string', 'null'],
        examples: [...LIMIT_CODES, ...ALL_REASON_CODES],
      },
      reason_codes: REASON_CODES,
      signed_at: optionalTime('When the applicant signed the contract; it stays after a withdrawal.'),
      withdrawn_at: optionalTime('When the applicant withdrew from the signed contract.'),
      created_at: TIME,
      updated_at: {
        ...TIME,
        description:
          'The time of the last entry in the history of the application, else `created_at`. With a numeric UTC offset.',
      },
    }),
  };
}

/** The body of a search, and its answers. */
function searchSchemas(language: Language): Record<string, Schema> {
  const page = {
    cursor: { description: 'The `next` of the page before; absent for the first page.', type: 'string' },
    limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND, default: MAX_FOUND },
  };
  const next = {
    description: 'The cursor of the next page; null: this is the last one.',
    type: ['string', 'null'],
  };
  const found = {
    [FOUND_NAMES[language]]: { type: 'array', maxItems: MAX_FOUND, items: reference('ApplicationState') },
    next,
  };
  const unreadable = {
    description: 'The ids of applications whose stored data is damaged: tell the operator. Mostly absent.',
    type: 'array',
    items: { type: 'integer', minimum: 1 },
  };
  return {
    Search: {
      oneOf: [
        record({ [NAMES[language].id_number]: SEARCHED_ID_NUMBER }, page),
        record({ day: SEARCHED_DAY }, page),
      ],
    },
    [answerName('Found', 'PRO')]: record(found, { unreadable }),
    [answerName('Found', 'DEV')]: record({ ...found, mode: { type: 'string', const: 'dev' } }),
  };
}

const SEARCHED_ID_NUMBER: Schema = {
  description:
    'The applications of this person. Only letters and digits count: `1.077.345.210` and `CC 1077345210` are one.',
  type: 'string',
  minLength: 1,
  maxLength: 64,
};
const SEARCHED_DAY: Schema = {
  description: 'The applications that were registered on this day in UTC.',
  type: 'string',
  pattern: '^2\\d{3}-\\d{2}-\\d{2}$',
};

function event(type: string, description: string, members: Record<string, Schema>): Schema {
  return {
    description,
    ...record({
      id: reference('EventId'),
      type: { type: 'string', const: type },
      timestamp: TIME,
      data: record({ id: { type: 'integer', minimum: 1 }, id_number: ID_NUMBER, ...members }),
    }),
  };
}
