import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';
import type { Plugin } from 'vite';

const at = (path: string): string => resolve(import.meta.dirname, path);

/** What is loaded at run time because it brings binaries; all else is bundled, so that the package holds no more. */
const external = ['better-sqlite3', 'webgpu', /^@tensorflow\//, /^@resvg\//];

/** What is bundled keeps its authors' licences beside it. */
const license = { fileName: 'licenses.md' };

/**
 * A screen's code comes in an idle moment: Chromium compiles it then, in the background, and not when the screen is
 * opened (https://v8.dev/blog/explicit-compile-hints). What the first paint waits for is left as it is.
 */
const compileScreensAhead: Plugin = {
  name: 'compile-screens-ahead',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
    const first = new Set(chunks.flatMap((chunk) => (chunk.isEntry ? [chunk.fileName, ...chunk.imports] : [])));
    // A set tells those too that are added on the way.
    for (const name of first)
      for (const next of chunks.find((chunk) => chunk.fileName === name)?.imports ?? []) first.add(next);
    for (const chunk of chunks)
      if (!first.has(chunk.fileName)) chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`;
  },
};

export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      license,
      externalizeDeps: false,
      rollupOptions: {
        input: {
          index: at('main/index.ts'),
          trainer: at('main/trainer/process/entry.ts'),
          rewards: at('main/tasks/sandbox/worker.ts'),
          'external-rewards': at('main/rewards/worker.ts'),
          'reward-process': at('main/trainer/process/reward-process.ts'),
          texts: at('main/services/text-worker/worker.ts'),
          webgpu: at('main/tensor/webgpu/thread.ts'),
        },
        external,
      },
    },
  },
  preload: {
    build: {
      outDir: 'out/preload',
      externalizeDeps: false,
      // A sandboxed preload is one CommonJS file.
      rollupOptions: {
        input: { index: at('preload/index.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: at('renderer'),
    // Paths that work under app:// and under http alike.
    base: './',
    plugins: [react(), compileScreensAhead],
    build: {
      outDir: at('out/renderer'),
      license,
      minify: true,
      // Fonts in data: addresses are refused by the page's policy.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 700,
      rollupOptions: { input: at('renderer/index.html') },
    },
  },
});
