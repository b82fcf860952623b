/**
 * Arguments that name a thing by its id. Each throws `InvalidArgumentError` if the text is not a whole number from 1
 * on. Pure.
 */
import { type ApplicationId, toApplicationId } from '../../domain/application/ids.ts';
import { type KeyId, type PartnerId, toKeyId, toPartnerId } from '../../domain/partner/credential.ts';
import { readPositive } from './command.ts';

export function readApplicationId(text: string): ApplicationId {
  return toApplicationId(readPositive(text));
}

export function readPartnerId(text: string): PartnerId {
  return toPartnerId(readPositive(text));
}

export function readKeyId(text: string): KeyId {
  return toKeyId(readPositive(text));
}
