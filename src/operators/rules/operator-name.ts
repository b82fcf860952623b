/** How the history and the record of acts name an operator who has an account: by the id, which stays. */
export function operatorName(id: number): string {
  return `operator ${id}`;
}
