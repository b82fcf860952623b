/**
 * Writes and reads the notes of operators about an application, which no applicant and no partner reads
 * (docs/operators.md, "One application"). Seals and opens `application_notes`, and records each new note.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { counted } from '../../../ground/base/counted.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { MOST_NOTE_CHARACTERS, MOST_NOTES, MOST_NOTES_AN_HOUR } from '../rules/queue.ts';
import {
  countNotes,
  holdNotes,
  insertNote,
  noteIdentity,
  noteOfRequest,
  notesOf,
  type StoredNote,
} from '../sql/notes.ts';
import { conflict, noApplication, otherRequest, Refusal } from './refusal.ts';

/** A note as it is shown; `text` is null if it does not open: it is damaged, or its data key is missing. */
export interface ShownNote {
  readonly id: number;
  readonly at: Date;
  readonly by: { readonly id: number; readonly login: string };
  readonly text: string | null;
}

/** What an operator writes. */
export interface WrittenNote {
  readonly applicationId: ApplicationId;
  readonly text: string;
  /** The Idempotency-Key, with which the same note is written once; null: there is none. */
  readonly key: string | null;
}

/**
 * Writes a note and records the act. Throws `OperatorError` if the text is refused, and a `Refusal` if there is no such
 * application, if its person was erased, if it has all its notes, if the operator has written too many, or if the key
 * was used for another note.
 */
export async function addNote(
  context: OperatorContext,
  by: ShownNote['by'],
  { applicationId, text: given, key }: WrittenNote,
): Promise<ShownNote> {
  const text = readableText(given, MOST_NOTE_CHARACTERS, { hasLines: true });
  if (text === null) {
    throw new OperatorError(
      `the text must have 1 to ${MOST_NOTE_CHARACTERS} characters, without control or hidden ones`,
    );
  }
  const { note } = await acting(
    context,
    ({ database, vault }) =>
      inTransaction(database, async (session) => {
        await holdNotes(session, by.id, applicationId);
        await requirePerson(session, applicationId);
        const before = key === null ? null : await noteOfRequest(session, by.id, key);
        if (before !== null) return { note: sameNote(vault, before, applicationId, text), isNew: false };
        const counts = await countNotes(session, { applicationId, operatorId: by.id }, MOST_NOTES_AN_HOUR);
        if (counts.ofApplication >= MOST_NOTES)
          throw conflict('too_many_notes', `the application has ${MOST_NOTES} notes: it takes no more`);
        if (counts.ofHour >= MOST_NOTES_AN_HOUR) {
          const retryAfterSeconds = counts.waitSeconds ?? 1;
          const wait = `too many notes within an hour: wait ${counted(retryAfterSeconds, 'second')}`;
          throw new Refusal(429, wait, { retryAfterSeconds });
        }
        const sealId = uuidv7();
        const content = vault.seal(text, noteIdentity(applicationId, sealId));
        const note = { applicationId, operatorId: by.id, sealId, content };
        return { note: { ...(await insertNote(session, note, key)), by, text }, isNew: true };
      }),
    ({ isNew }) => (isNew ? { act: 'application note', applicationId } : null),
  );
  return note;
}

/** The note of an earlier request with the key. A note that does not open counts as the same. */
function sameNote(vault: Vault, before: StoredNote, id: ApplicationId, text: string): ShownNote {
  const note = shownNote(vault, before);
  if (before.applicationId !== id || (note.text ?? text) !== text) throw otherRequest();
  return note;
}

async function requirePerson(session: Session, id: ApplicationId): Promise<void> {
  if ((await stillThere(session, [id])).length > 0) return;
  if ((await stillThere(session, [id], 'also erased')).length === 0) throw noApplication();
  throw conflict('erased', 'the person of the application was erased: nothing more is written about them');
}

/** The notes of an application, the oldest first. */
export async function readNotes(
  { database, vault }: { readonly database: Session; readonly vault: Vault },
  id: ApplicationId,
): Promise<ShownNote[]> {
  return (await notesOf(database, id)).map((note) => shownNote(vault, note));
}

function shownNote(
  vault: Vault,
  { id, applicationId, at, operatorId, login, sealId, content }: StoredNote,
): ShownNote {
  const text = opened(vault, content, noteIdentity(applicationId, sealId));
  return { id, at, by: { id: operatorId, login }, text };
}

function opened(vault: Vault, content: Buffer, identity: string): string | null {
  try {
    return vault.open(content, identity).toString('utf8');
  } catch {
    return null;
  }
}
