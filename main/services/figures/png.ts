/**
 * SVG to PNG by resvg (WebAssembly) with a bundled font: no browser, and the same on every machine. Only scripts that the
 * font lacks, in names that users give, are drawn with a font of the system.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { HostPaths } from '../workspace/paths.ts';

/** Pixels per drawing unit. */
const ZOOM = 2;

/** The bundled font's parts: the first is always needed, and is asked first. */
const PARTS = ['latin', 'latin-ext', 'greek', 'cyrillic', 'vietnamese'] as const;
/** Latin, Greek, Cyrillic, and the signs of Braid's own labels: what the parts have. */
const BUNDLED = /^[\0-\u052f\u1e00-\u1eff\u2000-\u206f\u20a0-\u20bf\u2122\u2191\u2193\u2212]*$/;
/** Fonts with many scripts where systems keep them. */
const SYSTEM_FONTS = [
  '/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc',
  '/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc',
  '/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc',
  '/usr/share/fonts/truetype/wqy/wqy-microhei.ttc',
  '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
  '/usr/share/fonts/TTF/DejaVuSans.ttf',
  '/System/Library/Fonts/Supplemental/Arial Unicode.ttf',
  ...['arial.ttf', 'msyh.ttc', 'YuGothM.ttc', 'malgun.ttf', 'Nirmala.ttc'].map((name) => `C:\\Windows\\Fonts\\${name}`),
];

let started: Promise<void> | null = null;

/** Renders a figure. */
export async function svgToPng(
  svg: string,
  { resources }: Pick<HostPaths, 'resources'>,
  systemFonts: readonly string[] = SYSTEM_FONTS,
): Promise<Uint8Array> {
  started ??= start();
  await started;
  const bundled = PARTS.map((part) => join(resources, `fonts/inter-${part}.woff2`));
  const files = BUNDLED.test(svg) ? bundled : [...bundled, ...systemFonts.filter((file) => existsSync(file))];
  const fontBuffers = files.map((file) => readFileSync(file));
  const font = { fontBuffers, defaultFontFamily: 'Inter Variable' };
  const resvg = new Resvg(svg, { font, fitTo: { mode: 'zoom', value: ZOOM } });
  try {
    return resvg.render().asPng();
  } finally {
    resvg.free();
  }
}

/** The module can be initialised only once per process. */
async function start(): Promise<void> {
  const wasm = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm');
  await initWasm(readFileSync(wasm));
}
