/**
 * Receives pushed events with the TypeScript client, and shows each one once.
 *
 *     VENTANILLA_WEBHOOK_SECRET=whsec_... PORT=8090 node webhook.ts
 *
 * The operator of the service sets the URL (`ventanilla partner endpoint set`) and gives you the secret. After a
 * rotation give both secrets, separated by a space. Put a server with TLS in front. `.ts` runs on Node from 22.18 on.
 */
import { createServer, type IncomingMessage } from 'node:http';
// In a project of your own, import from 'ventanilla-client'.
import { type PushedEvent, verifyWebhook, WebhookError } from '../client/src/index.ts';

/** An event is far smaller. */
const MAX_BODY_BYTES = 64 * 1024;

/** The ids of processed events. Keep them in your database, in the transaction that processes the event. */
const processed = new Set<string>();

function handle(event: PushedEvent): void {
  if (processed.has(event.id)) return;
  // The name of the type alone is shown here; `event.data` has the application.
  console.log(
    `${event.timestamp} ${event.type === 'unknown' ? event.sentType : event.type} ${event.data.id ?? ''}`,
  );
  processed.add(event.id);
}

/** The bytes of the body as they came: the signature is over them. null where there are too many. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answer(request: IncomingMessage, secrets: readonly string[]): Promise<number> {
  if (request.method !== 'POST') return 405;
  const body = await bodyOf(request);
  if (body === null) return 413;
  try {
    // The service waits 10 seconds for a 2xx, and pushes the event again otherwise.
    handle(await verifyWebhook(body, request.headers, secrets));
    return 204;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.error(`refused: ${error.message}`);
    return 400;
  }
}

const secrets = (process.env.VENTANILLA_WEBHOOK_SECRET ?? '').split(' ').filter(Boolean);
if (secrets.length === 0) {
  console.error('usage: VENTANILLA_WEBHOOK_SECRET=whsec_... PORT=8090 node webhook.ts');
  process.exit(1);
}
const server = createServer((request, response) => {
  answer(request, secrets).then(
    (status) => response.writeHead(status, { Connection: 'close' }).end(),
    (error) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
server.listen(Number(process.env.PORT ?? 8090), '127.0.0.1', () => {
  console.error(`listening on ${JSON.stringify(server.address())}`);
});
