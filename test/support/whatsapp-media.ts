/** The files of the stand-in for WhatsApp's API: uploads, the addresses of files, and the files themselves. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './http-answer.ts';

/** A file at the channel. */
export interface MediaFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Of an upload. */
  readonly filename?: string;
}

/** What the stand-in does with the next request of a kind instead of the usual. */
export interface MediaFaults {
  lookUp: (((address: string) => Answer) | 'never' | 'close')[];
  download: (Answer | 'never' | 'close')[];
  upload: (Answer | 'never' | 'close')[];
}

export interface MediaStore {
  readonly files: Map<string, MediaFile>;
  readonly faults: MediaFaults;
  /** Asked for each request, for faults by chance; `faults` go first. The answer waits for `held`. */
  chance: (() => { readonly held?: Promise<unknown>; readonly answer?: Answer | 'close' }) | null;
  /** Every request, with its path. None may carry another host's name. */
  readonly requests: string[];
  /** Keeps a file of a person and returns its id. */
  keep(file: MediaFile): string;
  /** Answers a request about files; false for any other request. */
  handle(request: IncomingMessage, response: ServerResponse, base: string): Promise<boolean>;
}

export function mediaStore(
  phoneNumberId: string,
  errorAnswer: (code: number, status?: number) => Answer,
): MediaStore {
  const addresses = new Map<string, string>();
  const store: MediaStore = {
    files: new Map(),
    faults: { lookUp: [], download: [], upload: [] },
    chance: null,
    requests: [],
    keep(file) {
      const id = `${1_000_000_000 + store.files.size}`;
      store.files.set(id, file);
      return id;
    },
    async handle(request, response, base) {
      const url = new URL(request.url ?? '', base);
      const [, id = ''] = /^\/v25\.0\/(\d+)$/.exec(url.pathname) ?? [];
      const isUpload = request.method === 'POST' && url.pathname === `/v25.0/${phoneNumberId}/media`;
      const isDownload = request.method === 'GET' && url.pathname === '/whatsapp_business/attachments/';
      const isLookUp = request.method === 'GET' && id !== '' && id !== phoneNumberId;
      if (!isUpload && !isDownload && !isLookUp) return false;
      store.requests.push(`${request.method} ${url.pathname}`);
      const { held, answer: chanced } = store.chance?.() ?? {};
      await held;
      const say = (answer: Answer | 'never' | 'close') => {
        if (answer === 'never') return;
        if (answer === 'close') {
          response.destroy();
          return;
        }
        response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '');
      };
      if (isUpload) {
        const file = await readUpload(request);
        const fault = store.faults.upload.shift() ?? chanced;
        if (fault !== undefined) say(fault);
        else if (file === null) say(errorAnswer(100));
        else say({ status: 200, body: JSON.stringify({ id: store.keep(file) }) });
        return true;
      }
      if (isLookUp) {
        const file = store.files.get(id);
        const key = randomUUID();
        const address = `${base}/whatsapp_business/attachments/?mid=${id}&ext=1&hash=${key}`;
        const fault = store.faults.lookUp.shift() ?? chanced;
        if (typeof fault === 'function') say(fault(address));
        else if (fault !== undefined) say(fault);
        else if (url.searchParams.get('phone_number_id') !== phoneNumberId) say(errorAnswer(100));
        else if (file === undefined) say({ ...errorAnswer(100, 404) });
        else {
          addresses.set(key, id);
          const sha256 = createHash('sha256').update(file.bytes).digest('hex');
          const facts = {
            messaging_product: 'whatsapp',
            url: address,
            mime_type: file.contentType,
            sha256,
            id,
          };
          say({ status: 200, body: JSON.stringify({ ...facts, file_size: file.bytes.length }) });
        }
        return true;
      }
      const file = store.files.get(addresses.get(url.searchParams.get('hash') ?? '') ?? '');
      const fault = store.faults.download.shift() ?? chanced;
      if (fault !== undefined) say(fault);
      else if (file === undefined) say({ status: 404 });
      else response.writeHead(200, { 'Content-Type': file.contentType }).end(file.bytes);
      return true;
    },
  };
  return store;
}

/** The file of a multipart body, by the platform's own reader; null where a part is missing. */
async function readUpload(request: IncomingMessage): Promise<MediaFile | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = { 'Content-Type': request.headers['content-type'] ?? '' };
  const form = await new Response(Buffer.concat(chunks), { headers }).formData().catch(() => null);
  const file = form?.get('file');
  const isWhole = form?.get('messaging_product') === 'whatsapp' && typeof form.get('type') === 'string';
  if (!isWhole || !(file instanceof File)) return null;
  return { bytes: Buffer.from(await file.arrayBuffer()), contentType: file.type, filename: file.name };
}
