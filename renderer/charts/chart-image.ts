/** A chart as a PNG: its title and legend above what uPlot has drawn, on the theme's panel colour. */
import { colourOf } from './colours.ts';
import type { ChartSeries } from './series.ts';

export interface ChartCaption {
  readonly title: string;
  readonly unit?: string | undefined;
  readonly series: readonly Pick<ChartSeries, 'label' | 'colour'>[];
}

/** In CSS pixels. */
const [MARGIN, HEAD, SWATCH] = [12, 26, 14];
const FAMILY = "'Inter Variable', system-ui, sans-serif";

/** Draws the plot's canvas below a caption, at the plot's own resolution. */
export function chartImage(plot: HTMLCanvasElement, { title, unit, series }: ChartCaption): Promise<Blob> {
  const scale = devicePixelRatio;
  const canvas = document.createElement('canvas');
  canvas.width = plot.width + 2 * MARGIN * scale;
  canvas.height = plot.height + (2 * MARGIN + HEAD) * scale;
  const ctx = canvas.getContext('2d');
  if (ctx === null) throw new Error('This browser does not support drawing on a canvas.');
  ctx.fillStyle = colourOf('panel');
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(plot, MARGIN * scale, (MARGIN + HEAD) * scale);
  ctx.scale(scale, scale);
  ctx.textBaseline = 'middle';
  const middle = MARGIN + HEAD / 2 - 4;
  let x = MARGIN;
  const write = (text: string, font: string, colour: Parameters<typeof colourOf>[0]): void => {
    ctx.font = `${font} ${FAMILY}`;
    ctx.fillStyle = colourOf(colour);
    ctx.fillText(text, x, middle);
    x += ctx.measureText(text).width + 8;
  };
  write(title, '600 12px', 'ink');
  if (unit !== undefined) write(unit, '12px', 'faint');
  for (const { label, colour } of series) {
    x += 6;
    ctx.fillStyle = colourOf(colour);
    ctx.fillRect(x, middle - 1, SWATCH, 2);
    x += SWATCH + 6;
    write(label, '11px', 'soft');
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('The image could not be created.')) : resolve(blob)));
  });
}
