import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    // Tensor tests start worker threads of their own: one process a file keeps backends apart.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    // An app that closes saves its runs first.
    hookTimeout: 60_000,
  },
});
