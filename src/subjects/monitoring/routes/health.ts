/** The route of the operator API that says whether all is well, as `ventanilla status --json`. Reads only. */
import { type Static, Type } from 'typebox';
import type { StoreView } from '../../../program/operations/operator-context.ts';
import { form, orNull } from '../../../wire/operator/form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { readStatus } from '../uses/status.ts';
import { statusJson } from '../uses/status-json.ts';

/** What is always there. The numbers follow, as docs/monitoring.md has them, unless the store cannot tell them. */
export const Health = Type.Object({
  ok: Type.Boolean(),
  /** The worst first. `code` names its section in docs/runbook.md. */
  troubles: Type.Array(form({ code: Type.String(), text: Type.String() })),
  version: Type.String(),
  /** Where the store is. */
  store: orNull(Type.String()),
  /** When each job of the upkeep succeeded and failed last. */
  upkeep: Type.Optional(
    Type.Array(
      form({
        job: Type.String(),
        succeeded_at: orNull(Type.String()),
        took_ms: orNull(Type.Number()),
        failed_at: orNull(Type.String()),
        failed_why: orNull(Type.String()),
      }),
    ),
  ),
});
export type HealthReply = Static<typeof Health>;

/** `view` is the store of the service. */
export function healthRoutes(view: StoreView): Route[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      access: 'admin',
      summary: 'Says whether all is well, and what is wrong: the members of `ventanilla status --json`.',
      reply: Health,
      run: async () => ({ body: statusJson(await readStatus(view)) as HealthReply }),
    }),
  ];
}
