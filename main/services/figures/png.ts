/** SVG to PNG by resvg (WebAssembly) with a bundled font: no browser, no system fonts, the same on every machine. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { HostPaths } from '../workspace/paths.ts';

/** Pixels per drawing unit. */
const ZOOM = 2;

let started: Promise<void> | null = null;

/** Renders a figure. */
export async function svgToPng(svg: string, { resources }: Pick<HostPaths, 'resources'>): Promise<Uint8Array> {
  started ??= start();
  await started;
  const fontBuffers = [readFileSync(join(resources, 'fonts/inter-latin.woff2'))];
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
