/** An MLflow server on this machine, by the part of its REST interface that is used. */
import { createServer } from 'node:http';
import { listenInTest } from '../../local-server.ts';

interface Metric {
  readonly key: string;
  readonly value: number | string;
  readonly step: number;
}

export interface MlflowDouble {
  readonly url: string;
  readonly metrics: Metric[];
  readonly params: Map<string, string>;
  readonly artifacts: Map<string, unknown>;
  readonly tags: Map<string, string>;
  readonly statuses: string[];
  /** When runs started and ended. */
  readonly times: unknown[];
  /** How many entries each batch had. */
  readonly batches: number[];
  readonly headers: (string | undefined)[];
  runs: number;
  /** Answers every request with this status. */
  down: number | null;
}

type Body = Record<string, never> & { readonly metrics?: Metric[]; readonly params?: { key: string; value: string }[] };

export async function mlflowDouble(): Promise<MlflowDouble> {
  const double = {
    ...{
      url: '',
      metrics: [],
      params: new Map(),
      artifacts: new Map(),
      tags: new Map(),
      statuses: [],
      batches: [],
      times: [],
    },
    ...{ headers: [], runs: 0, down: null },
  } as MlflowDouble & { url: string };
  const run = () => ({
    run: { info: { run_id: `r${double.runs}`, artifact_uri: 'mlflow-artifacts:/1/r1/artifacts' } },
  });
  const answers: Readonly<Record<string, (body: Body) => unknown>> = {
    'mlflow/experiments/create': () => ({ experiment_id: '1' }),
    'mlflow/runs/create': ({ start_time }) => {
      double.runs++;
      double.times.push(start_time);
      return run();
    },
    'mlflow/runs/get': run,
    'mlflow/runs/update': ({ status, end_time }) => {
      double.statuses.push(String(status));
      double.times.push(end_time);
    },
    'mlflow/runs/set-tag': ({ key, value }) => void double.tags.set(String(key), String(value)),
    'mlflow/runs/log-batch': ({ metrics = [], params = [] }) => {
      double.metrics.push(...metrics);
      for (const { key, value } of params) double.params.set(key, value);
      double.batches.push(metrics.length + params.length);
    },
  };
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const path = (request.url ?? '').replace('/api/2.0/', '').replace(/\?.*/, '');
      double.headers.push(request.headers.authorization);
      const send = (status: number, value: unknown): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? {}));
      if (double.down !== null) return send(double.down, { error_code: 'DOWN' });
      const body = (text === '' ? {} : JSON.parse(text)) as Body;
      const artifact = /^mlflow-artifacts\/artifacts\/(.*)$/.exec(path)?.[1];
      if (artifact !== undefined) {
        double.artifacts.set(artifact, body);
        return send(200, {});
      }
      const answer = answers[path];
      if (answer === undefined) return send(404, { error_code: 'RESOURCE_DOES_NOT_EXIST' });
      send(200, answer(body));
    });
  });
  double.url = await listenInTest(server);
  return double;
}
