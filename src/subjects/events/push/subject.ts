/**
 * The parts of the pushes in the program: commands, settings, jobs, loops. `program/subject/subject.ts` has the form.
 */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { groupNamed } from '../../../program/cli/command.ts';
import type { Subject } from '../../../program/subject/subject.ts';
import { ENDPOINT_HOSTS } from './rules/endpoint-hosts.ts';

export const push: Subject = {
  commands: [
    {
      command: (program) => groupNamed(program, 'partner'),
      load: async () => (await import('./commands/endpoint.ts')).addEndpointCommands,
    },
    {
      command: (program) => groupNamed(program, 'event'),
      load: async () => (await import('./commands/resend.ts')).addResend,
    },
  ],
  settings: [ENDPOINT_HOSTS],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  portalRoutes: async () => (await import('./routes/portal.ts')).portalDeliveryRoutes,
  consoleRoutes: async () => {
    const { endpointRoutes } = await import('./routes/endpoint.ts');
    return (context) => endpointRoutes(context, context.setting(ENDPOINT_HOSTS));
  },
  service: async () => (await import('./service.ts')).PUSH_SERVICE,
};

/** What the pushes do for a partner that closes. */
export async function endPushes(session: Session, partnerId: PartnerId): Promise<unknown> {
  return (await import('./sql/endpoints.ts')).disableEndpoint(session, partnerId);
}
