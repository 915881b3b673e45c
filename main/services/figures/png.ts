/** SVG to PNG by resvg (WebAssembly) with a font of our own: no browser, no system fonts, the same on every machine. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import type { HostPaths } from '../paths.ts';

/** Pixels for each unit of the drawing. */
const ZOOM = 2;

let started: Promise<void> | null = null;

/** The picture of a figure. */
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

/** The module may be started once a process only. */
async function start(): Promise<void> {
  const wasm = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm');
  await initWasm(readFileSync(wasm));
}
