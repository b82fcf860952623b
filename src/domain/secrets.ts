/** The secrets of an installation. Each key is 32 bytes. */
export interface Secrets {
  /** By key id (1 to 255); the first seals, all open. */
  readonly dataKeys: ReadonlyMap<number, Buffer>;
  readonly indexKey: Buffer;
  readonly apiKeyPepper: Buffer;
}
