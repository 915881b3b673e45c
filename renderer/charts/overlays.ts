/** Overlays on a chart: labelled reference lines, event markers and the picked step. */
import type uPlot from 'uplot';
import { colourOf } from './colours.ts';
import { type EventMarker, slotsOf } from './markers.ts';
import type { ChartColour } from './series.ts';

/** A reference value, such as the baseline or the goal. */
export interface ReferenceLine {
  readonly value: number;
  readonly label: string;
  readonly colour?: ChartColour;
  /** Side of the label; choose the one away from the data. */
  readonly side?: 'left' | 'right';
  /** Drawn only where the data come near it: a far limit would flatten the curve. */
  readonly isFar?: boolean;
}

export interface Overlays {
  readonly lines: readonly ReferenceLine[];
  readonly markers: readonly EventMarker[];
  readonly picked: number | null;
}

/** A marker's symbol: shape and colour both encode the kind. */
const signs: Readonly<Record<EventMarker['kind'], readonly [sign: string, colour: ChartColour]>> = {
  checkpoint: ['◆', 'soft'],
  warning: ['▲', 'warn'],
  pause: ['‖', 'soft'],
  resume: ['▸', 'good'],
  phase: ['GRPO', 'strand-b'],
  error: ['✕', 'bad'],
  info: ['•', 'soft'],
};

/** The symbol for a kind of marker, for lists beside the chart. */
export function markerSign(kind: EventMarker['kind']): readonly [sign: string, colour: ChartColour] {
  return signs[kind];
}

/** Draws the current `overlays` on each redraw. */
export function overlayPlugin(overlays: () => Overlays): uPlot.Plugin {
  return {
    hooks: {
      drawAxes: (plot) => clipped(plot, () => drawMarkers(plot, overlays())),
      draw: (plot) => clipped(plot, () => drawLines(plot, overlays())),
    },
  };
}

function clipped(plot: uPlot, draw: () => void): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}

function drawLines(plot: uPlot, { lines }: Overlays): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  for (const { value, label, colour = 'soft', side = 'left' } of lines) {
    const y = Math.round(plot.valToPos(value, 'y', true)) + 0.5;
    if (!Number.isFinite(y)) continue;
    stroke(ctx, colourOf(colour), [5 * scale, 4 * scale], scale, [bbox.left, y], [bbox.left + bbox.width, y]);
    ctx.fillStyle = colourOf(colour);
    ctx.font = `${10 * scale}px 'Inter Variable', system-ui, sans-serif`;
    ctx.textAlign = side;
    // Below the line if there is no room above it.
    const above = y - bbox.top > 14 * scale;
    ctx.textBaseline = above ? 'bottom' : 'top';
    const x = side === 'left' ? bbox.left + 4 * scale : bbox.left + bbox.width - 4 * scale;
    // A rim in the panel's colour: the series may run through it.
    ctx.strokeStyle = colourOf('panel');
    ctx.lineWidth = 3 * scale;
    ctx.lineJoin = 'round';
    ctx.setLineDash([]);
    ctx.strokeText(label, x, y + (above ? -2 : 2) * scale);
    ctx.fillText(label, x, y + (above ? -2 : 2) * scale);
  }
}

function drawMarkers(plot: uPlot, { markers, picked }: Overlays): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const bottom = bbox.top + bbox.height;
  for (const { at, kinds } of slotsOf(markers, (step) => plot.valToPos(step, 'x'))) {
    const x = Math.round(plot.valToPos(at, 'x', true)) + 0.5;
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    stroke(ctx, colourOf('line-strong'), [scale, 3 * scale], scale, [x, bbox.top], [x, bottom]);
    ctx.font = `${9 * scale}px 'Inter Variable', system-ui, sans-serif`;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'bottom';
    for (const [place, [{ kind }]] of kinds.entries()) {
      const [sign, colour] = signs[kind];
      ctx.fillStyle = colourOf(colour);
      ctx.fillText(sign, x, bottom - scale * (1 + 10 * place));
    }
  }
  if (picked === null) return;
  const x = Math.round(plot.valToPos(picked, 'x', true)) + 0.5;
  stroke(ctx, colourOf('ink'), [], scale, [x, bbox.top], [x, bottom]);
}

type Point = readonly [x: number, y: number];

function stroke(
  ctx: CanvasRenderingContext2D,
  colour: string,
  dash: readonly number[],
  width: number,
  from: Point,
  to: Point,
): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash([...dash]);
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}
