/** The service that a file is sent to, through the parts of the client that partners use. */
import { endpointOf, isReadable } from '../../../client/src/endpoint.ts';
import type { Outcome, Quota } from '../../../client/src/index.ts';
import { readQuota } from '../../../client/src/read-answer.ts';
import { type Endpoint, request } from '../../../client/src/request.ts';
import { type BatchToSend, sendBatch } from '../../../client/src/send-batch.ts';
import { describeError } from '../../domain/describe-error.ts';
import { BulkError } from '../read/bulk-error.ts';
import { httpFetch } from './http-fetch.ts';

export interface RemoteService {
  /** The environment's whole URL. */
  readonly url: string;
  /** One request, with its retries. Throws the client's errors. */
  submitBatch(batch: BatchToSend): Promise<Outcome[]>;
  quota(): Promise<Quota>;
}

/** `onWait` is told before the client waits to repeat a failed request, in milliseconds and with the reason. */
export function openRemoteService(
  url: string,
  apiKey: string,
  onWait: (delayMs: number, reason: string) => void,
): RemoteService {
  const endpoint = endpointFor(url, apiKey);
  return {
    url,
    submitBatch: (batch) =>
      sendBatch(endpoint, batch, { onRetry: ({ delayMs, error }) => onWait(delayMs, error.message) }),
    quota: () => request(endpoint, { read: readQuota }, {}),
  };
}

function endpointFor(url: string, apiKey: string): Endpoint {
  try {
    // `environmentUrl` has checked it, in the words of the command.
    return endpointOf({ url, apiKey, fetch: httpFetch(url), insecureHttp: true });
  } catch (error) {
    throw new BulkError(describeError(error));
  }
}

/**
 * The URL to send to: `--url` is the service's base URL, or that of an environment. Throws `BulkError`, also where
 * others could read what is sent and `insecureHttp` does not allow it.
 */
export function environmentUrl(
  text: string,
  { sandbox, insecureHttp }: { readonly sandbox: boolean; readonly insecureHttp: boolean },
): string {
  if (!URL.canParse(text)) throw new BulkError('--url must be a URL, such as https://host/PRO');
  const url = new URL(text);
  if (isReadable(url) && !insecureHttp) {
    throw new BulkError(
      '--url must begin with https://, or everybody on the way can read the API key and the applicants. --insecure-http sends all the same',
    );
  }
  const segments = url.pathname.split('/').filter(Boolean);
  const last = segments.at(-1);
  if (last === 'DEV' && !sandbox) throw new BulkError('--url ends in /DEV, the sandbox: add --sandbox');
  if (last === 'PRO' || last === 'DEV') segments.pop();
  url.pathname = `/${[...segments, sandbox ? 'DEV' : 'PRO'].join('/')}`;
  return url.href;
}
