/** The PDFs of contracts, for the backup. */
import { filesOf } from '../documents/files.ts';
import type { StoredFiles } from '../subject/subject.ts';
import { contractKeys } from './sql/contract-files.ts';

export const CONTRACT_FILES: StoredFiles = filesOf('contract', contractKeys);
