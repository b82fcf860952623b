/** Opens the place that an address names: a folder, or an S3-compatible store. `place.ts` has the rules of both. */
import { resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { Folder } from './folder.ts';
import type { Place, PlaceUse } from './place.ts';
import type { S3Account } from './s3.ts';

/**
 * The place of an address: `s3://bucket/prefix` or a folder. Throws the `failure` of the use for any other address, and
 * if an S3 address comes without its account.
 */
export async function openPlace(
  address: string,
  account: S3Account | null,
  use: PlaceUse,
  clock: Clock,
): Promise<Place> {
  if (!address.includes('://')) return new Folder(resolve(address), use);
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{2,62}((\/[\w-][\w.-]*)*\/?)$/.test(address)) {
    throw use.failure(`${address} is no place for ${use.purpose}: name a folder, or s3://bucket/prefix`);
  }
  if (account === null) {
    throw use.failure(`${address} needs an account: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
  }
  const { S3 } = await import('./s3.ts');
  return new S3(address, account, use, clock);
}
