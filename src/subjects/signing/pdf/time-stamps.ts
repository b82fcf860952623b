/**
 * Gets time stamps from an authority over the network, and checks them (RFC 3161; docs/signing.md, "The contract").
 * Time and size of an answer are limited, and a stamp must be one of exactly the bytes that were sent.
 */
import { createHash } from 'node:crypto';
import { HttpTimestampAuthority, type TimestampAuthority, TimestampError } from '@libpdf/core';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import type { Clock } from '../../../ground/base/clock.ts';

/** The longest wait for a time stamp with its last byte, in milliseconds. */
const WITHIN_MS = 5_000;
/** The stamp shares the room of a seal with certificates, so it may take only a part. */
const MOST_BYTES = 16 * 1_024;

/** The authority at an address. Throws `TimestampError` for every answer that is not a stamp of these bytes. */
export function timestampAuthorityAt(url: string, clock: Clock): TimestampAuthority {
  const authority = new HttpTimestampAuthority(url, { timeout: WITHIN_MS, fetch: wholeAnswer(clock) });
  return {
    async timestamp(digest, algorithm) {
      const token = await authority.timestamp(digest, algorithm);
      if (!hashIn(token)?.hash.equals(digest))
        throw new TimestampError('the time stamp is of something else');
      return token;
    },
  };
}

/** Reads the whole answer within the limits. The library's own time limit ends with the first byte. */
function wholeAnswer(clock: Clock): typeof fetch {
  return async (input, init = {}) => {
    const response = await fetch(input, { ...init, signal: clock.timeout(WITHIN_MS) });
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > MOST_BYTES) throw new TimestampError(`the answer has more than ${MOST_BYTES} bytes`);
      parts.push(part);
    }
    return new Response(Buffer.concat(parts), { status: response.status });
  };
}

/**
 * Whether a time stamp is one of these bytes. It does not check whether its authority can be trusted: the reader of the
 * PDF decides that.
 */
export function isStampOf(token: Uint8Array, bytes: Uint8Array): boolean {
  const found = hashIn(token);
  return found !== null && createHash(found.algorithm).update(bytes).digest().equals(found.hash);
}

const HASHES: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/** What a token stamps (RFC 3161, section 2.4.2); null: it cannot be read. */
function hashIn(token: Uint8Array): { readonly algorithm: string; readonly hash: Buffer } | null {
  try {
    const { content } = new pkijs.ContentInfo({ schema: asn1js.fromBER(token).result });
    const { eContent } = new pkijs.SignedData({ schema: content }).encapContentInfo;
    const { messageImprint } = pkijs.TSTInfo.fromBER(eContent?.getValue() ?? new ArrayBuffer());
    const algorithm = HASHES[messageImprint.hashAlgorithm.algorithmId];
    const hash = Buffer.from(messageImprint.hashedMessage.valueBlock.valueHexView);
    return algorithm === undefined ? null : { algorithm, hash };
  } catch {
    return null;
  }
}
