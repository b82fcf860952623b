/** What the portal's API answers, and who is signed in there. */
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Static, TSchema } from 'typebox';
import { act } from '../../console/src/api/act.ts';
import { ask } from '../../console/src/api/ask.ts';
import { useSession } from '../../console/src/api/signed-in.ts';
import type { PortalDays } from '../../src/subjects/business/routes/portal.ts';
import type { PortalDeliveries } from '../../src/subjects/events/push/routes/portal.ts';
import type { PortalEvents } from '../../src/subjects/events/routes/portal.ts';
import type {
  InvitedAccount,
  PortalAccounts,
  SignedInAtPortal,
} from '../../src/subjects/operators/routes/portal.ts';
import type { IssuedKey } from '../../src/subjects/partners/routes/forms.ts';
import type { PortalKeys, PortalQuota, PortalSandbox } from '../../src/subjects/partners/routes/portal.ts';

export type Person = Static<typeof SignedInAtPortal>;
export type Quota = Static<typeof PortalQuota>;
export type Days = Static<typeof PortalDays>;
export type Events = Static<typeof PortalEvents>;
export type Deliveries = Static<typeof PortalDeliveries>;
export type Keys = Static<typeof PortalKeys>;
export type Issued = Static<typeof IssuedKey>;
export type Sandbox = Static<typeof PortalSandbox>;
export type Accounts = Static<typeof PortalAccounts>;
export type Invited = Static<typeof InvitedAccount>;

/** The session of the portal, which answers for a person at a partner where the console's names an operator. */
export function usePerson(): UseQueryResult<{ readonly operator: Person | null; readonly isOver: boolean }> {
  return useSession() as never;
}

/** What a path below `/api` answers. `everyMs`: how often the page asks again. */
export function useReading<Reply>(path: string, everyMs?: number): UseQueryResult<Reply> {
  return useQuery({
    queryKey: ['portal', path],
    queryFn: async () => (await ask<Reply>('GET', path)).body,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}

/** Does something; where it needs a new sign-in, it waits for that. */
export async function doing<Form extends TSchema>(
  method: 'POST' | 'DELETE',
  path: string,
  body: unknown = {},
): Promise<Static<Form>> {
  return (await act<Static<Form>>(method, path, body)).body;
}

/** Sends what changes something, and reads again what is at the path. */
export function useActing<What>(path: string, send: (what: What) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => queries.invalidateQueries({ queryKey: ['portal', path] }),
  });
}
