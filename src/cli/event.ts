/** `ventanilla event`. */
import { type Command, InvalidArgumentError } from 'commander';
import { type ResendStart, resendPartnerEvents } from '../usecases/endpoints.ts';
import { OperatorError } from '../usecases/operator-context.ts';
import { addCommand, type Cli, readPositive } from './command.ts';
import { writeJson, writeOutput } from './output.ts';

interface ResendOptions {
  readonly partner: number;
  readonly after?: string;
  readonly since?: Date;
  readonly json?: boolean;
}

export function addEventCommands(group: Command, cli: Cli): void {
  addResend(group, cli);
}

function addResend(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'resend',
    'push the events of a partner to its endpoint again, from a place on',
    'event resend --partner 2 --since 2026-11-20T00:00:00Z',
  )
    .requiredOption('--partner <id>', 'the partner', readPositive)
    .option('--after <event>', 'the events after this one, by its ID: evt_...')
    .option('--since <time>', 'the events of this time and later, as 2026-11-20T00:00:00Z', readTime)
    .action((options: ResendOptions) =>
      roles.operate(async (context) => {
        const queued = await resendPartnerEvents(context, options.partner, startOf(options));
        if (options.json) return writeJson(io, { queued });
        await writeOutput(
          io,
          queued === 0
            ? 'There is nothing to push again: no such event is kept that does not wait already.\n'
            : `${queued} ${queued === 1 ? 'event is' : 'events are'} pushed again.\n`,
        );
      }),
    );
}

function startOf({ after, since }: ResendOptions): ResendStart {
  if (after !== undefined && since === undefined) return { after };
  if (since !== undefined && after === undefined) return { since };
  throw new OperatorError('say where to begin: either --after or --since');
}

/** Reads a time with its offset, so that nobody's time zone is guessed. */
function readTime(text: string): Date {
  const time = new Date(text);
  if (
    !/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d))?$/.test(text) ||
    Number.isNaN(time.getTime())
  ) {
    throw new InvalidArgumentError(
      'It must be a day or a time with its offset: 2026-11-20, 2026-11-20T08:00:00-05:00.',
    );
  }
  return time;
}
