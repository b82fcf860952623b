/**
 * The script of the documentation page: copies code, shows the page's host, marks the current section, sends a batch,
 * reads events.
 */

const TIMEOUT_MS = 15_000;
/** The headers of an answer that a partner needs. */
const HEADERS = ['content-type', 'retry-after', 'idempotency-replayed', 'x-request-id'];

const byId = (id) => document.getElementById(id);
/** A part of the box that shows a form's answer. */
const part = (form, name) => form.querySelector(`[data-part=${name}]`);

for (const span of document.querySelectorAll('[data-origin]')) span.textContent = location.origin;

addCopyButtons();
markPlace();
setUpTry(byId('try-form'));
setUpRead(byId('read-form'));

function button(className, text, act) {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = className;
  made.textContent = text;
  made.addEventListener('click', act);
  return made;
}

function addCopyButtons() {
  // Without a secure context there is no clipboard, so the button is left out.
  if (navigator.clipboard === undefined) return;
  const { copy, copied } = document.body.dataset;
  for (const figure of document.querySelectorAll('.code')) {
    const made = button('copy', copy, async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      made.textContent = copied;
      setTimeout(() => {
        made.textContent = copy;
      }, 2_000);
    });
    figure.querySelector('figcaption').append(made);
  }
}

/** The entry of the contents for the section on the screen. */
function markPlace() {
  const links = [...document.querySelectorAll('.contents a')];
  const sections = links.map((link) => byId(link.hash.slice(1)));
  const mark = () => {
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = sections.findLastIndex((section) => section.getBoundingClientRect().top < 160);
    const current = atEnd ? sections.length - 1 : passed;
    links.forEach((link, index) => {
      if (index === current) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    });
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

function setUpTry(form) {
  form.hidden = false;
  byId('try-script').hidden = true;
  for (const phone of document.querySelectorAll('.scenario')) {
    phone.after(button('use', form.dataset.use, () => usePhone(form, phone.dataset.phone)));
  }
  onSubmit(form, send);
}

function setUpRead(form) {
  form.hidden = false;
  onSubmit(form, read);
}

function onSubmit(form, act) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    act(form);
  });
  form.addEventListener('reset', () => {
    part(form, 'answer').hidden = true;
    note(form, '');
  });
}

/** Sets the phone of the batch's first application. A batch that is no valid JSON becomes the example again. */
function usePhone(form, phone) {
  const field = byId('try-batch');
  let batch = readJson(field.value);
  if (firstOf(batch) === undefined) batch = readJson(field.defaultValue);
  const first = firstOf(batch);
  const name = 'telefono' in first && !('phone' in first) ? 'telefono' : 'phone';
  first[name] = phone;
  field.value = JSON.stringify(batch, null, 2);
  note(form, `${phone} ${form.dataset.used}`);
  byId(byId('try-key').value === '' ? 'try-key' : 'try-batch').focus();
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstOf(batch) {
  const list = batch?.applications ?? batch?.aplicaciones;
  const first = Array.isArray(list) ? list[0] : undefined;
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? first : undefined;
}

async function send(form) {
  const body = byId('try-batch').value;
  try {
    JSON.parse(body);
  } catch (error) {
    note(form, form.dataset.invalid + error.message, 'problem');
    byId('try-batch').focus();
    return;
  }
  const headers = { 'X-API-Key': byId('try-key').value.trim(), 'Content-Type': 'application/json' };
  if ((await ask(form, form.dataset.url, { method: 'POST', headers, body })) !== undefined) note(form, '');
}

async function read(form) {
  const { base, invalid, next } = form.dataset;
  const field = byId('read-path');
  const path = field.value.trim();
  // The key goes to no other address.
  if (!/^\/PRO\/(events([?]|$)|applications\/[^/]+$)/.test(path)) {
    note(form, invalid, 'problem');
    field.focus();
    return;
  }
  const headers = {
    'X-API-Key': byId('read-key').value.trim(),
    'Accept-Language': document.documentElement.lang,
  };
  const answer = await ask(form, base + path, { headers });
  if (answer === undefined) return;
  const cursor = answer?.next;
  if (typeof cursor === 'string') {
    const query = new URLSearchParams(path.split('?')[1]);
    query.set('after', cursor);
    field.value = `/PRO/events?${query}`;
  }
  note(form, typeof cursor === 'string' ? next : '');
}

/**
 * Sends a request and shows its answer. Resolves to the body, null where it is no JSON; undefined without an answer.
 */
async function ask(form, url, request) {
  const submit = form.querySelector('[type=submit]');
  submit.disabled = true;
  note(form, form.dataset.sending);
  const start = performance.now();
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { ...request, cache: 'no-store', signal });
    const text = await response.text();
    const body = readJson(text);
    show(
      form,
      response,
      body === undefined ? text : JSON.stringify(body, null, 2),
      performance.now() - start,
    );
    return body ?? null;
  } catch {
    part(form, 'answer').hidden = true;
    note(form, form.dataset.unreachable, 'problem');
    return undefined;
  } finally {
    submit.disabled = false;
  }
}

function show(form, response, text, ms) {
  const status = part(form, 'status');
  status.textContent = `${response.status} ${response.statusText} · ${Math.round(ms)} ms`;
  status.dataset.ok = String(response.ok);
  const lines = HEADERS.filter((name) => response.headers.has(name)).flatMap((name) => {
    const [term, value] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = name;
    value.textContent = response.headers.get(name);
    return [term, value];
  });
  part(form, 'headers').replaceChildren(...lines);
  part(form, 'body').textContent = text;
  part(form, 'answer').hidden = false;
  part(form, 'answer').scrollIntoView({ block: 'nearest' });
}

function note(form, text, kind = '') {
  const line = part(form, 'note');
  line.textContent = text;
  line.dataset.kind = kind;
}
