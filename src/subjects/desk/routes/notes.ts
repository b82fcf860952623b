/**
 * The route that writes a note (docs/operators.md, "One application"). The route of the application shows the notes.
 */
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { CONFLICTS } from '../rules/conflict.ts';
import { actingAs, type Desk } from '../uses/desk-context.ts';
import { addNote } from '../uses/notes.ts';
import { answered, applicationIdOf } from './answered.ts';
import { NewNote, Note } from './forms.ts';

/** The route. */
export function noteRoutes(desk: Desk): Route[] {
  return [
    route({
      method: 'POST',
      path: '/applications/{id}/notes',
      access: 'reviewer',
      failures: [404],
      conflicts: CONFLICTS,
      summary:
        'Writes a note about an application, for other operators. An Idempotency-Key makes a repetition count once.',
      headers: ['Idempotency-Key'],
      body: NewNote,
      reply: Note,
      run: ({ params, session, body: { text }, idempotencyKey: key }) =>
        answered(async () => {
          const { operatorId, login } = session;
          const by = { id: operatorId, login };
          const note = { applicationId: applicationIdOf(params.id), text, key };
          return { body: inForm(Note, await addNote(actingAs(desk, operatorId), by, note)) };
        }),
    }),
  ];
}
