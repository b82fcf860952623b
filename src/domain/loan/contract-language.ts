/** The languages of contracts. */
export const CONTRACT_LANGUAGES = ['es', 'pt', 'en'] as const;
export type ContractLanguage = (typeof CONTRACT_LANGUAGES)[number];
