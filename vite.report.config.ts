/** Builds the page of reports as one script and one style sheet, which the host writes into a file. */
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const at = (path: string): string => resolve(import.meta.dirname, path);

export default defineConfig({
  root: at('renderer/report'),
  publicDir: false,
  logLevel: 'warn',
  plugins: [react()],
  build: {
    outDir: at('out/renderer/report'),
    emptyOutDir: true,
    minify: true,
    cssCodeSplit: false,
    // A file in a mail has nothing beside it: what a style sheet names goes into it.
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    chunkSizeWarningLimit: 1500,
    rollupOptions: {
      input: at('renderer/report/main.tsx'),
      output: { format: 'iife', entryFileNames: 'report.js', assetFileNames: 'report.[ext]' },
    },
  },
});
