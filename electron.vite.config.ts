import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';

const at = (path: string): string => resolve(import.meta.dirname, path);

/** What is loaded at run time because it brings binaries; all else is bundled, so that the package holds no more. */
const external = ['better-sqlite3', /^@tensorflow\//, /^@resvg\//];

/** What is bundled keeps its authors' licences beside it. */
const license = { fileName: 'licenses.md' };

export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      license,
      externalizeDeps: false,
      rollupOptions: {
        input: {
          index: at('main/index.ts'),
          trainer: at('main/trainer/entry.ts'),
          texts: at('main/services/library/worker.ts'),
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
    plugins: [react()],
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
