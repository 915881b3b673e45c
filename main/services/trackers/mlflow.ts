/** MLflow by its REST interface, as its documentation describes it (version 2 of the interface; MLflow 3 has it too). */

import querystring from 'node:querystring';
import { readAnswer } from '../../io/read-body.ts';
import { partsOf } from '../../lists.ts';
import { beginning } from '../../text/beginning.ts';
import type { TrackedRun, TrackedStep, Tracker } from './tracker.ts';
import { jsonNumber, TrackerRefusal } from './tracker.ts';

/** Most of a batch: metrics, parameters, and characters of a parameter. */
const METRICS = 1000;
const PARAMS = 100;
const PARAM_LENGTH = 6000;
const TIMEOUT_MS = 20_000;
/** Tables that the run's page lists; a tag has an end. */
const LISTED = 50;

export interface MlflowOptions {
  /** By default those of MLflow's own client. */
  readonly env?: NodeJS.ProcessEnv;
  readonly now?: () => number;
}

export function openMlflow({ env = process.env, now = Date.now }: MlflowOptions = {}): Tracker {
  const { address, ...own } = placeIn(env.MLFLOW_TRACKING_URI || 'http://127.0.0.1:5000');
  const headers = authorization({ ...own, ...env });
  const abort = new AbortController();
  let [runId, artifacts] = ['', ''];
  const tables: string[] = [];

  async function ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<Record<string, unknown>> {
    // A file, a database or a name of Databricks is for MLflow's own client; the value may contain a password.
    if (!/^https?:\/\//i.test(address))
      throw new TrackerRefusal(
        "MLFLOW_TRACKING_URI isn't the address of a server, which begins with http:// or https://",
        'Start one with "mlflow server --backend-store-uri URI", and name its address in MLFLOW_TRACKING_URI.',
      );
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const sent = { 'content-type': 'application/json', ...headers };
    const response = await fetch(`${address}/api/2.0/${path}`, {
      method,
      signal,
      headers: sent,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await readAnswer(response.body);
    if (!response.ok) throw refusal(response.status, text, address);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }

  async function experiment(name: string): Promise<string> {
    try {
      const found = await ask('GET', `mlflow/experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`);
      return (found.experiment as { experiment_id: string }).experiment_id;
    } catch (error) {
      if (!(error instanceof TrackerRefusal) || !error.message.includes('RESOURCE_DOES_NOT_EXIST')) throw error;
      return (await ask('POST', 'mlflow/experiments/create', { name })).experiment_id as string;
    }
  }

  async function create({ project, name, config, startedAt }: TrackedRun): Promise<void> {
    const asked = { experiment_id: await experiment(project), run_name: name, start_time: startedAt };
    take(await ask('POST', 'mlflow/runs/create', { ...asked, tags: [{ key: 'mlflow.source.name', value: 'braid' }] }));
    const params = Object.entries(config).map(([key, value]) => ({ key, value: paramText(value) }));
    for (const part of partsOf(params, PARAMS))
      await ask('POST', 'mlflow/runs/log-batch', { run_id: runId, params: part });
  }

  function take({ run }: Record<string, unknown>): void {
    const { run_id, artifact_uri } = (run as { info: { run_id: string; artifact_uri: string } }).info;
    [runId, artifacts] = [run_id, artifact_uri];
  }

  return {
    name: 'mlflow',
    title: 'MLflow',
    open: async (run, id) => {
      if (id === null) await create(run);
      else {
        await ask('POST', 'mlflow/runs/update', { run_id: id, status: 'RUNNING' });
        take(await ask('GET', `mlflow/runs/get?run_id=${encodeURIComponent(id)}`));
      }
      return runId;
    },
    log: async (steps) => {
      for (const metrics of partsOf(
        steps.flatMap((step) => metricsOf(step, now())),
        METRICS,
      ))
        await ask('POST', 'mlflow/runs/log-batch', { run_id: runId, metrics });
    },
    table: async (table) => {
      // Elsewhere than on the server, only MLflow's own client can write.
      if (!artifacts.startsWith('mlflow-artifacts:')) return;
      const path = `completions/step-${String(table.step).padStart(6, '0')}.json`;
      const root = artifacts.replace(/^mlflow-artifacts:(\/\/[^/]*)?\/+/, '');
      await ask('PUT', `mlflow-artifacts/artifacts/${root}/${path}`, { columns: table.columns, data: table.rows });
      tables.push(path);
      const value = JSON.stringify(tables.slice(-LISTED).map((listed) => ({ path: listed, type: 'table' })));
      await ask('POST', 'mlflow/runs/set-tag', { run_id: runId, key: 'mlflow.loggedArtifacts', value });
    },
    close: async (end) => {
      if (end === null) return;
      const status = end.how.toUpperCase();
      await ask('POST', 'mlflow/runs/update', { run_id: runId, status, end_time: end.at });
    },
    drop: () => abort.abort(),
  };
}

/** The address, and the account that may stand in it: fetch refuses such an address in words that repeat the password. */
function placeIn(given: string) {
  const url = URL.parse(given);
  if (url === null || url.username + url.password === '') return { address: given.replace(/\/+$/, '') };
  const [user, password] = [url.username, url.password].map((part) => querystring.unescape(part));
  url.username = url.password = '';
  const address = url.href.replace(/\/+$/, '');
  return { address, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password };
}

/** As MLflow's client sends them. */
function authorization(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const { MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password } = env;
  if (user) return { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` };
  return token ? { authorization: `Bearer ${token}` } : {};
}

/** MLflow's names have letters, digits and `_-. :/`. */
function metricsOf({ step, metrics }: TrackedStep, timestamp: number) {
  return Object.entries(metrics).map(([name, value]) => {
    return { key: name.replace(/[^\w\-. :/]/g, '_'), value: jsonNumber(value), timestamp, step };
  });
}

function paramText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return beginning(text, PARAM_LENGTH);
}

/** Its servers fail for a while; what they refuse they will refuse again. */
function refusal(status: number, text: string, address: string): Error {
  const said = `${address} answered ${status}: ${text.slice(0, 300)}`;
  if (status >= 500 || status === 429 || status === 408) return new Error(said);
  return new TrackerRefusal(said, 'Check MLFLOW_TRACKING_URI, and the user or token in its environment.');
}
