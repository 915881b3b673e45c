/** Given to a host with --expose-gc and --import: at SIGUSR2 it collects garbage and says on stderr what is left. */
process.on('SIGUSR2', () => {
  // Twice: the first collection's finalizers release more.
  for (let round = 0; round < 2; round++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`collected ${heapUsed + external}\n`);
});
