/**
 * Reads the certificate, its chain and the key that seal contracts, from files in PEM (docs/signing.md, "The
 * contract").
 */
import { createPrivateKey, createPublicKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { describeError } from '../../../ground/base/describe-error.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../../../ground/base/private-file.ts';
import { ToldError } from '../../../ground/base/told-error.ts';

export interface SigningIdentity {
  readonly key: webcrypto.CryptoKey;
  readonly kind: 'RSA' | 'EC';
  /** DER. */
  readonly certificate: Uint8Array;
  /** The certificates that vouch for it, DER, the nearest first. */
  readonly chain: readonly Uint8Array[];
  /**
   * True for a certificate that the service made for itself. Such a certificate proves nothing about who the lender is.
   */
  readonly demonstration: boolean;
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};
const LEAST_RSA_BITS = 2048;

/**
 * Reads a certificate with its chain and its key, both in PEM. Throws `ToldError` that names the file and the rule. An
 * expired certificate is read too: the sealing code compares its time with the database's clock (`Sealer.isValidAt`).
 */
export async function readIdentity(certificatePath: string, keyPath: string): Promise<SigningIdentity> {
  const chain = certificatesOf(await textOf('SIGNING_CERTIFICATE_FILE', certificatePath));
  const [first, ...above] = chain;
  if (first === undefined) {
    throw new ToldError('SIGNING_CERTIFICATE_FILE must have a certificate in PEM, its own one first');
  }
  const key = keyOf(await textOf('SIGNING_KEY_FILE', keyPath));
  if (isOpenToOthers(await stat(keyPath))) throw new ToldError(`SIGNING_KEY_FILE ${OPEN_TO_OTHERS}`);
  if (!first.checkPrivateKey(key)) {
    throw new ToldError('SIGNING_KEY_FILE is not the key of the certificate in SIGNING_CERTIFICATE_FILE');
  }
  return identityOf(
    key,
    first.raw,
    above.map(({ raw }) => raw),
    false,
  );
}

/** The identity of a key and its certificates. Throws `ToldError` if the key cannot seal. */
export async function identityOf(
  key: KeyObject,
  certificate: Uint8Array,
  chain: readonly Uint8Array[],
  demonstration: boolean,
): Promise<SigningIdentity> {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const curve = CURVES[details?.namedCurve ?? ''];
  const isRsa = type === 'rsa' && (details?.modulusLength ?? 0) >= LEAST_RSA_BITS;
  if (!isRsa && curve === undefined) {
    throw new ToldError(
      `SIGNING_KEY_FILE must have an RSA key of ${LEAST_RSA_BITS} bits or more, or a key on P-256, P-384 or P-521`,
    );
  }
  const algorithm = isRsa
    ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    : { name: 'ECDSA', namedCurve: curve as string };
  const bytes = key.export({ type: 'pkcs8', format: 'der' });
  const imported = await webcrypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']);
  return { key: imported, kind: isRsa ? 'RSA' : 'EC', certificate, chain, demonstration };
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

function certificatesOf(text: string): X509Certificate[] {
  try {
    return (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
  } catch {
    throw new ToldError('SIGNING_CERTIFICATE_FILE has a certificate that cannot be read');
  }
}

function keyOf(text: string): KeyObject {
  try {
    const key = createPrivateKey(text);
    createPublicKey(key);
    return key;
  } catch {
    throw new ToldError('SIGNING_KEY_FILE must have a private key in PEM, without a passphrase');
  }
}

async function textOf(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ToldError(`${variable} cannot be read: ${describeError(error)}`);
  }
}
