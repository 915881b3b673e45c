/** A chart as a PNG: its title and legend above what uPlot has drawn, on the theme's panel colour. */
import { captionPlaces } from './caption-places.ts';
import { colourOf } from './colours.ts';
import type { ChartSeries } from './series.ts';

export interface ChartCaption {
  readonly title: string;
  readonly unit?: string | undefined;
  readonly series: readonly Pick<ChartSeries, 'label' | 'colour'>[];
}

/** In CSS pixels. */
const [MARGIN, HEAD, ROW, SWATCH] = [12, 26, 16, 14];
const FAMILY = "'Inter Variable', system-ui, sans-serif";

/** A text of the caption; a series' has a swatch before it. */
interface Part {
  readonly text: string;
  readonly font: string;
  readonly colour: Parameters<typeof colourOf>[0];
  readonly swatch: Parameters<typeof colourOf>[0] | null;
}

/** Draws the plot's canvas below a caption, at the plot's own resolution. */
export function chartImage(plot: HTMLCanvasElement, { title, unit, series }: ChartCaption): Promise<Blob> {
  const scale = devicePixelRatio;
  const canvas = document.createElement('canvas');
  const ctx = canvas.getContext('2d');
  if (ctx === null) throw new Error('This browser does not support drawing on a canvas.');
  const parts: readonly Part[] = [
    { text: title, font: '600 12px', colour: 'ink', swatch: null },
    ...(unit === undefined ? [] : [{ text: unit, font: '12px', colour: 'faint', swatch: null } as const]),
    ...series.map(({ label, colour }) => ({ text: label, font: '11px', colour: 'soft', swatch: colour }) as const),
  ];
  const indents = parts.map(({ swatch }) => (swatch === null ? 0 : 6 + SWATCH + 6));
  const widths = parts.map(({ text, font }, i) => {
    ctx.font = `${font} ${FAMILY}`;
    return (indents[i] ?? 0) + ctx.measureText(text).width;
  });
  const places = captionPlaces(widths, plot.width / scale);
  const head = HEAD + ROW * (places.at(-1)?.row ?? 0);
  // A canvas whose size is set forgets what it drew with.
  canvas.width = plot.width + 2 * MARGIN * scale;
  canvas.height = plot.height + (2 * MARGIN + head) * scale;
  ctx.fillStyle = colourOf('panel');
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(plot, MARGIN * scale, (MARGIN + head) * scale);
  ctx.scale(scale, scale);
  ctx.textBaseline = 'middle';
  for (const [i, { text, font, colour, swatch }] of parts.entries()) {
    const { x, row } = places[i] ?? { x: 0, row: 0 };
    const middle = MARGIN + HEAD / 2 - 4 + row * ROW;
    if (swatch !== null) {
      ctx.fillStyle = colourOf(swatch);
      ctx.fillRect(MARGIN + x + 6, middle - 1, SWATCH, 2);
    }
    ctx.font = `${font} ${FAMILY}`;
    ctx.fillStyle = colourOf(colour);
    ctx.fillText(text, MARGIN + x + (indents[i] ?? 0), middle);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('The image could not be created.')) : resolve(blob)));
  });
}
