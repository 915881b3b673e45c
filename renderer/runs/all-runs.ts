/** The query input shared by screens that need every run, so that the list is fetched once. */
export const allRuns = { limit: 500 };
