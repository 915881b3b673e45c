/**
 * Imported first by a trainer (NODE_OPTIONS=--import=FILE), makes its clock run on CPU time by thread, so that estimates
 * and steps can be compared while other programs take the processor.
 */
import { availableParallelism } from 'node:os';

const threads = availableParallelism();

if (/trainer[/\\]host[/\\]entry\.ts$/.test(process.argv[1] ?? ''))
  performance.now = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000 / threads;
  };
