/** Checks the seal of a PDF that this service has made, from the bytes alone (RFC 5652). Pure: no network, no disk. */
import { createHash, verify, X509Certificate } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { isStampOf } from './time-stamps.ts';

/** The facts that a seal proves. */
export interface SealFacts {
  /**
   * No byte was changed since the seal, the seal covers the whole file, and a time stamp, if there is one, belongs to
   * this seal.
   */
  readonly intact: boolean;
  /** SHA-256 of the certificate, in hex; null: there is none. */
  readonly certificate: string | null;
  readonly timestamped: boolean;
}

const BROKEN: SealFacts = { intact: false, certificate: null, timestamped: false };
const RANGE = /\/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\]/g;
/** RFC 5652, section 11.2. */
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
/** id-aa-timeStampToken (RFC 3161, appendix A). */
const TIMESTAMP = '1.2.840.113549.1.9.16.2.14';

/** The facts of the last seal of a PDF. Never throws: a PDF that cannot be read is not intact. */
export function checkSeal(pdf: Buffer): SealFacts {
  try {
    const range = [...pdf.toString('latin1').matchAll(RANGE)].at(-1)?.slice(1).map(Number);
    if (range === undefined) return BROKEN;
    const [first = 0, firstLength = 0, second = 0, secondLength = 0] = range;
    const isWhole = first === 0 && second > firstLength && second + secondLength === pdf.length;
    const hex = pdf.toString('latin1', firstLength + 1, second - 1);
    if (!isWhole || !/^[0-9a-f]+$/i.test(hex)) return BROKEN;
    const signed = Buffer.concat([pdf.subarray(0, firstLength), pdf.subarray(second, second + secondLength)]);
    return checkSignature(Buffer.from(hex, 'hex'), signed);
  } catch {
    return BROKEN;
  }
}

/**
 * Checks the signature by RFC 5652, section 5.6: first the digest among the signed attributes, then the signature over
 * these.
 */
function checkSignature(cms: Buffer, signed: Buffer): SealFacts {
  const { offset, result } = asn1js.fromBER(cms);
  // The room for the signature ends with zeros.
  if (offset <= 0 || cms.subarray(offset).some((byte) => byte !== 0)) return BROKEN;
  const { content } = new pkijs.ContentInfo({ schema: result });
  const { signerInfos, certificates = [] } = new pkijs.SignedData({ schema: content });
  const [signer] = signerInfos;
  const attributes = signer?.signedAttrs;
  if (signerInfos.length !== 1 || signer === undefined || attributes === undefined) return BROKEN;
  const digest = attributes.attributes.find(({ type }) => type === MESSAGE_DIGEST)?.values[0];
  const { sid } = signer;
  if (!(sid instanceof pkijs.IssuerAndSerialNumber)) return BROKEN;
  const own = certificates.find(
    (one) =>
      one instanceof pkijs.Certificate &&
      one.serialNumber.isEqual(sid.serialNumber) &&
      one.issuer.isEqual(sid.issuer),
  );
  if (!(digest instanceof asn1js.OctetString) || !(own instanceof pkijs.Certificate)) return BROKEN;
  const certificate = new X509Certificate(Buffer.from(own.toSchema().toBER(false)));
  const isSigned = verify(
    'sha256',
    Buffer.from(attributes.encodedValue),
    { key: certificate.publicKey, dsaEncoding: 'der' },
    signer.signature.valueBlock.valueHexView,
  );
  const isSame = createHash('sha256').update(signed).digest().equals(digest.valueBlock.valueHexView);
  const stamp = signer.unsignedAttrs?.attributes.find(({ type }) => type === TIMESTAMP)?.values[0];
  const isStamped =
    stamp === undefined ||
    isStampOf(Buffer.from(stamp.toBER(false)), signer.signature.valueBlock.valueHexView);
  return {
    intact: isSigned && isSame && isStamped,
    certificate: createHash('sha256').update(certificate.raw).digest('hex'),
    timestamped: stamp !== undefined,
  };
}
