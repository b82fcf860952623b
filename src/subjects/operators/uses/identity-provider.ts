/**
 * Talks to the identity provider by OpenID Connect: the authorization code with PKCE, state and nonce
 * (docs/operators.md, "Sign-in by OpenID Connect"). Uses the network. No other file knows the library, which is loaded
 * at the first sign-in.
 */
import { createHmac } from 'node:crypto';
import type * as Library from 'openid-client';
import type { Clock } from '../../../ground/base/clock.ts';
import { isPlainText } from '../../../ground/base/plain-text.ts';
import type { OidcConfig } from '../settings.ts';
import type { Identity } from '../sql/identities.ts';

/**
 * The limit of each request to the provider. A callback makes three at most, within the listener's time for an answer.
 */
const ANSWER_WITHIN_MS = 2_500;
const METADATA_FOR_MS = 300_000;
/** OpenID Connect Core 1.0, section 2. */
const LONGEST_SUBJECT = 255;

/**
 * Why there is no identity. `away`: the provider does not answer. `declined`: it answered with an error. `invalid`: its
 * answer does not hold.
 */
export type ProviderFault = 'away' | 'declined' | 'invalid';

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly fault: ProviderFault;
  /** The code of the library or of the provider, for the log. It is never a text that the provider wrote. */
  readonly code: string;

  constructor(fault: ProviderFault, code: string) {
    super(`the identity provider's answer: ${fault}`);
    this.fault = fault;
    this.code = code;
  }
}

/** What the provider says about the person. */
export interface Proved {
  readonly identity: Identity;
  /** When the person signed in there, in seconds since 1970. */
  readonly signedInAt: number;
  /** Whether a claim of OIDC_SECOND_FACTOR says that it asked for a second factor. */
  readonly hasSecondFactor: boolean;
}

/** What a sign-in is bound to: the secret of the browser's cookie, and the address of the callback. */
interface Binding {
  readonly secret: string;
  readonly callback: string;
}

export class IdentityProvider {
  readonly #config: OidcConfig;
  readonly #clock: Clock;
  #metadata: { readonly atMs: number; readonly value: Promise<Library.ServerMetadata> } | null = null;

  constructor(config: OidcConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  /** Sends a request of the library, with the time limit of this program's clock instead of the library's own. */
  readonly #fetch: Library.CustomFetch = (url, options) =>
    fetch(url, { ...options, signal: this.#clock.timeout(ANSWER_WITHIN_MS) } as RequestInit);

  /** The name that the page shows. */
  get name(): string {
    return this.#config.issuer.host;
  }

  /**
   * The address at which the person signs in. `maxAgeSeconds`: how old a sign-in at the provider may be; 0: the person
   * has to sign in anew. Throws `ProviderError`.
   */
  async addressFor({ secret, callback }: Binding, maxAgeSeconds: number): Promise<string> {
    const library = await import('openid-client');
    const classes = this.#config.secondFactor.filter(({ claim }) => claim === 'acr');
    try {
      const configuration = await this.#configuration(library, this.#clock.nowMs());
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: callback,
        scope: 'openid',
        state: stateOf(secret),
        nonce: derived(secret, 'nonce'),
        code_challenge: await library.calculatePKCECodeChallenge(derived(secret, 'verifier')),
        code_challenge_method: 'S256',
        max_age: String(maxAgeSeconds),
        ...(maxAgeSeconds === 0 && { prompt: 'login' }),
        ...(classes.length > 0 && { acr_values: classes.map(({ value }) => value).join(' ') }),
      });
      return url.href;
    } catch (error) {
      throw faultOf(library, error);
    }
  }

  /**
   * Redeems the answer that the browser brought, with its parameters. `nowMs` is the database's time, by which the
   * token's times are judged. Throws `ProviderError`.
   */
  async redeem({ secret, callback }: Binding, answer: URLSearchParams, nowMs: number): Promise<Proved> {
    const library = await import('openid-client');
    try {
      const configuration = await this.#configuration(library, nowMs);
      const tokens = await library.authorizationCodeGrant(configuration, new URL(`${callback}?${answer}`), {
        expectedState: stateOf(secret),
        expectedNonce: derived(secret, 'nonce'),
        pkceCodeVerifier: derived(secret, 'verifier'),
      });
      return this.#provedBy(tokens.claims());
    } catch (error) {
      throw faultOf(library, error);
    }
  }

  #provedBy(claims: Library.IDToken | undefined): Proved {
    if (claims === undefined) throw new ProviderError('invalid', 'claims');
    const { iss, sub, acr, amr, auth_time } = claims;
    if (sub === '' || sub.length > LONGEST_SUBJECT || !isPlainText(sub))
      throw new ProviderError('invalid', 'subject');
    // The provider has to tell this time, because each address asks with `max_age` (OpenID Connect Core 1.0, section
    // 2).
    if (auth_time === undefined) throw new ProviderError('invalid', 'auth_time');
    const has = { acr: [acr], amr: Array.isArray(amr) ? amr : [] };
    return {
      identity: { issuer: iss, subject: sub },
      signedInAt: auth_time,
      hasSecondFactor: this.#config.secondFactor.some(({ claim, value }) => has[claim].includes(value)),
    };
  }

  /** The configuration for one moment, because the library judges times by a clock offset that it is given. */
  async #configuration(library: typeof Library, nowMs: number): Promise<Library.Configuration> {
    const { issuer, clientId, clientSecret } = this.#config;
    const metadata = await this.#discovered(library);
    const configuration = new library.Configuration(
      metadata,
      clientId,
      { [library.clockSkew]: Math.round((nowMs - this.#clock.nowMs()) / 1000) },
      authenticationOf(library, metadata, clientSecret),
    );
    configuration[library.customFetch] = this.#fetch;
    library.enableNonRepudiationChecks(configuration);
    if (issuer.protocol === 'http:') library.allowInsecureRequests(configuration);
    return configuration;
  }

  /** What the provider says about itself. The answer is kept for five minutes. */
  #discovered(library: typeof Library): Promise<Library.ServerMetadata> {
    const { issuer, clientId } = this.#config;
    const nowMs = this.#clock.monotonicMs();
    if (this.#metadata !== null && nowMs - this.#metadata.atMs < METADATA_FOR_MS) return this.#metadata.value;
    const execute = issuer.protocol === 'http:' ? [library.allowInsecureRequests] : [];
    const value = library
      .discovery(issuer, clientId, undefined, undefined, { [library.customFetch]: this.#fetch, execute })
      .then((found) => {
        const metadata = found.serverMetadata();
        // The library lets some providers name another issuer than the one that was asked for.
        if (new URL(metadata.issuer).href !== issuer.href) throw new ProviderError('invalid', 'issuer');
        return metadata;
      });
    const metadata = { atMs: nowMs, value };
    this.#metadata = metadata;
    value.catch(() => {
      if (this.#metadata === metadata) this.#metadata = null;
    });
    return value;
  }
}

/** The state of a sign-in, which the callback has to bring. */
export function stateOf(secret: string): string {
  return derived(secret, 'state');
}

/** The store keeps only a digest of the secret, so somebody who reads the store cannot make these values. */
function derived(secret: string, what: 'state' | 'nonce' | 'verifier'): string {
  return createHmac('sha256', secret).update(what).digest('base64url');
}

/** How the client's secret is sent, as the provider asks for it. The standard's default is `client_secret_basic`. */
function authenticationOf(
  library: typeof Library,
  { token_endpoint_auth_methods_supported: ways = ['client_secret_basic'] }: Library.ServerMetadata,
  secret: string | null,
): Library.ClientAuth {
  if (secret === null) return library.None();
  return ways.includes('client_secret_basic')
    ? library.ClientSecretBasic(secret)
    : library.ClientSecretPost(secret);
}

/** The library's codes for no answer, or for one that is not an identity provider's. */
const AWAY: readonly unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
];
const CODE = /^\w{1,40}$/;

function faultOf(library: typeof Library, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const { code, error: told } = error as { code?: unknown; error?: unknown };
  const name =
    [told, code].find((text): text is string => typeof text === 'string' && CODE.test(text)) ?? 'none';
  if (error instanceof library.AuthorizationResponseError) return new ProviderError('declined', name);
  if (error instanceof library.ResponseBodyError) {
    return new ProviderError(error.status >= 500 ? 'away' : 'invalid', name);
  }
  // `fetch` throws a TypeError if a connection fails.
  const isAway = AWAY.includes(code) || error instanceof TypeError;
  return new ProviderError(isAway ? 'away' : 'invalid', name);
}
