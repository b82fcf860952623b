/** What a signed-in operator's page remembers between its parts: claims, the next application, and open acts. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { browserClock } from '../clock.ts';
import { Acts, type DecisionAct } from './acts.ts';
import { Ahead } from './ahead.ts';
import { type ClaimState, Claims } from './claims.ts';
import { watchDecisions } from './unsent.ts';

interface Desk {
  readonly claims: Claims;
  readonly ahead: Ahead;
  readonly acts: Acts;
  /** The number of the row of the queue that had the focus last. */
  readonly place: { current: number | null };
}

const DeskContext = createContext<Desk | null>(null);

function newDesk(queries: QueryClient, operator: number): Desk {
  const claims = new Claims(operator, browserClock);
  return {
    claims,
    ahead: new Ahead(queries, claims),
    acts: new Acts(queries, browserClock),
    place: { current: null },
  };
}

/** Lives as long as the operator is signed in. `operator`: the id. */
export function DeskProvider({ operator, children }: { operator: number; children: ReactNode }) {
  const queries = useQueryClient();
  const [desk] = useState(() => newDesk(queries, operator));
  useEffect(() => desk.claims.start(), [desk]);
  useEffect(() => desk.acts.start(), [desk]);
  useEffect(() => watchDecisions(desk.acts), [desk]);
  return <DeskContext value={desk}>{children}</DeskContext>;
}

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error('there is no DeskProvider');
  return desk;
}

export function useActs(): readonly DecisionAct[] {
  const { acts } = useDesk();
  return useSyncExternalStore(acts.subscribe, acts.list);
}

export function useClaimState(id: number): ClaimState {
  const { claims } = useDesk();
  return useSyncExternalStore(claims.subscribe, () => claims.stateOf(id));
}
