/** What the channel's API refuses in the body of a send, and with which code. */
import { replyRefusal } from './whatsapp-replies.ts';

/** How many body parameters and buttons an approved template has. */
export interface ApprovedTemplate {
  readonly parameters: number;
  readonly buttons: number;
}

/** The templates that exist, by `name/language`; null: any, with any number of parameters and buttons. */
export type ApprovedTemplates = ReadonlyMap<string, ApprovedTemplate> | null;

const INVALID = 100;
const MISSING = 131008;
const WRONG_VALUE = 131009;
const UNSUPPORTED = 131051;
const WINDOW_CLOSED = 131047;
const WRONG_COUNT = 132000;
const NO_TEMPLATE = 132001;
const WRONG_FORMAT = 132012;

type Fields = Readonly<Record<string, unknown>>;

/** Ends the validation with the code of the first fault. */
class Refused extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`refused with ${code}`);
    this.code = code;
  }
}

/**
 * The error code for a refused body; null if the body would be accepted: a template message, or a reply to one of the
 * phones that have written in the last 24 hours.
 */
export function refusalOf(
  body: unknown,
  templates: ApprovedTemplates,
  wrote: ReadonlySet<string> = new Set(),
): number | null {
  try {
    checkMessage(fields(body, INVALID), templates, wrote);
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
}

const REPLIES: readonly unknown[] = ['text', 'interactive', 'document'];

function checkMessage(message: Fields, templates: ApprovedTemplates, wrote: ReadonlySet<string>): void {
  const isReply = REPLIES.includes(message.type) && wrote.has(String(message.to));
  const parts = REPLIES.includes(message.type) ? `template ${message.type}` : 'template';
  only(message, `messaging_product recipient_type to type ${parts} biz_opaque_callback_data`, INVALID);
  demand(message.messaging_product === 'whatsapp', INVALID);
  demand((message.recipient_type ?? 'individual') === 'individual', INVALID);
  demand(message.to !== undefined, MISSING);
  demand(typeof message.to === 'string' && /^\+?[1-9]\d{6,14}$/.test(message.to), WRONG_VALUE);
  const callback = message.biz_opaque_callback_data ?? '';
  demand(typeof callback === 'string' && callback.length <= 512, INVALID);
  if (isReply) {
    const refusal = replyRefusal(message);
    if (refusal !== null) throw new Refused(refusal);
    return;
  }
  // This recipient has not written, so free text may not be sent.
  demand(!REPLIES.includes(message.type), WINDOW_CLOSED);
  demand(message.type === 'template', UNSUPPORTED);
  demand(message.template !== undefined, MISSING);
  checkTemplate(fields(message.template, INVALID), templates);
}

function checkTemplate(template: Fields, templates: ApprovedTemplates): void {
  only(template, 'name language components', INVALID);
  const language = fields(template.language, MISSING);
  only(language, 'code', INVALID);
  demand(typeof template.name === 'string' && typeof language.code === 'string', MISSING);
  demand(/^[a-z0-9_]{1,512}$/.test(String(template.name)), NO_TEMPLATE);
  demand(/^[a-z]{2,3}(_[A-Z]{2})?$/.test(String(language.code)), NO_TEMPLATE);
  const components = list(template.components ?? []).map((component) => fields(component, INVALID));
  const bodies = components.filter(({ type }) => type === 'body');
  const buttons = components.filter(({ type }) => type === 'button');
  demand(bodies.length <= 1 && bodies.length + buttons.length === components.length, INVALID);
  const parameters = bodies.flatMap(bodyParameters);
  for (const button of buttons) checkButton(button);
  demand(new Set(buttons.map(({ index }) => index)).size === buttons.length, WRONG_VALUE);
  if (templates === null) return;
  const approved = templates.get(`${template.name}/${language.code}`);
  demand(approved !== undefined, NO_TEMPLATE);
  demand(approved?.parameters === parameters.length, WRONG_COUNT);
  demand(approved?.buttons === buttons.length, WRONG_FORMAT);
}

function bodyParameters(body: Fields): readonly unknown[] {
  only(body, 'type parameters', INVALID);
  const parameters = list(body.parameters);
  demand(parameters.length > 0, MISSING);
  for (const item of parameters) {
    const parameter = fields(item, INVALID);
    only(parameter, 'type parameter_name text', INVALID);
    demand(parameter.type === 'text', WRONG_FORMAT);
    demand(typeof parameter.text === 'string' && parameter.text !== '', MISSING);
  }
  return parameters;
}

function checkButton(button: Fields): void {
  only(button, 'type sub_type index parameters', INVALID);
  demand(button.sub_type === 'quick_reply', WRONG_VALUE);
  demand(typeof button.index === 'string' && /^\d$/.test(button.index), WRONG_VALUE);
  const parameters = list(button.parameters);
  demand(parameters.length === 1, WRONG_FORMAT);
  const parameter = fields(parameters[0], INVALID);
  only(parameter, 'type payload', INVALID);
  demand(parameter.type === 'payload', WRONG_FORMAT);
  const { payload } = parameter;
  demand(typeof payload === 'string' && payload.length >= 1 && payload.length <= 256, WRONG_VALUE);
}

function demand(condition: boolean, code: number): void {
  if (!condition) throw new Refused(code);
}

function only(value: Fields, names: string, code: number): void {
  const allowed = names.split(' ');
  demand(
    Object.keys(value).every((name) => allowed.includes(name)),
    code,
  );
}

function fields(value: unknown, code: number): Fields {
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), code);
  return value as Fields;
}

function list(value: unknown): readonly unknown[] {
  demand(Array.isArray(value), INVALID);
  return value as unknown[];
}
