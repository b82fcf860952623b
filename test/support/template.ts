/** The database that all test databases are copies of. */
export const TEMPLATE = 'ventanilla_template';
