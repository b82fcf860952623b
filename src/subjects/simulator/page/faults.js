/** The dialog of the simulator's page that sets the faults. */

const NAMES = [
  'failShare',
  'lostShare',
  'vanishedShare',
  'doubledShare',
  'reorderedShare',
  'unheardShare',
  'goneShare',
  'delayMs',
];
const byId = (id) => document.getElementById(id);
const inputs = new Map(NAMES.map((name) => [name, byId(name)]));
/** Counts the moves of the sliders. An answer to an earlier request does not know of a later move. */
let moves = 0;
/** The page shows shares in percent. */
const unitOf = (name) => (name === 'delayMs' ? 1 : 100);

function show() {
  let some = false;
  for (const [name, input] of inputs) {
    const value = Number(input.value);
    const text = name === 'delayMs' ? `${value / 1_000} s` : `${value} %`;
    byId('faults').querySelector(`output[for=${name}]`).value = value === 0 ? 'none' : text;
    input.setAttribute('aria-valuetext', value === 0 ? 'none' : text);
    some ||= value > 0;
  }
  byId('faults-open').textContent = some ? 'Faults on' : 'Faults';
  byId('faults-open').classList.toggle('on', some);
}

async function read() {
  const movesBefore = moves;
  const response = await fetch('/simulator/faults', { cache: 'no-store' });
  if (!response.ok) return;
  const faults = await response.json();
  if (moves !== movesBefore) return;
  for (const [name, input] of inputs) input.value = String(Math.round(faults[name] * unitOf(name)));
  show();
}

async function save() {
  const faults = {};
  for (const [name, input] of inputs) faults[name] = Number(input.value) / unitOf(name);
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(faults);
  const response = await fetch('/simulator/faults', { method: 'POST', headers, body }).catch(() => null);
  byId('faults-problem').textContent = response?.ok ? '' : 'The change did not reach the service. Try again.';
}

for (const input of inputs.values()) {
  input.addEventListener('input', () => {
    moves += 1;
    show();
  });
  input.addEventListener('change', save);
}
byId('faults-none').addEventListener('click', () => {
  for (const input of inputs.values()) input.value = '0';
  moves += 1;
  show();
  save();
});
byId('faults-form').addEventListener('submit', (event) => event.preventDefault());
byId('faults-close').addEventListener('click', () => byId('faults').close());
byId('faults-open').addEventListener('click', () => {
  byId('faults').showModal();
  read().catch(() => {});
});
read().catch(() => {});
