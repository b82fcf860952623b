/** Who is signed in, and the ways in and out. */
import type { Static } from 'typebox';
import type {
  AtProvider,
  EnrolmentBegun,
  EnrolmentEnded,
  SignedIn,
  WaysIn,
} from '../../../src/operators/routes/forms.ts';
import { AnswerError, ask, changeCookie } from './ask.ts';

export type Operator = Static<typeof SignedIn>;

/** The operator of the session; null: nobody is signed in. */
export async function readSession(): Promise<Operator | null> {
  try {
    return (await ask<Operator>('GET', '/session')).body;
  } catch (error) {
    if (error instanceof AnswerError && error.status === 401) return null;
    throw error;
  }
}

export async function givePassword(login: string, password: string): Promise<void> {
  await ask('POST', '/session', { login, password });
}

/** `code` is one of the app or a recovery code. */
export async function giveCode(code: string): Promise<void> {
  await ask('POST', '/session/totp', { code: code.trim() });
}

/** Proves both factors again. The session gets another cookie. */
export async function proveAgain(password: string, code: string): Promise<void> {
  await changeCookie(ask('POST', '/session/again', { password, code: code.trim() }));
}

/** Also where the session had ended. */
export async function signOut(): Promise<void> {
  await ask('DELETE', '/session').catch((error) => {
    if (!(error instanceof AnswerError) || error.status !== 401) throw error;
  });
}

export async function beginEnrolment(
  token: string,
  password: string,
): Promise<Static<typeof EnrolmentBegun>> {
  return (await ask<Static<typeof EnrolmentBegun>>('POST', '/enrolment', { token, password })).body;
}

/** Resolves to the recovery codes. */
export async function endEnrolment(token: string, code: string): Promise<readonly string[]> {
  const { body } = await ask<Static<typeof EnrolmentEnded>>('POST', '/enrolment/totp', {
    token,
    code: code.trim(),
  });
  return body.recovery_codes;
}

/** Whether operators may sign in at an identity provider, and whether this browser waits for the code. */
export async function readWaysIn(): Promise<Static<typeof WaysIn>> {
  return (await ask<Static<typeof WaysIn>>('GET', '/session/oidc')).body;
}

/** Begins a sign-in at the identity provider. Resolves to the provider's address. */
export function beginAtProvider(): Promise<string> {
  return addressOf('/session/oidc');
}

/** Begins the binding of the account behind a link. Resolves to the provider's address. */
export function beginBinding(token: string): Promise<string> {
  return addressOf('/enrolment/oidc', { token });
}

/** Begins a sign-in again; `code` is one of the app, null where the account has none. */
export function beginAgainAtProvider(code: string | null): Promise<string> {
  return addressOf('/session/again/oidc', code === null ? {} : { code: code.trim() });
}

async function addressOf(path: string, body?: unknown): Promise<string> {
  return (await ask<Static<typeof AtProvider>>('POST', path, body)).body.url;
}

/** Makes the secret of the authenticator app for an account with an identity. */
export async function addApp(token: string): Promise<Static<typeof EnrolmentBegun>> {
  return (await ask<Static<typeof EnrolmentBegun>>('POST', '/enrolment/app', { token })).body;
}
