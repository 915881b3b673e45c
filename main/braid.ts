/**
 * Starts the braid command with Node's compile cache: without it, stripping types and compiling at every start
 * takes most of the time of a short command. Forked trainers find the cache through the environment.
 */
import './io/no-current-folder.ts';
import { enableCompileCache } from 'node:module';
import { exitOnInterrupt } from './commands/interrupt.ts';

exitOnInterrupt();
const { directory } = enableCompileCache();
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
await import('./cli.ts');
