/** What the components of a mixed reward took: time, failures, cost, answers from the cache; as metrics of a step. */
import type { ComponentScores } from './messages.ts';

export interface UseMeter {
  /** One batch. `sandboxSeconds`: what reward.ts took; null: no component is its. */
  add(completions: number, components: Readonly<Record<string, ComponentScores>>, sandboxSeconds: number | null): void;
  /** Of all batches since the last call. */
  take(): Readonly<Record<string, number>>;
}

interface Sums {
  seconds: number;
  failed: number;
  asked: number;
  cost: number | null;
  cached: number | null;
}

/** Opens the meter at zero. */
export function openUseMeter(): UseMeter {
  let sums = new Map<string, Sums>();
  let sandbox: number | null = null;
  return {
    add: (completions, components, sandboxSeconds) => {
      if (sandboxSeconds !== null) sandbox = (sandbox ?? 0) + sandboxSeconds;
      for (const [name, { outcomes, seconds, cost, cached }] of Object.entries(components)) {
        const sum = sums.get(name) ?? { seconds: 0, failed: 0, asked: 0, cost: null, cached: null };
        sum.seconds += seconds;
        sum.asked += completions;
        sum.failed += outcomes.filter((outcome) => typeof outcome === 'string').length;
        if (cost !== null) sum.cost = (sum.cost ?? 0) + cost;
        if (cached !== null) sum.cached = (sum.cached ?? 0) + cached;
        sums.set(name, sum);
      }
    },
    take: () => {
      const metrics = metricsOf(sums, sandbox);
      sums = new Map();
      sandbox = null;
      return metrics;
    },
  };
}

function metricsOf(sums: ReadonlyMap<string, Sums>, sandbox: number | null): Record<string, number> {
  const metrics: Record<string, number> = sandbox === null ? {} : { 'time/reward/sandbox': sandbox };
  const costs = [...sums.values()].flatMap(({ cost }) => cost ?? []);
  if (costs.length > 0) metrics.reward_cost = costs.reduce((sum, cost) => sum + cost, 0);
  for (const [name, { seconds, failed, asked, cost, cached }] of sums) {
    metrics[`time/reward/${name}`] = seconds;
    metrics[`reward_failures/${name}`] = asked === 0 ? 0 : failed / asked;
    if (cost !== null) metrics[`reward_cost/${name}`] = cost;
    if (cached !== null) metrics[`reward_cached/${name}`] = cached;
  }
  return metrics;
}
