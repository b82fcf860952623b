/**
 * Reads or makes the certificate of the demonstration, which the embedded store has if no certificate is set
 * (docs/signing.md, "The contract"). Writes one file under DATA_DIR. The certificate's name says what it is, and nobody
 * trusts it.
 */
import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { type Clock, DAY_MS } from '../../../ground/base/clock.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { identityOf, type SigningIdentity } from './identity.ts';

/** The file under DATA_DIR. It has a private key, so `app/private-files.ts` keeps others out. */
export const DEMO_IDENTITY_FILE = 'signing-demonstration.pem';

const NAME = 'Ventanilla DEMONSTRATION, not trusted';
const VALID_DAYS = 3650;
const COMMON_NAME = '2.5.4.3';

/** Reads the demonstration's certificate, or makes it. If two processes make one at once, the first file stays. */
export async function demoIdentity(dataDir: string, clock: Clock): Promise<SigningIdentity> {
  const path = join(dataDir, DEMO_IDENTITY_FILE);
  const text = (await readIfThere(path)) ?? (await makeAt(dataDir, path, clock));
  return identityOf(createPrivateKey(text), new X509Certificate(text).raw, [], true);
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function makeAt(dataDir: string, path: string, clock: Clock): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = await selfSigned(privateKey, publicKey, clock);
  const text = `${privateKey.export({ type: 'pkcs8', format: 'pem' })}${certificate}`;
  // The whole file appears at once, and never replaces one that is there.
  const whole = `${path}.${randomUUID()}`;
  await writeFile(whole, text, { mode: 0o600 });
  try {
    await link(whole, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(whole, { force: true });
  }
  return readFile(path, 'utf8');
}

async function selfSigned(privateKey: KeyObject, publicKey: KeyObject, clock: Clock): Promise<string> {
  const nowMs = clock.nowMs();
  const { subtle } = webcrypto;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await subtle.importKey(
    'pkcs8',
    privateKey.export({ type: 'pkcs8', format: 'der' }),
    algorithm,
    false,
    ['sign'],
  );
  const itsPublic = await subtle.importKey(
    'spki',
    publicKey.export({ type: 'spki', format: 'der' }),
    algorithm,
    true,
    ['verify'],
  );
  const made = new pkijs.Certificate();
  made.version = 2;
  made.serialNumber = new asn1js.Integer({ value: nowMs });
  const name = new pkijs.AttributeTypeAndValue({
    type: COMMON_NAME,
    value: new asn1js.Utf8String({ value: NAME }),
  });
  made.issuer.typesAndValues.push(name);
  made.subject.typesAndValues.push(name);
  // The certificate is valid from yesterday on, for readers whose clock is behind.
  made.notBefore.value = new Date(nowMs - DAY_MS);
  made.notAfter.value = new Date(nowMs + VALID_DAYS * DAY_MS);
  await made.subjectPublicKeyInfo.importKey(itsPublic);
  await made.sign(key, 'SHA-256');
  return new X509Certificate(Buffer.from(made.toSchema(true).toBER(false))).toString();
}
