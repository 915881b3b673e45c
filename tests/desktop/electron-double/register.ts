/** Given to Node with --import: whoever imports `electron` gets the double. */
import { registerHooks } from 'node:module';

const url = new URL('./electron.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url, shortCircuit: true } : next(specifier, context),
});
