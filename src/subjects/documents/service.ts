/**
 * What `serve` and `worker` run for documents: the upkeep jobs that delete documents and files, and that compare the
 * store with the rows (docs/documents.md, "The store").
 */
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { openStore } from './open.ts';
import { DOCUMENT_DAYS } from './settings.ts';
import { eraseDocuments } from './sql/erasure.ts';
import { eraseSentFiles, forgetOldSentFiles } from './sql/sent-files.ts';
import { deleteOldDocuments } from './sql/upkeep.ts';
import { KEY_PARTS } from './store/document-store.ts';
import { deleteFiles, lookAtFiles } from './uses/keep-files.ts';

/** The most ids in one log line. */
const MOST_IDS = 20;

/** The jobs of one process. Each remembers where it goes on. */
export function documentService(): Service {
  let part = Math.floor(Math.random() * KEY_PARTS);
  return {
    upkeep: [
      {
        name: 'delete files of documents',
        run: async ({ database, clock, setting }) => deleteFiles(database, await openStore(setting, clock)),
      },
      {
        name: 'compare files with documents',
        seldom: true,
        run: async (context) => {
          await compare(context, part);
          part = (part + 1) % KEY_PARTS;
        },
      },
      {
        name: 'delete documents without applications',
        seldom: true,
        run: following([
          { table: 'documents', orErased: true, forget: eraseDocuments },
          { table: 'sent_files', orErased: true, forget: eraseSentFiles },
        ]),
      },
      { name: 'delete old documents', seldom: true, run: deleteOld },
    ],
  };
}

async function compare({ database, clock, setting, log }: ServiceContext, part: number): Promise<void> {
  const { orphans, missing } = await lookAtFiles(database, await openStore(setting, clock), part);
  if (orphans > 0) log.warn({ files: orphans }, 'files without a document are deleted in an hour');
  if (missing.length > 0) {
    const facts = { documents: missing.length, document_ids: missing.slice(0, MOST_IDS) };
    log.error(facts, 'the files of these documents are missing in the store: put them back from a copy');
  }
}

async function deleteOld({ database, log, setting }: ServiceContext): Promise<void> {
  const days = setting(DOCUMENT_DAYS);
  if (days === null) return;
  await forgetOldSentFiles(database, days);
  const documents = await deleteOldDocuments(database, days);
  if (documents > 0) log.info({ documents }, 'deleted old documents');
}
