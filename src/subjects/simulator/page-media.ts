/** The files of the simulator's page: what a person sends, and what a person opens. */
import type { FastifyInstance } from 'fastify';
import type { UploadFile } from '../../domain/message/channel.ts';
import type { Simulator } from './channel.ts';

/** Above what the service takes, so that a file can be too large for it. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** A browser shows these itself; everything else is saved, because it could run as a page of this host. */
const SHOWN = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'audio/ogg', 'audio/mpeg'];

/**
 * Adds `POST /simulator/files`, which keeps the body as a file of its content type and answers with its media id, and
 * `GET /simulator/files/{mediaId}`.
 */
export function addMedia(page: FastifyInstance, { files }: Simulator): void {
  page.register(async (upload) => {
    upload.removeAllContentTypeParsers();
    upload.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    upload.post('/simulator/files', { bodyLimit: MAX_FILE_BYTES }, async (request, reply) => {
      const bytes = request.body;
      if (!Buffer.isBuffer(bytes) || bytes.length === 0)
        return reply.status(400).send({ error: 'the file is empty' });
      const contentType = typeOf(request.headers['content-type']);
      return { mediaId: files.keep({ bytes, contentType, filename: 'file' }) };
    });
  });
  page.get<{ Params: { mediaId: string } }>('/simulator/files/:mediaId', (request, reply) => {
    const file = files.get(request.params.mediaId);
    if (file === null)
      return reply.status(404).send({ error: 'the channel does not have this file any more' });
    return reply.type(servedType(file)).header('Content-Disposition', dispositionOf(file)).send(file.bytes);
  });
}

function typeOf(header: string | undefined): string {
  const [, type] = /^([a-z]{1,20}\/[a-z0-9.+-]{1,80})(?:;|$)/.exec(header?.toLowerCase() ?? '') ?? [];
  return type ?? 'application/octet-stream';
}

function servedType({ contentType }: UploadFile): string {
  return SHOWN.includes(contentType) ? contentType : 'application/octet-stream';
}

function dispositionOf({ contentType, filename }: UploadFile): string {
  const way = SHOWN.includes(contentType) ? 'inline' : 'attachment';
  return `${way}; filename*=UTF-8''${encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, '_')}`;
}
