import { createContext } from 'react';

/** Whether a screen is only rehearsed: it then has neither the keys nor the window's title. */
export const IsRehearsed = createContext(false);
