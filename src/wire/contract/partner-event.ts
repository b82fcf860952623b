/** Renders a partner event (D41) as JSON, the same for the feed and the push, in English in every language. Pure. */
import type { PartnerEvent } from '../../domain/event/event.ts';
import { withOffset } from '../../ground/base/clock.ts';

/** The event as a JSON value. */
export function renderPartnerEvent(event: PartnerEvent): object {
  return {
    id: event.id,
    type: event.type,
    timestamp: withOffset(event.at),
    data: { id: event.applicationId, id_number: event.idNumber, ...membersOfType(event) },
  };
}

function membersOfType(event: PartnerEvent): object {
  switch (event.type) {
    case 'application.status_changed':
      return {
        from: event.from,
        to: event.to,
        reason_code: event.reasonCode,
        reason_codes: event.reasonCodes,
      };
    case 'application.interested':
      return {};
    case 'message.failed':
      return { message: event.message };
    case 'conversation.started':
    case 'documents.received':
    case 'contract.signed':
    case 'contract.withdrawn':
      return {};
    case 'income.verified':
    case 'conversation.ended':
      return { outcome: event.outcome };
  }
}
