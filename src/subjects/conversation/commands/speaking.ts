/** The context of a command whose turn may ask for the consent (D43, D45). Reads TERMS_FILE at that moment. */
import type { Cli } from '../../../program/cli/command.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { TERMS_FILE } from '../../signing/settings.ts';
import { loadTerms } from '../../signing/uses/load-terms.ts';
import type { SpeakingContext } from '../uses/tell.ts';

/** Reads the terms of the moment. */
export const termsOfCommand = (roles: Cli['roles']) => async () => loadTerms(await roles.setting(TERMS_FILE));

/** The context of an act, with the terms of the moment. */
export function speaking(roles: Cli['roles'], context: OperatorContext): SpeakingContext {
  return { ...context, terms: termsOfCommand(roles) };
}
