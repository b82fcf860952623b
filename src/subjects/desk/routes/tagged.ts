/** Tags of answers: `wire/operator/tagged.ts`. */
export { tagged, tagOf } from '../../../wire/operator/tagged.ts';
