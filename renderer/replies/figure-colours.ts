/** A report's figure in the colours of the dark theme: the file itself is made for paper. Pure. */

/** Ink, sheet, grid and axes of main/services/figures, and the series that would be black on black. */
const DARK: Readonly<Record<string, string>> = {
  '#222': '#eae8e3',
  '#fff': '#1a1b1e',
  '#ddd': '#2c2d31',
  '#444': '#b1aca2',
  '#000000': '#ffffff',
  '#0072b2': '#4ba3dc',
};

/** The figure as it is shown; saved files keep their own colours. */
export function figureFor(scheme: 'light' | 'dark', svg: string): string {
  if (scheme === 'light') return svg;
  return svg.replace(/(fill|stroke)="(#[0-9a-f]{3,6})"/g, (whole, name: string, colour: string) => {
    const dark = DARK[colour];
    return dark === undefined ? whole : `${name}="${dark}"`;
  });
}
