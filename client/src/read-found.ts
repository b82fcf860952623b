/** Reads the answer to a search for the partner's own applications. */
import { readState } from './read-answer.ts';
import { integer, list, object, text } from './read-json.ts';
import type { ApplicationState } from './wire.ts';

/** A page of what a search has found. */
export interface Found {
  readonly applications: readonly ApplicationState[];
  readonly unreadable: readonly number[];
  readonly next: string | null;
}

/** Reads a page of a search. */
export function readFound(value: unknown): Found {
  const root = object(value, 'the answer');
  const name = 'aplicaciones' in root ? 'aplicaciones' : 'applications';
  return {
    applications: list(root[name], name).map(readState),
    unreadable: list(root.unreadable ?? [], 'unreadable').map((id) => integer(id, 'unreadable')),
    next: root.next === null ? null : text(root.next, 'next'),
  };
}
