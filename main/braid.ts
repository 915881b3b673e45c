/**
 * Starts the braid command with Node's compile cache: without it, stripping types and compiling again at every start
 * is most of what a short command does. Forked trainers find the cache through the environment.
 */
import { enableCompileCache } from 'node:module';

const { directory } = enableCompileCache();
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
await import('./cli.ts');
