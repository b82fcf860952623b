/** Bytes and texts, by what Node and browsers both have. Pure. */

export const NO_BYTES = new Uint8Array(0);

/** The pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** True where no byte is 0x80 or more. */
export function isAscii(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (bytes[index]! >= 0x80) return false;
  return true;
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    STRICT.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The text of UTF-8, with U+FFFD for what is none. A byte order mark stays. */
export function textOfUtf8(bytes: Uint8Array): string {
  return LENIENT.decode(bytes);
}

const CONTINUATION = 0b10;

/** The number of bytes up to the last whole character, if the bytes are UTF-8. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >> 6 !== CONTINUATION) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** The text of UTF-8 that comes in pieces. The platform's own way to take pieces is slower in Node. */
export class Utf8Text {
  #rest = NO_BYTES;

  /** The characters that became whole. */
  add(piece: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? piece : joined([this.#rest, piece]);
    const whole = wholeCharacters(bytes);
    // Copied, because the caller may read into the same bytes again.
    this.#rest = new Uint8Array(bytes.subarray(whole));
    return textOfUtf8(bytes.subarray(0, whole));
  }
}

/** So many arguments suit every engine. */
const ARGUMENTS = 8_192;

/** A character for each byte, with the byte's number. */
export function latin1Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += ARGUMENTS)
    text += String.fromCharCode(...bytes.subarray(at, at + ARGUMENTS));
  return text;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
