/** The variables of the channel `whatsapp`. */
import { isLoopback } from '../../ground/base/loopback.ts';
import { ConfigError, type Problems, type Read } from './config-error.ts';

/** The settings of the channel `whatsapp`. */
export interface WhatsAppConfig {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly phoneNumberId: string;
  readonly accessToken: string;
  /** Signs the webhooks. */
  readonly appSecret: string;
  /** Proves the subscription of the webhooks. */
  readonly verifyToken: string;
}

/** Reads and checks the variables. Only the URL is optional. Errors go to `problems`. */
export function readWhatsApp(read: Read, problems: Problems): WhatsAppConfig {
  const required = (name: string, pattern: RegExp, rule: string) =>
    problems.try(() => {
      const text = read(name);
      if (text === undefined) throw new ConfigError(name, 'is required with CHANNEL=whatsapp');
      if (!pattern.test(text)) throw new ConfigError(name, rule);
      return text;
    });
  const secret = (name: string) => required(name, /^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');
  return {
    apiUrl: problems.try(() => apiUrl(read('WHATSAPP_API_URL') ?? 'https://graph.facebook.com/v25.0')),
    phoneNumberId: required(
      'WHATSAPP_PHONE_NUMBER_ID',
      /^\d+$/,
      'must be the ID of the phone number, digits only',
    ),
    accessToken: secret('WHATSAPP_ACCESS_TOKEN'),
    appSecret: secret('WHATSAPP_APP_SECRET'),
    verifyToken: secret('WHATSAPP_VERIFY_TOKEN'),
  };
}

function apiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Every request carries the access token, so only HTTPS or a loopback address is safe.
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !safe || `${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw new ConfigError(
      'WHATSAPP_API_URL',
      'must be an https URL without user or query (http is allowed on this machine only)',
    );
  }
  return url.href.replace(/\/+$/, '');
}
