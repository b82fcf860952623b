/** An identity provider that listens: `oidc-provider`, with a person who signs in as the test says. */
import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after } from 'node:test';
import { type Configuration, Provider } from 'oidc-provider';
import type { OidcConfig, SecondFactorClaim } from '../../src/subjects/operators/settings.ts';

const CLIENT_ID = 'ventanilla';
const CLIENT_SECRET = 'the secret of the client';

/** Who signs in at the provider, and how. */
export interface Person {
  subject: string;
  /** The methods and the class that the provider tells. */
  amr?: string[];
  acr?: string;
  /** The person presses "cancel". */
  declines?: boolean;
}

/** Starts a provider. `callbacks` are the addresses to which it sends browsers; more can be added later. */
export async function startIdentityProvider(secondFactor: readonly SecondFactorClaim[] = []) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://localhost:${(server.address() as { port: number }).port}`;
  const callbacks: string[] = [];
  const person: Person = { subject: 'ana' };
  /** What the test changes of an answer on its way. */
  const meddling: { before: ((request: IncomingMessage, response: ServerResponse) => boolean) | null } = {
    before: null,
  };
  const found = new Provider(issuer, configuration(callbacks, key));
  // Notices about a provider that is no production.
  found.on('server_error', () => {});
  const answer = found.callback();
  let asked = 0;
  server.on('request', (request, response) => {
    asked += 1;
    if (meddling.before?.(request, response) === true) return;
    if (request.url?.startsWith('/interaction/')) void interact(found, person, request, response);
    else void answer(request, response);
  });
  /** A token as the provider would sign it, of any claims. */
  const sign = (claims: Record<string, unknown>) => {
    const parts = [{ alg: 'RS256', kid: 'one' }, claims].map((part) => Buffer.from(JSON.stringify(part)));
    const text = parts.map((part) => part.toString('base64url')).join('.');
    return `${text}.${signBytes('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  };
  after(() => server.closeAllConnections());
  after(() => server.close());
  const config: OidcConfig = {
    ...{ issuer: new URL(issuer), clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, secondFactor },
  };
  return { issuer, config, callbacks, person, meddling, sign, asked: () => asked };
}

function configuration(callbacks: string[], key: object): Configuration {
  return {
    clients: [],
    async findAccount(_context, accountId) {
      return { accountId, claims: async () => ({ sub: accountId }) };
    },
    // The client's callbacks are known only once the console listens.
    adapter: memoryWith(() => ({
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: callbacks,
      response_types: ['code'],
      grant_types: ['authorization_code'],
    })),
    jwks: { keys: [key] },
    cookies: { keys: ['a key of a test'] },
    claims: { openid: ['sub', 'amr', 'acr'] },
    acrValues: ['urn:example:gold'],
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 600, Interaction: 600, Grant: 600, Session: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        ...{ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! },
      });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  } as Configuration;
}

/** What a page of a provider does once the person has signed in, or has pressed "cancel". */
async function interact(
  provider: Provider,
  { subject, declines, amr, acr }: Person,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const result = declines
    ? { error: 'access_denied', error_description: 'the person pressed cancel' }
    : { login: { accountId: subject, ...(amr && { amr }), ...(acr && { acr }), remember: true } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** A store in memory that knows one client. */
function memoryWith(client: () => object) {
  const rows = new Map<string, Record<string, unknown>>();
  return (model: string) => {
    const name = (id: string) => `${model}:${id}`;
    return {
      async upsert(id: string, payload: Record<string, unknown>) {
        rows.set(name(id), payload);
        if (payload.uid) rows.set(`uid:${payload.uid}`, payload);
      },
      find: async (id: string) => (model === 'Client' ? client() : rows.get(name(id))),
      findByUid: async (uid: string) => rows.get(`uid:${uid}`),
      findByUserCode: async () => undefined,
      async consume(id: string) {
        const row = rows.get(name(id));
        if (row) row.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id: string) => void rows.delete(name(id)),
      revokeByGrantId: async () => {},
    };
  };
}
