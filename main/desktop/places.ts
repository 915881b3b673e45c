/** The page's screens as the menu names them; tests/renderer/frame/screens.test.ts holds them against the page's own. */
export const places = [
  { path: '/', label: 'Home' },
  { path: '/texts', label: 'Texts & datasets' },
  { path: '/curriculum', label: 'Curriculum' },
  { path: '/replies', label: 'Replies' },
  { path: '/runs', label: 'Runs' },
  { path: '/samples', label: 'Samples' },
  { path: '/compare', label: 'Compare' },
  { path: '/playground', label: 'Playground' },
  { path: '/models', label: 'Models' },
  { path: '/settings', label: 'Settings' },
] as const;
