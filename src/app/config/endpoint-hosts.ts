/** ENDPOINT_HOSTS: hosts of partners' endpoints that may be private or without TLS. */
import { describeError } from '../../base/describe-error.ts';
import { type EndpointHosts, readEndpointHosts } from '../../events/push/rules/endpoint-url.ts';
import { ConfigError } from './config-error.ts';

export type { EndpointHosts };

/** Throws `ConfigError` with the rule. */
export function endpointHosts(text: string | undefined): EndpointHosts {
  if (text === undefined) return new Set();
  try {
    return readEndpointHosts(text);
  } catch (error) {
    throw new ConfigError('ENDPOINT_HOSTS', describeError(error));
  }
}
