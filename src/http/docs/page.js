/**
 * The script of the documentation page: copies code, shows the page's host, marks the current section, sends a batch.
 */

const TIMEOUT_MS = 15_000;
/** The headers of an answer that a partner needs. */
const HEADERS = ['content-type', 'retry-after', 'idempotency-replayed', 'x-request-id'];

const byId = (id) => document.getElementById(id);

for (const span of document.querySelectorAll('[data-origin]')) span.textContent = location.origin;

addCopyButtons();
markPlace();
setUpTry(byId('try-form'));

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
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
  form.addEventListener('reset', () => {
    byId('try-answer').hidden = true;
    note('');
  });
}

/** Sets the phone of the batch's first application. A batch that is no valid JSON becomes the example again. */
function usePhone(form, phone) {
  const field = byId('try-batch');
  let batch = readBatch(field.value);
  if (firstOf(batch) === undefined) batch = readBatch(field.defaultValue);
  const first = firstOf(batch);
  const name = 'telefono' in first && !('phone' in first) ? 'telefono' : 'phone';
  first[name] = phone;
  field.value = JSON.stringify(batch, null, 2);
  note(`${phone} ${form.dataset.used}`);
  byId(byId('try-key').value === '' ? 'try-key' : 'try-batch').focus();
}

function readBatch(text) {
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
  const { url, sending, invalid, unreachable } = form.dataset;
  try {
    JSON.parse(body);
  } catch (error) {
    note(invalid + error.message, 'problem');
    byId('try-batch').focus();
    return;
  }
  const submit = form.querySelector('[type=submit]');
  submit.disabled = true;
  note(sending);
  const start = performance.now();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'X-API-Key': byId('try-key').value.trim(), 'Content-Type': 'application/json' },
      body,
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    show(response, await response.text(), performance.now() - start);
    note('');
  } catch {
    byId('try-answer').hidden = true;
    note(unreachable, 'problem');
  }
  submit.disabled = false;
}

function show(response, text, ms) {
  const status = byId('try-status');
  status.textContent = `${response.status} ${response.statusText} · ${Math.round(ms)} ms`;
  status.dataset.ok = String(response.ok);
  const lines = HEADERS.filter((name) => response.headers.has(name)).flatMap((name) => {
    const [term, value] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = name;
    value.textContent = response.headers.get(name);
    return [term, value];
  });
  byId('try-headers').replaceChildren(...lines);
  const parsed = readBatch(text);
  byId('try-body').textContent = parsed === undefined ? text : JSON.stringify(parsed, null, 2);
  byId('try-answer').hidden = false;
  byId('try-answer').scrollIntoView({ block: 'nearest' });
}

function note(text, kind = '') {
  byId('try-note').textContent = text;
  byId('try-note').dataset.kind = kind;
}
