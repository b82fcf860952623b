/** Makes and changes the elements of the simulator's page. Texts become text nodes, never HTML. */

const HUES = 6;

/**
 * Gives `list` one element for each item, in order. An item keeps its element, so that the focus and the place of a
 * screen reader stay. `make` makes a new element; `update` brings an element up to date.
 */
export function sync(list, items, make, update) {
  const left = new Map(Array.from(list.children, (child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = String(item.key);
    const child = left.get(key) ?? make(item);
    left.delete(key);
    child.dataset.key = key;
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
  for (const child of left.values()) child.remove();
}

/** Makes an element with a class and children. Texts become text nodes. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** Sets a text only where the text changes, because a screen reader reads it again. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Shows initials on one of a few colours. A phone always gets the same colour. */
export function setAvatar(avatar, name, id) {
  const words = name.split(/\s+/).filter((word) => /^\p{L}/u.test(word));
  const initials = [words[0], words.length > 1 ? words[1] : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  setText(avatar, initials.join('').toLocaleUpperCase());
  avatar.className = `avatar hue-${Number.parseInt(id.slice(0, 6), 16) % HUES}`;
}

/** The time with its zone, as the browser's language writes it; with the day where it is not today. */
export function timeOf(iso) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  const day = today ? {} : { day: 'numeric', month: 'short' };
  return at.toLocaleString(navigator.language, {
    ...{ ...day, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  });
}
