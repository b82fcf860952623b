/**
 * The route that reveals a document's file (docs/operators.md, "One application"). The route of the application lists
 * the documents.
 */
import type { Clock } from '../../../ground/base/clock.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import type { ShownFiles } from '../../documents/uses/document-text.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { noDocument, revealFile } from '../uses/document-file.ts';
import { keyedRequest } from '../uses/note-reveal.ts';
import { Refusal } from '../uses/refusal.ts';
import { answered, applicationIdOf, reasonOf } from './answered.ts';
import { RevealReason } from './forms.ts';
import { DocumentFile } from './work-forms.ts';

/** The route; `openFiles` opens the document store. */
export function documentRoutes(desk: Desk, openFiles: () => Promise<ShownFiles>): Route[] {
  const inTurn = oneAtATime(desk.clock);
  return [
    route({
      method: 'POST',
      path: '/applications/{id}/documents/{document}/reveal',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'The file of a document, and the lines of a PDF. The reading and its reason are recorded first.',
      headers: ['Idempotency-Key'],
      body: RevealReason,
      reply: DocumentFile,
      run: ({ params, session, body, idempotencyKey }) =>
        answered(async () => {
          const given = {
            applicationId: applicationIdOf(params.id),
            document: documentOf(params.document),
            reason: reasonOf(body.reason),
          };
          const by = session.operatorId;
          const { applicationId, document, reason } = given;
          const asked = ['reveal', applicationId, document, reason];
          const request = keyedRequest(by, idempotencyKey, asked);
          const context = actingAs(desk, by);
          return inTurn(async () => {
            const { contentType, bytes, text } = await revealFile(context, await openFiles(), {
              ...given,
              request,
            });
            const { lines, counted } = text ?? { lines: null, counted: null };
            const base64 = bytes.toString('base64');
            return { body: inForm(DocumentFile, { contentType, bytes: base64, lines, counted }) };
          });
        }),
    }),
  ];
}

function documentOf(text: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(text ?? '')) throw noDocument();
  return Number(text);
}

/**
 * The longest wait for a turn. With the reading of a PDF after it, a longer wait would pass the listener's own time
 * limit, and nobody would get the file.
 */
const WAIT_MS = 3_000;

/**
 * Files are opened one after the other, because each takes several times its size in memory. A request that has waited
 * too long gets 429, and nothing is opened or recorded for it.
 */
function oneAtATime(clock: Clock) {
  let before: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const askedMs = clock.monotonicMs();
    const result = before.then(() => {
      if (clock.monotonicMs() - askedMs <= WAIT_MS) return work();
      throw new Refusal(429, 'other files are being opened: try again', { retryAfterSeconds: 5 });
    });
    before = result.catch(() => {});
    return result;
  };
}
