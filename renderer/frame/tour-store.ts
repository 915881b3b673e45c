/** Whether the tour is on; it is started from Home, the palette and the desktop's Help menu. */
import { observable } from '../components/observable.ts';

const { get, set, subscribe } = observable(false);

export const tour = { get, subscribe, start: (): void => set(true), end: (): void => set(false) };
