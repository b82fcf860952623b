/**
 * The part of the OpenAPI document about pushed events: the request that the service sends to a partner's endpoint
 * (D41). Data alone.
 */
import { EXAMPLE_EVENTS } from '../../../wire/contract/examples-reads.ts';
import { reference, type Schema } from '../../../wire/contract/openapi-request.ts';
import { renderPartnerEvent } from '../../../wire/contract/partner-event.ts';

const header = (name: string, description: string, schema: Schema, example: string): Schema => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
  example,
});

/** The webhooks of the document. */
export const PUSH_WEBHOOKS: Schema = {
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['events'],
      summary: 'An event, pushed to an endpoint of yours',
      description:
        'Only where you ask us for it. The body is the event as the feed has it. Verify the signature before you read the body: the Standard Webhooks specification says how, and `verifyWebhook` of our client does it. Answer within 10 seconds and before the work. An event may come twice, with the same `webhook-id`. The events of one application come in order. `endpoint.test` is the type of a test that we send when you ask for one.',
      security: [],
      parameters: [
        header('webhook-id', 'The `id` of the event.', { type: 'string' }, EXAMPLE_EVENTS[0]!.id),
        header(
          'webhook-timestamp',
          'When this attempt was made, in seconds since 1970.',
          { type: 'string', pattern: '^[0-9]+$' },
          '1795348800',
        ),
        header(
          'webhook-signature',
          'One or more signatures with a space between: `v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`.',
          { type: 'string' },
          'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: reference('PartnerEvent'),
            examples: Object.fromEntries(
              EXAMPLE_EVENTS.map((event) => [event.type, { value: renderPartnerEvent(event) }]),
            ),
          },
        },
      },
      responses: {
        '2XX': { description: 'You have stored the event.' },
        410: { description: 'You want no pushes any more: we disable the endpoint.' },
        default: { description: 'We send the event again, for three days at most.' },
      },
    },
  },
};
