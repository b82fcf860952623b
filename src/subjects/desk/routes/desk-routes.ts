/** Puts together all routes of the desk (docs/operators.md, "The operator API"). */
import type { Route } from '../../../wire/operator/route.ts';
import type { ShownFiles } from '../../documents/uses/document-text.ts';
import type { FilesToSend } from '../../documents/uses/file-to-send.ts';
import type { ProposingDesk } from '../uses/propose.ts';
import type { LookingDesk } from '../uses/second-looks.ts';
import { applicationRoutes } from './application.ts';
import { correctionRoutes } from './corrections.ts';
import { documentRoutes } from './documents.ts';
import { inboxRoutes } from './inbox.ts';
import { leadRoutes } from './lead.ts';
import { neighbourRoute } from './neighbours.ts';
import { noteRoutes } from './notes.ts';
import { paymentPlanRoute } from './payment-plan.ts';
import { pendRoutes } from './pend.ts';
import { personRoute } from './person.ts';
import { proposalRoutes } from './proposals.ts';
import { queueRoutes } from './queue.ts';
import { reconsiderationRoutes } from './reconsiderations.ts';
import { savedViewRoutes } from './saved-views.ts';
import { searchRoute } from './search.ts';
import { viewFileRoute } from './view-files.ts';
import { viewRoute } from './views.ts';

/** The routes; `openFiles` opens the document store. */
export function deskRoutes(
  desk: LookingDesk & ProposingDesk,
  openFiles: () => Promise<ShownFiles & FilesToSend>,
): Route[] {
  return [
    searchRoute(desk),
    personRoute(desk),
    viewRoute(desk),
    viewFileRoute(desk),
    ...savedViewRoutes(desk),
    ...queueRoutes(desk),
    ...applicationRoutes(desk),
    neighbourRoute(desk),
    ...correctionRoutes(desk),
    ...documentRoutes(desk, openFiles),
    ...noteRoutes(desk),
    ...proposalRoutes(desk),
    paymentPlanRoute(desk),
    ...pendRoutes(desk),
    ...reconsiderationRoutes(desk),
    ...inboxRoutes(desk, openFiles),
    ...leadRoutes(desk),
  ];
}
