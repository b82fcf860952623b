/** The number that a person knows a file by. Pure. */

/** A document by its id, and the indexes of the messages that it came by. */
interface Sent {
  readonly id: string;
  readonly messages: readonly string[];
}

/**
 * The number of a document's file among all files that the person sent, from 1 on (D43): those that became no document
 * count too. A file that was sent several times has the number of the first time. `documents`: all, the oldest first.
 * `files`: the indexes of the messages with files, in the order of sending. The files of messages that are not stored
 * any more came before these.
 */
export function fileNumber(id: string, documents: readonly Sent[], files: readonly string[]): number {
  const stored = new Set(files);
  const before = documents.filter(({ messages }) => !messages.some((index) => stored.has(index)));
  const place = before.findIndex((one) => one.id === id);
  if (place >= 0) return place + 1;
  const own = new Set(documents.find((one) => one.id === id)?.messages);
  return before.length + files.findIndex((index) => own.has(index)) + 1;
}
