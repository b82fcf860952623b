/** Trouble of the store, for the ways in, which know nothing of the store's codes. */
export { isServerTrouble, storeTrouble } from '../storage/store-trouble.ts';
