/**
 * Serves a page: the files that `console/build.js` has built, by content coding (docs/operators.md,
 * "The page"). Reads these files once.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorCode } from '../../ground/base/describe-error.ts';

/** The built page: `index.html`, and the assets by name. */
export interface Page {
  readonly index: Buffer;
  readonly assets: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  /** The bytes by content coding. */
  readonly bytes: Readonly<Record<Coding, Buffer>>;
}

type Coding = 'br' | 'gzip' | 'identity';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page runs only its own files, makes no HTML from texts, and is in no frame. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const FOR_EVER = 'public, max-age=31536000, immutable';
const NOT_BUILT =
  'The page is not built here. In a checkout, npm ci and npm start build it. The API is at /api.\n';

/** The page's route. */
export const PAGE_ROUTE = '/*';

/** Reads the files of a folder that `console/build.js` has written; null if it has no page. */
export async function readPage(folder: string): Promise<Page | null> {
  try {
    const index = await readFile(join(folder, 'index.html'));
    const names = await readdir(join(folder, 'assets'));
    const assets = await Promise.all(
      names
        .filter((name) => extname(name) in TYPES)
        .map(async (name) => [name, await readAsset(join(folder, 'assets', name))] as const),
    );
    return { index, assets: new Map(assets) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function readAsset(path: string): Promise<Asset> {
  const [identity, br, gzip] = await Promise.all(['', '.br', '.gz'].map((end) => readFile(path + end)));
  return { type: TYPES[extname(path)]!, bytes: { identity: identity!, br: br!, gzip: gzip! } };
}

/** Answers every path that has no other route and is not below `/api`. The page itself reads the path. */
export function addPage(app: FastifyInstance, page: () => Promise<Page | null>): void {
  app.get(PAGE_ROUTE, async (request, reply) => {
    const { '*': path } = request.params as { '*': string };
    if (path === 'api' || path.startsWith('api/')) return reply.callNotFound();
    const found = await page();
    if (found === null) return reply.status(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
    reply.headers(PAGE_HEADERS);
    if (!path.startsWith('assets/')) return reply.type('text/html; charset=utf-8').send(found.index);
    const asset = found.assets.get(path.slice('assets/'.length));
    if (asset === undefined) return reply.callNotFound();
    return sendAsset(asset, request, reply);
  });
}

function sendAsset({ type, bytes }: Asset, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const coding = codingOf(request.headers['accept-encoding']);
  reply.headers({ 'Cache-Control': FOR_EVER, Vary: 'Accept-Encoding' });
  if (coding !== 'identity') reply.header('Content-Encoding', coding);
  return reply.type(type).send(bytes[coding]);
}

/** The smallest coding that a browser takes. Codings with a weight are ignored, because no browser sends them. */
function codingOf(accepted = ''): Coding {
  const codings = accepted.split(',').map((part) => part.trim());
  return (['br', 'gzip'] as const).find((coding) => codings.includes(coding)) ?? 'identity';
}
