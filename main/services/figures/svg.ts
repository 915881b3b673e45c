/** What all figures share: the sheet, the plot's frame, axes and legend, as SVG text. */

export const SHEET = { width: 720, height: 420 } as const;
export const PLOT = { left: 70, right: 700, top: 48, bottom: 340 } as const;
/** Wong 2011 (Nature Methods 8): distinguishable with any colour vision. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'] as const;

/** The colour of the i-th series. */
export function colourOf(i: number): string {
  return COLOURS[i % COLOURS.length] ?? COLOURS[0];
}

/** What XML has no way to write. */
const NOT_XML = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Escapes text for XML. */
function escaped(text: string): string {
  return text
    .replace(NOT_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export interface TextOptions {
  readonly size?: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly rotate?: number;
}

/** A line of text. */
export function textAt(x: number, y: number, text: string, options: TextOptions = {}): string {
  const { size = 12, anchor = 'start', rotate } = options;
  const rotation = rotate === undefined ? '' : ` transform="rotate(${rotate} ${fixed(x)} ${fixed(y)})"`;
  return `<text x="${fixed(x)}" y="${fixed(y)}" font-size="${size}" text-anchor="${anchor}"${rotation}>${escaped(text)}</text>`;
}

/** A whole figure. */
export function sheet(title: string, parts: readonly string[], height: number = SHEET.height): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SHEET.width} ${height}" width="${SHEET.width}" height="${height}" font-family="DejaVu Sans, Arial, sans-serif" fill="#222">`,
    `<rect width="${SHEET.width}" height="${height}" fill="#fff"/>`,
    textAt(SHEET.width / 2, 26, title, { size: 16, anchor: 'middle' }),
    ...parts,
    '</svg>',
  ].join('\n')}\n`;
}

/** Maps a value range to a range on the sheet. */
export interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** A linear scale with ticks at round numbers. */
export function linearScale(low: number, high: number, from: number, to: number): Scale {
  const span = high > low ? high - low : Math.abs(high) || 1;
  const step = roundStep(span / 5);
  const first = Math.ceil(low / step - 1e-9) * step;
  const count = Math.floor((low + span - first) / step + 1e-9) + 1;
  return {
    at: (value) => from + ((value - low) / span) * (to - from),
    ticks: Array.from({ length: Math.max(count, 1) }, (_, i) => first + i * step),
  };
}

/** 1, 2 or 5 times a power of ten. */
function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/** Frame, grid, ticks and labels of the vertical axis. */
export function verticalAxis(scale: Scale, label: string): string[] {
  return [
    ...scale.ticks.flatMap((tick) => {
      const y = fixed(scale.at(tick));
      return [
        `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y}" y2="${y}" stroke="#ddd"/>`,
        textAt(PLOT.left - 8, scale.at(tick) + 4, shortNumber(tick), { size: 11, anchor: 'end' }),
      ];
    }),
    textAt(18, (PLOT.top + PLOT.bottom) / 2, label, { anchor: 'middle', rotate: -90 }),
    `<line x1="${PLOT.left}" x2="${PLOT.left}" y1="${PLOT.top}" y2="${PLOT.bottom}" stroke="#444"/>`,
    `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${PLOT.bottom}" y2="${PLOT.bottom}" stroke="#444"/>`,
  ];
}

/** Ticks and label of the horizontal axis. */
export function horizontalAxis(scale: Scale, label: string): string[] {
  return [
    ...scale.ticks.map((tick) =>
      textAt(scale.at(tick), PLOT.bottom + 18, shortNumber(tick), { size: 11, anchor: 'middle' }),
    ),
    textAt((PLOT.left + PLOT.right) / 2, PLOT.bottom + 38, label, { anchor: 'middle' }),
  ];
}

/** Width of an average letter in the legend, and of the swatch and gap beside each name. */
const LETTER = 6.5;
const SWATCH = 24;
const LEGEND_ROW = 20;

export interface Legend {
  readonly parts: readonly string[];
  /** Height of the whole sheet, which grows with each row after the first. */
  readonly height: number;
}

/** Names with their colours under the plot, in as many rows as necessary. */
export function legend(series: readonly { readonly name: string; readonly colour: string }[]): Legend {
  const room = PLOT.right - PLOT.left;
  const longest = Math.max(1, ...series.map(({ name }) => name.length));
  const columns = Math.max(1, Math.min(series.length, Math.floor(room / (longest * LETTER + SWATCH))));
  const width = room / columns;
  const most = Math.floor((width - SWATCH) / LETTER);
  const parts = series.flatMap(({ name, colour }, i) => {
    const x = PLOT.left + (i % columns) * width;
    const y = PLOT.bottom + 54 + Math.floor(i / columns) * LEGEND_ROW;
    return [
      `<rect x="${fixed(x)}" y="${y}" width="12" height="12" fill="${colour}"/>`,
      textAt(x + 18, y + 10, shortened(name, most), { size: 11 }),
    ];
  });
  return { parts, height: SHEET.height + (Math.ceil(series.length / columns) - 1) * LEGEND_ROW };
}

/** Truncated in the middle: checkpoints of one run differ at the end of their names. */
function shortened(name: string, most: number): string {
  const characters = [...name];
  if (characters.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  return [...characters.slice(0, most - 1 - end), '…', ...characters.slice(-end)].join('');
}

/** A coordinate: two decimals are precise enough for any screen. */
export function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** A number on an axis. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
