/** Submits credit applications to Ventanilla: in batches, with safe retries, one outcome for each input. */
export { VentanillaClient } from './client.ts';
export {
  AbortedError,
  AuthenticationError,
  InputError,
  type KnownInput,
  NetworkError,
  RequestRefusedError,
  ResponseError,
  ServiceUnavailableError,
  VentanillaError,
} from './errors.ts';
export type {
  BatchOptions,
  ClientOptions,
  Fetch,
  FetchRequest,
  FetchResponse,
  IndexedOutcome,
  Progress,
  Retry,
  SubmitOptions,
} from './options.ts';
export type * from './wire.ts';
