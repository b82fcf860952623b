/** Messages for tests, with words that occur nowhere else. */
import { toApplicationId, toMessageId } from '../../../src/domain/application/ids.ts';
import {
  formatCallback,
  interestPayload,
  type OutgoingMessage,
} from '../../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';

export const PHONE = '+573229876541';
export const NAME = 'Zoraida Wyxbrand';

let serial = 0;

/** A message of a new application. */
export function aMessage(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const applicationId = 7_000 + serial++;
  const attempt = changes.attempt ?? 1;
  return {
    messageId: toMessageId(`${applicationId}`),
    applicationId: toApplicationId(applicationId),
    attempt,
    type: 'offer',
    phone: toPhone(PHONE),
    text: `Hola ${NAME}`,
    buttons: [
      { title: 'Me interesa', payload: interestPayload(toApplicationId(applicationId)) },
      { title: 'No gracias', payload: 'declined' },
    ],
    template: { name: 'ventanilla_offer', language: 'es_CO', parameters: [NAME, '$ 6.000.000'] },
    callback: formatCallback(toMessageId(`${applicationId}`), attempt),
    ...changes,
  };
}
