/**
 * Registers tfjs-core's own gradients. Its Node bundle leaves them out, and the modules that have them use imports
 * without file endings, which Node can't resolve without a hook.
 */
import { registerHooks } from 'node:module';

const CORE = '/@tensorflow/tfjs-core/dist/';

/** Imports modules from inside tfjs-core. */
export async function importFromCore(load: () => Promise<unknown>): Promise<void> {
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const fromCore = specifier.startsWith('.') && (context.parentURL ?? '').includes(CORE);
      return nextResolve(fromCore && !specifier.endsWith('.js') ? `${specifier}.js` : specifier, context);
    },
  });
  await load();
  hooks.deregister();
}

await importFromCore(() => import('./tfjs-gradients.ts'));
