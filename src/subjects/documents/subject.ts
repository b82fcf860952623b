/** The parts of the documents that the program gets: commands, settings, tables, files and jobs. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import {
  CLAMD,
  DOCUMENT_DAYS,
  DOCUMENT_LAYOUTS,
  DOCUMENT_MOST_BYTES,
  DOCUMENT_READER,
  DOCUMENT_READING_SECONDS,
  DOCUMENT_STORE,
} from './settings.ts';

export const documents: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(program, 'document', 'the documents of applicants', 'document list --application 12'),
      load: async () => (await import('./commands/document.ts')).addDocumentCommands,
    },
  ],
  settings: [
    DOCUMENT_STORE,
    DOCUMENT_MOST_BYTES,
    DOCUMENT_DAYS,
    DOCUMENT_LAYOUTS,
    DOCUMENT_READER,
    DOCUMENT_READING_SECONDS,
    CLAMD,
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  files: async () => (await import('./files.ts')).DOCUMENT_FILES,
  service: async () => (await import('./service.ts')).documentService(),
};
