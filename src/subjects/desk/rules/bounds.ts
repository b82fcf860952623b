/** How much operators may write and read. */

/** The most notes of an application. */
export const MOST_NOTES = 100;
/** The most characters (code points) of a note. */
export const MOST_NOTE_CHARACTERS = 2_000;
/** The most notes that an operator writes in an hour. */
export const MOST_NOTES_AN_HOUR = 120;
/** The most applications and files of documents, taken together, that an operator reveals in an hour. */
export const MOST_REVEALS_AN_HOUR = 60;
/** The largest file that is shown; `document show ID --output` writes larger ones. */
export const MOST_SHOWN_BYTES = 10_000_000;
