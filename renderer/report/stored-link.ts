/** Answers the calls of the app's components from a report, in place of a host. */
import type { ClientLink } from '@orpc/client';
import type { Report, ReportedStep } from '../../main/api/contract/index.ts';

type Answer = (input: never) => unknown;

/** The calls that a report can answer, by their names in the contract. */
function answersOf({ content }: Report): Readonly<Record<string, Answer>> {
  switch (content.kind) {
    case 'run': {
      const { detail, curves, cost, steps } = content;
      const step = (at: number): ReportedStep => {
        const found = steps.find((reported) => reported.step === at);
        if (found === undefined) throw new Error(`Step ${at} isn't in this report`);
        return found;
      };
      const of = ({ best, worst }: ReportedStep) => (worst === null ? [best] : [best, worst]);
      return {
        'runs.get': () => detail,
        'runs.cost': () => cost,
        'runs.buckets': ({ names, range }: { names: readonly string[]; range?: { from: number; to: number } }) =>
          Object.fromEntries(
            names.map((name) => [
              name,
              (curves[name] ?? []).filter(
                ({ firstStep, lastStep }) => range === undefined || (lastStep >= range.from && firstStep <= range.to),
              ),
            ]),
          ),
        'samples.ofStep': ({ step: at }: { step: number }) => of(step(at)),
        'samples.get': ({ step: at, group, index }: { step: number; group: number; index: number }) =>
          of(step(at)).find((sample) => sample.group === group && sample.index === index),
      };
    }
    case 'comparison':
      return { 'comparisons.prompt': ({ recordId }: { recordId: string }) => content.answers[recordId] };
    case 'curriculum':
      return { 'stages.forgetting': () => content.forgetting };
    case 'sweep':
    case 'replies':
      return {};
  }
}

/** The link of a client whose host is the report. */
export function storedLink(report: Report): ClientLink<Record<never, never>> {
  const answers = answersOf(report);
  return {
    call: async (path, input) => {
      const answer = answers[path.join('.')] as ((input: unknown) => unknown) | undefined;
      const value = answer?.(input);
      if (value === undefined) throw new Error("This isn't in the report");
      return value;
    },
  };
}
