/** Tags of answers, so that a page that asks again gets 304 if nothing has changed. Pure. */
import { createHash } from 'node:crypto';
import type { Answer } from './route.ts';

/** The tag of an answer's content. Only equal contents have equal tags. */
export function tagOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}

/** The answer with the tag of its content; 304 if the browser has it already. */
export function tagged<Reply>(body: Reply, knownTags: readonly string[]): Answer<Reply> {
  const tag = tagOf(body);
  return knownTags.includes(tag) ? { status: 304, body: null, tag } : { body, tag };
}
