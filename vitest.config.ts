import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    // Tensor tests start worker threads of their own: one process a file keeps backends apart.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    // Browsers and killed processes on a shared machine: one bad moment is no red build, two are.
    retry: process.env.CI === undefined ? 0 : 1,
    // An app that closes saves its runs first.
    hookTimeout: 60_000,
  },
});
