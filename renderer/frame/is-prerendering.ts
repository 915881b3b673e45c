import { createContext } from 'react';

/** Whether a screen is being prerendered: it then registers no keys and doesn't set the window's title. */
export const IsPrerendering = createContext(false);
