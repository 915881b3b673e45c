/** What screens that need every run ask for: the same question, so that it is asked once. */
export const allRuns = { limit: 500 };
