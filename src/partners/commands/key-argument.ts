import { readPositive } from '../../cli/command.ts';
import { type KeyId, toKeyId } from '../rules/credential.ts';

/** Reads an argument that names an API key. */
export function readKeyId(text: string): KeyId {
  return toKeyId(readPositive(text));
}
