/**
 * Seals a PDF with the operator's certificate: PAdES B-B, or B-T with a time stamp (ETSI EN 319 142-1; docs/signing.md,
 * "The contract"). Uses the network only for the time stamp.
 */
import { hash, type webcrypto, X509Certificate } from 'node:crypto';
import { CryptoKeySigner, PDF, PdfArray, PdfDict, PdfName, PdfNumber, TimestampError } from '@libpdf/core';
import type { Clock } from '../../../ground/base/clock.ts';
import type { SigningIdentity } from './identity.ts';
import { timestampAuthorityAt } from './time-stamps.ts';

/** Seals with one certificate. */
export interface Sealer {
  /** Whether the certificate is the demonstration's own. */
  readonly demonstration: boolean;
  /** SHA-256 of the certificate, in hex. */
  readonly certificate: string;
  /** Whether the certificate is valid at an instant of the database's clock. */
  isValidAt(at: Date): boolean;
  /** Throws `TimestampFailure` if the authority of the time does not answer as it should. */
  seal(pdf: Uint8Array, facts: { readonly reason: string; readonly at: Date }): Promise<Buffer>;
}

/** The authority of the time did not answer, or not as it should. Trying again may help. */
export class TimestampFailure extends Error {
  override readonly name = 'TimestampFailure';
}

/** Bytes that are reserved for the signature, its certificates and its time stamp. */
const ROOM = 24_576;

/** Where time stamps come from. */
interface Stamping {
  /** The address of an authority by RFC 3161. */
  readonly url: string;
  readonly clock: Clock;
}

/** A sealer that seals with an identity. `stamping` null: its seals have no time stamp. */
export function sealerOf(identity: SigningIdentity, stamping: Stamping | null): Sealer {
  const { key, certificate, chain, kind, demonstration } = identity;
  const algorithm = kind === 'RSA' ? 'RSASSA-PKCS1-v1_5' : 'ECDSA';
  const signer = new CryptoKeySigner(key as webcrypto.CryptoKey, certificate, kind, algorithm, [...chain]);
  const stamp =
    stamping === null
      ? {}
      : {
          level: 'B-T' as const,
          timestampAuthority: timestampAuthorityAt(stamping.url, stamping.clock),
        };
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return {
    demonstration,
    certificate: hash('sha256', certificate),
    isValidAt: (at) => at >= validFromDate && at <= validToDate,
    async seal(pdf, { reason, at }) {
      const document = await PDF.load(pdf);
      certify(document);
      try {
        const { bytes } = await document.sign({
          signer,
          reason,
          signingTime: at,
          digestAlgorithm: 'SHA-256',
          estimatedSize: ROOM,
          ...stamp,
        });
        return Buffer.from(bytes);
      } catch (error) {
        if (error instanceof TimestampError) throw new TimestampFailure('no time stamp', { cause: error });
        throw error;
      }
    },
  };
}

/** Permits no change at all, not even a note or another signature. */
const NO_CHANGES = 1;

/**
 * Makes the signature a certifying one (ISO 32000-1, 12.8.2.2 and 12.8.4): a reader then reports the document as
 * changed if anything was added to it. The library has no option for this, so the entry is added to the signature when
 * the library registers it.
 */
function certify(document: PDF): void {
  const { registry } = document.context;
  const register = registry.register.bind(registry);
  registry.register = (object) => {
    const isSignature = object instanceof PdfDict && object.getName('Type')?.value === 'Sig';
    if (isSignature) object.set('Reference', new PdfArray([docMdp()]));
    const ref = register(object);
    if (isSignature) document.getCatalog().set('Perms', PdfDict.of({ DocMDP: ref }));
    return ref;
  };
}

function docMdp(): PdfDict {
  return PdfDict.of({
    Type: PdfName.of('SigRef'),
    TransformMethod: PdfName.of('DocMDP'),
    TransformParams: PdfDict.of({
      Type: PdfName.of('TransformParams'),
      P: PdfNumber.of(NO_CHANGES),
      V: PdfName.of('1.2'),
    }),
  });
}
