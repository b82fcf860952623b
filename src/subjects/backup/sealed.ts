/**
 * Seals and opens every object of a place: compressed (zstd), then AES-256-GCM under a key that HKDF makes from
 * `BACKUP_KEY`, a random salt and the object's name (RFC 5869). So an object opens only under its own name, and a place
 * that gives another object, or another part of it, is found out. Pure but for random bytes. README.md has the rule;
 * `BackupKey` has the form.
 */
import { hkdfSync, randomBytes, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { OtherBackupKeyError, UnreadableBackupError } from './errors.ts';

const MAGIC = Buffer.from('VBK');
const VERSION = 1;
const HINT_BYTES = 8;
const SALT_BYTES = 16;
const HEADER_BYTES = MAGIC.length + 1 + HINT_BYTES + SALT_BYTES;
const TAG_BYTES = 16;
/** Each object has its own key, so one nonce serves. */
const NONCE = Buffer.alloc(12);
/** Level 1: the pages of a store hold mostly sealed bytes, which no level makes smaller. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 1024 * 1024 };
/** How many bytes one step makes. With Node's 16 KiB, opening a volume took four times as long. */
const STEP = { chunkSize: 1024 * 1024 };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Seals and opens the objects of one `BACKUP_KEY` (32 bytes).
 *
 * The form: `VBK` and the version in a byte, 8 bytes that tell `BACKUP_KEY` from others, 16 bytes of salt, the sealed
 * bytes, 16 bytes of tag. The first 28 bytes are authenticated with the rest.
 */
export class BackupKey {
  readonly #key: Buffer;
  readonly #hint: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
    this.#hint = derive(key, Buffer.alloc(0), 'ventanilla backup: which key', HINT_BYTES);
  }

  /** Seals an object that the place will hold under `name`. */
  async seal(name: string, plain: Buffer): Promise<Buffer> {
    const header = Buffer.concat([MAGIC, Buffer.of(VERSION), this.#hint, randomBytes(SALT_BYTES)]);
    const key = await this.#keyOf(name, header);
    // The Web Crypto API works outside of the event loop, which the requests need.
    const sealed = await webcrypto.subtle.encrypt(parameters(header), key, await compress(plain, LEVEL));
    return Buffer.concat([header, Buffer.from(sealed)]);
  }

  /**
   * Opens the object of this name. Throws `UnreadableBackupError` if it is cut off, changed, or of another version or
   * key.
   */
  async open(name: string, object: Buffer): Promise<Buffer> {
    const header = object.subarray(0, HEADER_BYTES);
    if (object.length < HEADER_BYTES + TAG_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new UnreadableBackupError(`${name} is cut off, or no part of a backup: use another backup`);
    }
    const version = header[MAGIC.length];
    if (version !== VERSION) {
      throw new UnreadableBackupError(
        `${name} has form ${version}, and this version of Ventanilla reads form ${VERSION}: use the version that made the backup`,
      );
    }
    if (!header.subarray(MAGIC.length + 1, MAGIC.length + 1 + HINT_BYTES).equals(this.#hint)) {
      throw new OtherBackupKeyError(
        `${name} was made with another BACKUP_KEY: set the key that made the backup`,
      );
    }
    const key = await this.#keyOf(name, header);
    const packed = await webcrypto.subtle
      .decrypt(parameters(header), key, object.subarray(HEADER_BYTES))
      .catch(() => {
        throw new UnreadableBackupError(
          `${name} is cut off or was changed, or belongs under another name: use another backup`,
        );
      });
    return decompress(Buffer.from(packed), STEP);
  }

  #keyOf(name: string, header: Buffer): Promise<webcrypto.CryptoKey> {
    const salt = header.subarray(HEADER_BYTES - SALT_BYTES);
    const key = derive(this.#key, salt, `ventanilla backup: object ${name}`, 32);
    return webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
  }
}

function parameters(header: Buffer) {
  return { name: 'AES-GCM', iv: NONCE, additionalData: header, tagLength: 8 * TAG_BYTES };
}

function derive(key: Buffer, salt: Buffer, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, info, bytes));
}
