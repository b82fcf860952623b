/** Reads the option `--as`: who acts, for the history and for the record of acts (D34; docs/audit.md). Pure. */
import { Option } from 'commander';
import { ACTOR_RULE, readActor } from '../operations/acting.ts';
import { type OperatorContext, OperatorError } from '../operations/operator-context.ts';
import { asArgument } from './command.ts';

export interface ActorOptions {
  readonly as?: string | undefined;
}

export function actorOption(): Option {
  return new Option(
    '--as <name>',
    "who acts, for the history; default: OPERATOR, or the system's user",
  ).argParser(asArgument(readName));
}

/** The context with the operator of `--as`. */
export function namedBy({ as }: ActorOptions, context: OperatorContext): OperatorContext {
  return { ...context, actor: as ?? context.actor };
}

/** The name of an operator. Throws `OperatorError` with the rule. */
export function readName(text: string): string {
  const name = readActor(text);
  if (name === null) throw new OperatorError(`The name ${ACTOR_RULE}`);
  return name;
}
