/** Reads a key's brand configuration: for now the names of its message templates (D32). */
import { MESSAGE_TYPES, type MessageType } from '../domain/notify.ts';
import type { Brand } from '../storage/api-keys.ts';
import { OperatorError } from './operator-context.ts';

export type { Brand };

const TEMPLATE_NAME = /^[a-z0-9_]{1,512}$/;

/**
 * The brand in a file's text: `{"templates": {"approved": "...", "offer": "...", "rejected": "..."}}`, each
 * part optional. Throws `OperatorError` that names what does not belong.
 */
export function readBrand(text: string): Brand {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OperatorError('the brand file must hold JSON');
  }
  const { templates } = objectWith(value, ['templates'], 'the brand file');
  if (templates === undefined) return {};
  const names = objectWith(templates, MESSAGE_TYPES, '"templates"');
  for (const [type, name] of Object.entries(names)) {
    if (typeof name !== 'string' || !TEMPLATE_NAME.test(name)) {
      throw new OperatorError(
        `the template of "${type}" must be a name of 1 to 512 lower-case letters, digits or _`,
      );
    }
  }
  return { templates: names as Partial<Record<MessageType, string>> };
}

function objectWith(value: unknown, keys: readonly string[], what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new OperatorError(`${what} must be a JSON object`);
  }
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    throw new OperatorError(`${what} has an unknown key "${unknown}": it may have ${keys.join(', ')}`);
  }
  return value as Record<string, unknown>;
}
