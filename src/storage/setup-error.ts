/** A clear refusal for people: no stack is shown with it. */
export class SetupError extends Error {}
