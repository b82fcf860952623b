/** Who is signed in, and the ways in and out. */
import type { Static } from 'typebox';
import type {
  AtProvider,
  EnrolmentBegun,
  EnrolmentEnded,
  LinkUsable,
  SignedIn,
  WaysIn as WaysInForm,
} from '../../../src/subjects/operators/routes/forms.ts';
import { AnswerError, ask, askForNobody, changeCookie } from './ask.ts';

export type Operator = Static<typeof SignedIn>;

export type WaysIn = Static<typeof WaysInForm>;

type AtProviderReply = Static<typeof AtProvider>;

/** The operator of the session; null: nobody is signed in. */
export async function readSession(): Promise<Operator | null> {
  try {
    return (await askForNobody<Operator>('GET', '/session')).body;
  } catch (error) {
    if (error instanceof AnswerError && error.status === 401) return null;
    throw error;
  }
}

export async function givePassword(login: string, password: string): Promise<void> {
  await askForNobody('POST', '/session', { login, password });
}

/** `code` is one of the app or a recovery code. */
export async function giveCode(code: string): Promise<void> {
  await askForNobody('POST', '/session/totp', { code: code.trim() });
}

/** Proves both factors again. The session gets another cookie. */
export async function proveAgain(password: string, code: string): Promise<void> {
  await changeCookie(ask('POST', '/session/again', { password, code: code.trim() }));
}

export async function signOut(): Promise<void> {
  await ask('DELETE', '/session');
}

/** In every browser. */
export async function signOutEverywhere(): Promise<void> {
  await ask('POST', '/session/sign-out-everywhere', {});
}

/** Whose link it is; null: it may not be used. */
export async function lookAtLink(token: string): Promise<string | null> {
  try {
    return (await askForNobody<Static<typeof LinkUsable>>('POST', '/enrolment/look', { token })).body.login;
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return null;
    throw error;
  }
}

export async function beginEnrolment(
  token: string,
  password: string,
): Promise<Static<typeof EnrolmentBegun>> {
  return (await askForNobody<Static<typeof EnrolmentBegun>>('POST', '/enrolment', { token, password })).body;
}

/** Resolves to the recovery codes. */
export async function endEnrolment(token: string, code: string): Promise<readonly string[]> {
  const { body } = await askForNobody<Static<typeof EnrolmentEnded>>('POST', '/enrolment/totp', {
    token,
    code: code.trim(),
  });
  return body.recovery_codes;
}

/** Whether operators may sign in at an identity provider, and whose code this browser waits for. */
export async function readWaysIn(): Promise<WaysIn> {
  return (await askForNobody<WaysIn>('GET', '/session/oidc')).body;
}

/** Begins a sign-in at the identity provider. Resolves to the provider's address. */
export async function beginAtProvider(): Promise<string> {
  return (await askForNobody<AtProviderReply>('POST', '/session/oidc')).body.url;
}

/** Begins the binding of the account behind a link. Resolves to the provider's address. */
export async function beginBinding(token: string): Promise<string> {
  return (await askForNobody<AtProviderReply>('POST', '/enrolment/oidc', { token })).body.url;
}

/** Begins a sign-in again; `code` is one of the app, null where the account has none. */
export async function beginAgainAtProvider(code: string | null): Promise<string> {
  const body = code === null ? {} : { code: code.trim() };
  return (await ask<AtProviderReply>('POST', '/session/again/oidc', body)).body.url;
}

/** Makes the secret of the authenticator app for an account with an identity. */
export async function addApp(token: string): Promise<Static<typeof EnrolmentBegun>> {
  return (await askForNobody<Static<typeof EnrolmentBegun>>('POST', '/enrolment/app', { token })).body;
}
