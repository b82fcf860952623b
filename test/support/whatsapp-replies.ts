/** What the channel's API refuses in the body of a reply, and with which code: its documented limits. */

const INVALID = 100;
const MISSING = 131008;
const WRONG_VALUE = 131009;

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, most: number, least = 1) =>
  typeof value === 'string' && value.length >= least && value.length <= most;
const hasOnly = (value: Fields, names: string) =>
  Object.keys(value).every((name) => names.split(' ').includes(name));
const areUnique = (values: readonly unknown[]) => new Set(values).size === values.length;

/** The error code for the part of a body that its type names; null where the channel takes it. */
export function replyRefusal(message: Fields): number | null {
  if (message.type === 'text') return textRefusal(message.text);
  if (message.type === 'document') return documentRefusal(message.document, 1_024);
  return isFields(message.interactive) ? interactiveRefusal(message.interactive) : MISSING;
}

function textRefusal(text: unknown): number | null {
  if (!isFields(text) || !hasOnly(text, 'body preview_url')) return INVALID;
  return isText(text.body, 4_096) ? null : WRONG_VALUE;
}

function documentRefusal(document: unknown, caption: number): number | null {
  if (!isFields(document) || !hasOnly(document, caption > 0 ? 'id filename caption' : 'id filename'))
    return INVALID;
  if (!isText(document.id, 256)) return MISSING;
  if (!isText(document.filename, 240)) return WRONG_VALUE;
  return document.caption === undefined || isText(document.caption, caption) ? null : WRONG_VALUE;
}

function interactiveRefusal({ type, header, body, action, ...rest }: Fields): number | null {
  if (Object.keys(rest).length > 0 || !isFields(body) || !isFields(action)) return INVALID;
  if (type === 'list') return listRefusal(header, body, action);
  if (type !== 'button' || !isText(body.text, 1_024) || !hasOnly(action, 'buttons')) return WRONG_VALUE;
  if (header !== undefined) {
    if (!isFields(header) || header.type !== 'document') return WRONG_VALUE;
    const refusal = documentRefusal(header.document, 0);
    if (refusal !== null) return refusal;
  }
  const { buttons } = action;
  if (!Array.isArray(buttons) || buttons.length < 1 || buttons.length > 3) return WRONG_VALUE;
  const replies = buttons.map(({ type: kind, reply }) => (kind === 'reply' && isFields(reply) ? reply : {}));
  const fit = replies.every(
    (reply) => isText(reply.id, 256) && isText(reply.title, 20) && hasOnly(reply, 'id title'),
  );
  const unique = areUnique(replies.map(({ id }) => id)) && areUnique(replies.map(({ title }) => title));
  return fit && unique ? null : WRONG_VALUE;
}

function listRefusal(header: unknown, body: Fields, action: Fields): number | null {
  if (header !== undefined || !isText(body.text, 4_096) || !isText(action.button, 20)) return WRONG_VALUE;
  const { sections } = action;
  if (!Array.isArray(sections) || sections.length < 1) return WRONG_VALUE;
  const rows: unknown[] = sections.flatMap((section) =>
    isFields(section) ? section.rows : [null],
  ) as unknown[];
  if (rows.length < 1 || rows.length > 10) return WRONG_VALUE;
  const fit = rows.every(
    (row) =>
      isFields(row) &&
      isText(row.id, 200) &&
      isText(row.title, 24) &&
      (row.description === undefined || isText(row.description, 72)),
  );
  return fit && areUnique(rows.map((row) => (row as Fields).id)) ? null : WRONG_VALUE;
}
