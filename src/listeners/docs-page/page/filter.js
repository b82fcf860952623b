/** The field of the documentation page that finds rows of its tables: other rows, tables and sections go away. */

const field = document.getElementById('filter');
const note = document.getElementById('filter-note');
const sections = [...document.querySelectorAll('main > section')];
/** The details that the filter unfolded, and not the reader. */
const unfolded = new Set();

/** Small letters without accents, so that `codigo` finds `Código`. */
const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

function filter() {
  const wanted = plain(field.value.trim());
  let count = 0;
  for (const section of sections) {
    let found = 0;
    for (const table of section.querySelectorAll('.table')) {
      const fitting = showRows(table, wanted);
      table.hidden = fitting === 0;
      const details = table.closest('details');
      if (details !== null) details.hidden = fitting === 0;
      unfold(details, wanted !== '' && fitting > 0);
      found += fitting;
    }
    section.hidden = wanted !== '' && found === 0;
    count += found;
  }
  document.body.classList.toggle('filtered', wanted !== '');
  note.textContent = wanted === '' ? '' : count === 0 ? note.dataset.none : `${count} ${note.dataset.rows}`;
}

/** Shows the rows that have the text; all rows of a table whose caption has it. Returns their number. */
function showRows(table, wanted) {
  const isAll = plain(table.querySelector('caption').textContent).includes(wanted);
  let fitting = 0;
  for (const row of table.querySelectorAll('tbody tr')) {
    row.hidden = !isAll && !plain(row.textContent).includes(wanted);
    if (!row.hidden) fitting += 1;
  }
  return fitting;
}

function unfold(details, isWanted) {
  if (details === null) return;
  if (isWanted && !details.open) {
    details.open = true;
    unfolded.add(details);
  } else if (!isWanted && unfolded.delete(details)) details.open = false;
}

document.getElementById('finder').hidden = false;
field.addEventListener('input', filter);
// A browser that goes back keeps the text of the field.
filter();
