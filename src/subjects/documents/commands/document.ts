/** `ventanilla document`: the group of commands, and `document list` (docs/documents.md). */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { DOCUMENT_STATES, type DocumentState } from '../../../domain/document/document.ts';
import { addCommand, type Cli, choiceOption, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { type ListOptions, shortTime, writeList } from '../../../program/cli/output.ts';
import { listDocuments } from '../uses/operate.ts';
import { addShow } from './document-show.ts';
import { documentJson } from './document-view.ts';

interface Options extends ListOptions {
  readonly application?: ApplicationId;
  readonly state?: DocumentState;
}

/**
 * Adds the commands to their group. The conversation has the commands that decide, because it acts on each decision.
 */
export function addDocumentCommands(group: Command, cli: Cli): void {
  addDocumentList(group, cli);
  addShow(group, cli);
}

function addDocumentList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list documents, newest first', 'document list --state received')
    .option('--application <id>', 'only documents of this application', readApplicationId)
    .addOption(choiceOption('--state <state>', 'only documents in this state', DOCUMENT_STATES))
    .addOption(limitOption())
    .action((options: Options) =>
      roles.operate(({ database }) => {
        const { application: applicationId = null, state = null } = options;
        return writeList(io, listDocuments(database, { applicationId, state }), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'RECEIVED', value: ({ receivedAt }) => shortTime(receivedAt) },
            { title: 'APPLICATION', value: ({ applicationId: id }) => id },
            { title: 'PURPOSE', value: ({ purpose }) => purpose },
            { title: 'STATE', value: ({ state: now }) => now },
            {
              title: 'REASON',
              value: ({ reason, missingAt }) => (missingAt === null ? reason : 'file missing'),
            },
            { title: 'TYPE', value: ({ contentType }) => contentType },
            { title: 'BYTES', value: ({ bytes }) => bytes },
          ],
          json: documentJson,
          none: 'No documents.',
        });
      }),
    );
}
