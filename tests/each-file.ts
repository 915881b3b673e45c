/** Runs before each test file, also where files share a process. */
import { afterAll } from 'vitest';
import { endFile } from './end-of-file.ts';

// An app that closes saves its runs first.
afterAll(endFile, 120_000);
