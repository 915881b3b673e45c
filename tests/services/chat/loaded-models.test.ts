import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Loaded, type ModelNeed, openLoadedModels } from '../../../main/services/chat/loaded-models.ts';

/** A machine with some memory, and models that take it. */
function machine(total: number) {
  const inMemory = new Map<string, number>();
  const log: string[] = [];
  const need = (name: string, bytes: number, load = async (_: AbortSignal) => {}): ModelNeed<string> => ({
    model: name[0] ?? '',
    key: name,
    name,
    bytes,
    freeBytes: () => total - [...inMemory.values()].reduce((sum, one) => sum + one, 0),
    load: async (signal): Promise<Loaded<string>> => {
      log.push(`load ${name}`);
      await load(signal);
      signal.throwIfAborted();
      inMemory.set(name, bytes);
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      const stop = async (): Promise<void> => {
        if (inMemory.delete(name)) log.push(`stop ${name}`);
        resolve();
      };
      return { model: name, stop, gone };
    },
  });
  return { need, log, inMemory };
}

const use = (signal = new AbortController().signal) => {
  const said: string[] = [];
  return {
    said,
    use: {
      signal,
      onWait: (names: readonly string[]) => void said.push(`waits for ${names.join()}`),
      onLoad: () => {},
    },
  };
};

const forever = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true }));

describe('openLoadedModels', () => {
  it('keeps a model for the next question, and ends it once it has been idle', async () => {
    const { need, log, inMemory } = machine(10);
    const models = openLoadedModels<string>(() => 30);
    const ask = (): Promise<string> => models.use(need('a', 4), use().use, async (model) => model);
    expect(await ask()).toBe('a');
    expect(await ask()).toBe('a');
    expect(log).toEqual(['load a']);
    await sleep(80);
    expect(inMemory.size).toBe(0);
    expect(await ask()).toBe('a');
    expect(log).toEqual(['load a', 'stop a', 'load a']);
    await models.close();
  });

  it('loads side by side what fits, and the others one after another, with a word for who waits', async () => {
    const { need, log } = machine(10);
    const models = openLoadedModels<string>(() => 10_000);
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const a = models.use(need('a', 4), use().use, () => ends[0].promise);
    const b = models.use(need('b', 4), use().use, () => ends[1].promise);
    const third = use();
    const c = models.use(need('c', 4), third.use, async () => log.push('c answers'));
    await sleep(5);
    expect(log).toEqual(['load a', 'load b']);
    expect(third.said).toContain('waits for a,b');
    ends[1].resolve();
    await Promise.all([b, c]);
    expect(log).toEqual(['load a', 'load b', 'stop b', 'load c', 'c answers']);
    ends[0].resolve();
    await a;
    await models.close();
    expect(log.slice(-2).toSorted()).toEqual(['stop a', 'stop c']);
  });

  it('ends a model that is loaded otherwise than it is needed now', async () => {
    const { need, log } = machine(100);
    const models = openLoadedModels<string>(() => 10_000);
    for (const name of ['a, 2 threads', 'b', 'a, 1 thread'])
      await models.use(need(name, 4), use().use, async () => undefined);
    expect(log).toEqual(['load a, 2 threads', 'load b', 'stop a, 2 threads', 'load a, 1 thread']);
    await models.close();
  });

  it('tries a model alone that is larger than what is free: its process knows better', async () => {
    const { need } = machine(1);
    const models = openLoadedModels<string>(() => 10_000);
    expect(await models.use(need('a', 100), use().use, async (model) => model)).toBe('a');
    await models.close();
  });

  it('ends loading and waiting when they are cancelled', async () => {
    const { need, log } = machine(10);
    const models = openLoadedModels<string>(() => 10_000);
    const [first, second] = [new AbortController(), new AbortController()];
    const a = models.use(need('a', 9, forever), use(first.signal).use, async () => 'never');
    const b = models.use(need('b', 9), use(second.signal).use, async () => 'never');
    await sleep(5);
    second.abort();
    await expect(b).rejects.toMatchObject({ code: 'INTERRUPTED' });
    first.abort();
    await expect(a).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(await models.use(need('a', 9), use().use, async (model) => model)).toBe('a');
    expect(log).toEqual(['load a', 'load a']);
    await models.close();
  });

  it('releases what is idle at once, and what answers when it has answered', async () => {
    const { need, log } = machine(10);
    const models = openLoadedModels<string>(() => 10_000);
    await models.use(need('a', 4), use().use, async () => undefined);
    const end = Promise.withResolvers<string>();
    const b = models.use(need('b', 4), use().use, () => end.promise);
    await sleep(0);
    await models.release();
    expect(log).toEqual(['load a', 'load b', 'stop a']);
    end.resolve('answer');
    expect(await b).toBe('answer');
    await sleep(0);
    expect(log.at(-1)).toBe('stop b');
  });

  it('reports that a model can’t be loaded, and loads it again when it is asked again', async () => {
    const { need } = machine(10);
    const models = openLoadedModels<string>(() => 10_000);
    const broken = need('a', 4, () => Promise.reject(new Error('damaged')));
    await expect(models.use(broken, use().use, async () => 'never')).rejects.toThrow('damaged');
    expect(await models.use(need('a', 4), use().use, async (model) => model)).toBe('a');
    await models.close();
  });
});
