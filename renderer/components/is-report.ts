import { createContext } from 'react';

/** Whether the page is a report in a file: there are no other screens, and it may be printed as a whole. */
export const IsReport = createContext(false);
