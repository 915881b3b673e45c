import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadModel } from '../../../main/model/load.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { engineFor } from '../../../main/services/engines/engine-for.ts';
import {
  listEngines,
  openEngineFile,
  removeEngine,
  requireEngine,
  saveEngine,
} from '../../../main/services/engines/engines.ts';
import { engineKey, setEngineKey } from '../../../main/services/engines/keys.ts';
import { ruleWords, testEngine } from '../../../main/services/engines/test-engine.ts';
import { runCost } from '../../../main/services/runs/cost.ts';
import { exportRun } from '../../../main/services/runs/exports/exports.ts';
import { openTextWorkers } from '../../../main/services/text-worker/workers.ts';
import { preflight } from '../../../main/services/training/preflight.ts';
import { resumeTraining, startTraining } from '../../../main/services/training/training.ts';
import { exportForTrl, inputsOfRun } from '../../../main/services/trl/export.ts';
import { openSecrets } from '../../../main/services/workspace/secrets.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openForTest } from '../../tensor/wasm/open.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { openTinkerServer, type ServerOptions, type TinkerServer } from '../../trainer/tinker/tinker-server.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const entry = { name: 'cluster', url: 'https://gpu.example.com/', baseModel: 'tiny' };

describe('the engines of a workspace', () => {
  it('are added, changed and removed by name', () => {
    const store = openEngineFile(join(temporaryFolder(), 'engines.json'));
    expect(saveEngine(store, entry).url).toBe('https://gpu.example.com');
    saveEngine(store, { ...entry, name: 'a', prices: { prefill: 1, sample: 2, train: 3 } });
    saveEngine(store, { ...entry, baseModel: 'other' });
    expect(listEngines(store).map(({ name, baseModel }) => [name, baseModel])).toEqual([
      ['a', 'tiny'],
      ['cluster', 'other'],
    ]);
    removeEngine(store, 'a');
    expect(listEngines(store)).toHaveLength(1);
    expect(() => requireEngine(store, 'a')).toThrow(/got "a": there is cluster/);
    expect(() => removeEngine(store, 'a')).toThrow(/there is cluster/);
  });

  it('have an address that is safe, or allowed on purpose, and a name that files can hold', () => {
    const store = openEngineFile(join(temporaryFolder(), 'engines.json'));
    expect(() => saveEngine(store, { ...entry, url: 'http://10.0.0.5:8000' })).toThrow(/plain http/);
    expect(saveEngine(store, { ...entry, url: 'http://10.0.0.5:8000', allowPlain: true }).allowPlain).toBe(true);
    expect(() => saveEngine(store, { ...entry, name: '../x' })).toThrow(/letters/);
  });

  it('are in a file that says so where it cannot be read', () => {
    const file = join(temporaryFolder(), 'engines.json');
    expect(() => requireEngine(openEngineFile(file), 'x')).toThrow(/none is set up/);
    writeFileSync(file, '[{"name":7}]');
    expect(() => listEngines(openEngineFile(file))).toThrow(/can't read them/);
  });
});

describe('the key of an engine', () => {
  it("belongs to its address: a workspace from elsewhere can't have it sent somewhere else under the same name", () => {
    const secrets = openSecrets({ file: join(temporaryFolder(), 'secrets.json') });
    setEngineKey(secrets, { url: 'https://gpu.example.com/tinker' }, 'secret');
    expect(engineKey(secrets, { url: 'https://gpu.example.com' }, {})).toBe('secret');
    expect(engineKey(secrets, { url: 'https://evil.example.com' }, {})).toBeNull();
    expect(engineKey(secrets, { url: 'https://evil.example.com' }, { BRAID_ENGINE_KEY: ' other ' })).toBe('other');
    setEngineKey(secrets, { url: 'https://gpu.example.com' }, null);
    expect(engineKey(secrets, { url: 'https://gpu.example.com' }, {})).toBeNull();
    expect(() => setEngineKey(secrets, { url: 'https://a' }, 'two words')).toThrow(/without spaces/);
  });
});

describe('ruleWords', () => {
  it('says what the server makes of weights', () => {
    const sum = { normalised: false, averaged: false };
    expect(ruleWords({ rule: sum, reportsNorm: true })).toMatch(/sums/);
    expect(ruleWords({ rule: { ...sum, averaged: true }, reportsNorm: true })).toMatch(/averages/);
    expect(ruleWords({ rule: sum, reportsNorm: false })).toMatch(/no gradient norm/);
  });
});

/** Long enough that no weights contain it by chance. */
const KEY = 'k3y-of-the-test-engine';

/** Files below the folders that contain the key. */
function filesWithKey(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).isFile() && readFileSync(file).includes(KEY)),
  );
}

describe('an engine that trains', () => {
  let runtime: WasmRuntime;
  let base: Model;
  const root = temporaryFolderOfFile();
  beforeAll(async () => {
    disposeModel(await writeTinyModel(join(root, 'model')));
    runtime = await openForTest(1);
    base = loadModel(join(root, 'model'), 64);
  });
  afterAll(async () => {
    disposeModel(base);
    await closeWasmBackend(runtime);
  });

  /** A workspace with an engine at a server that wants a key. */
  async function world(options: Partial<ServerOptions> = {}) {
    const server = await openTinkerServer({ model: base, key: KEY, ...options });
    const made = await tinyWorkspace();
    const secrets = openSecrets({ file: join(temporaryFolder(), 'secrets.json') });
    const engines = openEngineFile(join(temporaryFolder(), 'engines.json'));
    const engine = saveEngine(engines, {
      name: 'test',
      url: server.url,
      baseModel: 'tiny',
      prices: { prefill: 1, sample: 1, train: 1 },
    });
    setEngineKey(secrets, engine, KEY);
    const config = made.config({ engine: 'test', lora_alpha: 32, max_steps: 3 });
    return { ...made, server, secrets, engines, engine, remote: config };
  }
  const closing = async <T>(server: TinkerServer, work: Promise<T>): Promise<T> => work.finally(() => server.close());

  it('is tested: models, a group, a step', async () => {
    const { server, engine, secrets, paths } = await world();
    const found = await closing(server, testEngine(engine, { secrets, paths }));
    expect(found).toMatchObject({ models: ['tiny'], completions: 4, reportsNorm: true });
    expect(found.tokens).toBe(64);
    expect(server.models.loaded).toBe(0);
  }, 30_000);

  it('is tested with a wrong key', async () => {
    const { server, engine, secrets, paths } = await world();
    setEngineKey(secrets, engine, 'wrong');
    const error = await closing(server, testEngine(engine, { secrets, paths })).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'ENGINE_KEY_REFUSED' });
  }, 30_000);

  it('passes the pre-flight check, trains a run and resumes it; its key is in no file or export', async () => {
    const { server, secrets, engines, store, paths, root: folder, remote } = await world();
    const access = { engines, secrets };
    const workers = openTextWorkers(paths.textWorker);
    onTestFinished(() => workers.close());
    const work = async () => {
      const desk = { store, paths, ...access, workspace: { root: folder } } as unknown as Parameters<
        typeof preflight
      >[0];
      const quiet = {
        ...desk,
        live: { list: () => [] },
        library: { workers },
      };
      const context = { signal: new AbortController().signal, progress: () => undefined };
      const checked = await preflight(quiet as unknown as typeof desk, () => remote, null, context as never);
      expect(checked.checks.filter(({ status }) => status === 'FAIL')).toEqual([]);
      expect(checked.checks.map(({ name }) => name)).toContain('Engine test');
      expect(checked.sampled?.groups).toHaveLength(2);

      const run = startTraining(store, { ...remote, max_steps: 2 }, { paths, access });
      const outcome = await run.outcome;
      expect(outcome).toMatchObject({ state: 'done', step: 2, error: null });
      const yaml = readFileSync(join(run.folder, 'run.yaml'), 'utf8');
      expect(yaml).toMatch(/engine: test/);
      const cost = runCost(store, run.runId, { hourly_price: 0, currency: '$' });
      expect(cost.spent.cost).toBeGreaterThan(0);

      const resumed = await resumeTraining(store, run.runId, { paths, access, maxSteps: 4 }).outcome;
      expect(resumed).toMatchObject({ state: 'done', step: 4, error: null });

      const exports = temporaryFolder();
      exportRun(store, run.runId, join(exports, 'run'));
      exportForTrl(inputsOfRun(store, run.runId, paths), join(exports, 'trl'), paths, exports);
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.split('/').at(-1));
      expect(files).toEqual(expect.arrayContaining(['braid.db', 'run.yaml', 'training.log', 'engine.json']));
      expect(filesWithKey(folder, run.folder, exports)).toEqual([]);
    };
    await closing(server, work());
  }, 60_000);

  it("keeps no more of a run's states than the run keeps checkpoints, also of before a resume", async () => {
    const { server, secrets, engines, store, paths, remote } = await world();
    const access = { engines, secrets };
    const settings = { ...remote, max_steps: 3, save_steps: 1, save_total_limit: 2 };
    const states = () => server.models.saved.filter((path) => path.includes('/weights/')).map((path) => path.slice(-1));
    const work = async () => {
      const run = startTraining(store, settings, { paths, access });
      await run.outcome;
      expect(states()).toEqual(['2', '3']);
      await resumeTraining(store, run.runId, { paths, access, maxSteps: 4 }).outcome;
      expect(states()).toEqual(['3', '4']);
    };
    await closing(server, work());
  }, 60_000);

  it('is refused with all reasons where the settings ask for more than it can do', async () => {
    const { server, remote, ...access } = await world();
    await server.close();
    const asked = { ...remote, beta: 0.1, temperature: 0.5 };
    expect(() => engineFor(asked, access)).toThrow(/beta: .* KL.*; temperature: /);
    expect(() => engineFor({ ...remote, engine: 'gone' }, access)).toThrow(/there is test/);
    expect(engineFor({ ...remote, engine: null }, access)).toBeNull();
  }, 30_000);
});
