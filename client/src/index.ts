/** Submits credit applications to Ventanilla, and tells what becomes of them: outcomes, events, states. */
export { VentanillaClient } from './client.ts';
export type { Clock } from './clock.ts';
export {
  AbortedError,
  AuthenticationError,
  CursorExpiredError,
  InputError,
  type KnownInput,
  NetworkError,
  RequestRefusedError,
  ResponseError,
  ServiceUnavailableError,
  VentanillaError,
  WebhookError,
  type WebhookFault,
} from './errors.ts';
export type {
  ConversationEnded,
  EndpointTest,
  EventHead,
  EventSubject,
  EventType,
  IncomeVerified,
  Interested,
  MessageFailed,
  OfConversation,
  PartnerEvent,
  PushedEvent,
  StatusChanged,
  UnknownEvent,
} from './events.ts';
export type {
  ApplicationSearch,
  BatchOptions,
  CallOptions,
  ClientOptions,
  EventsOptions,
  Fetch,
  FetchRequest,
  FetchResponse,
  IndexedOutcome,
  Progress,
  Retry,
  SearchOptions,
  SubmitOptions,
} from './options.ts';
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from './webhook.ts';
export type * from './wire.ts';
