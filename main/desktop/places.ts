/** The page's screens for the menu; tests/renderer/frame/screens.test.ts compares them with the page's own. */
export const places = [
  { path: '/', label: 'Home' },
  { path: '/texts', label: 'Texts & datasets' },
  { path: '/tasks', label: 'Tasks' },
  { path: '/curriculum', label: 'Curriculum' },
  { path: '/replies', label: 'Replies' },
  { path: '/experiments', label: 'Experiments' },
  { path: '/runs', label: 'Runs' },
  { path: '/samples', label: 'Samples' },
  { path: '/compare', label: 'Compare' },
  { path: '/playground', label: 'Playground' },
  { path: '/models', label: 'Models' },
  { path: '/settings', label: 'Settings' },
] as const;

/** The key of a screen in the menu; past the ninth there is no digit left, and 0 resets the zoom. */
export function placeKey(path: string): string | null {
  if (path === '/settings') return 'CmdOrCtrl+,';
  const number = places.findIndex((place) => place.path === path) + 1;
  return number < 1 || number > 9 ? null : `CmdOrCtrl+${number}`;
}
