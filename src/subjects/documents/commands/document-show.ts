/**
 * `ventanilla document show`: shows one document, and writes its file to the disk if asked (docs/documents.md). A
 * reveal is recorded first.
 */
import type { Command } from 'commander';
import { namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { writeJson, writeNote, writeOutput } from '../../../program/cli/output.ts';
import { addReveal, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { writeNewFile } from '../../../program/cli/write-new-file.ts';
import { noting } from '../../../program/operations/acting.ts';
import { type DocumentId, fileOf, showDocument } from '../uses/operate.ts';
import { readDocumentId, storeOf } from './document-store.ts';
import { documentJson, readingJson, shownText } from './document-view.ts';

interface Options extends RevealOptions {
  readonly output?: string;
  readonly json?: boolean;
}

/** Adds `document show`. */
export function addShow(group: Command, { roles, io, clock }: Cli): void {
  const example = 'document show 7 --output statement.pdf --reveal --reason "ticket 4711"';
  addReveal(addCommand(group, 'show', 'show what was read in a document, or write its file', example))
    .argument('<id>', 'the document', readDocumentId)
    .option('--output <file>', 'with --reveal: write the bytes of the document to a new file')
    .action(async (id: DocumentId, options: Options, command: Command) => {
      const why = revealReason(options, command);
      const { output } = options;
      if (output !== undefined && why === null)
        command.error('error: --output goes with --reveal and --reason');
      const store = await storeOf({ roles, clock });
      return roles.operate(async (context) => {
        const shown = await showDocument(context, store, id);
        const { applicationId } = shown.document;
        if (why !== null) {
          const target = `document ${id}`;
          await noting(namedBy(options, context), {
            act: 'document show --reveal',
            target,
            applicationId,
            reason: why,
          });
        }
        if (output !== undefined) await writeNewFile(output, await fileOf(shown));
        await (options.json === true
          ? writeJson(io, { ...documentJson(shown.document), ...readingJson(shown, why !== null) })
          : writeOutput(io, `${shownText(shown, why !== null)}\n`));
        if (output !== undefined)
          writeNote(io, `The file was written to ${output}: delete the copy when you are done.\n`);
      });
    });
}
