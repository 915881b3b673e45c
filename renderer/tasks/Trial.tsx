/** What the reward would do: a dry run over stored or sampled completions, an old run re-scored, signs of gaming. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DraftFacts, TrialSource } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Choice } from '../components/Choice.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { Segments } from '../components/Segments.tsx';
import { Computing } from './Computing.tsx';
import { DryRun } from './DryRun.tsx';
import { Gaming } from './Gaming.tsx';
import { Outside } from './Outside.tsx';
import { Rescore } from './Rescore.tsx';
import { SampleDialog } from './SampleDialog.tsx';
import classes from './Task.module.css';
import type { Draft } from './use-draft.ts';
import { useTrial } from './use-trial.ts';

export interface TrialProps {
  readonly draft: Draft;
  /** Whether both texts are without faults, as far as that is known. */
  readonly isReady: boolean;
  /** Whether that is known of an earlier text only, or of none. */
  readonly isChecking: boolean;
  readonly facts: DraftFacts | null;
}

type View = 'dry run' | 're-score' | 'gaming';

interface Option {
  readonly value: string;
  readonly label: string;
  readonly source: TrialSource;
}

export function Trial({ draft, isReady, isChecking, facts }: TrialProps) {
  const sources = useQuery(api.tasks.sources.queryOptions({ input: { name: draft.name } }));
  const [view, setView] = useState<View>('dry run');
  const [chosen, setChosen] = useState<string | null>(null);
  const [sampling, setSampling] = useState(false);
  const runs = sources.data?.runs ?? [];
  const sampled = (sources.data?.sampled ?? []).map(({ id, model, completions }): Option => {
    const label = `Sampled: ${isolated(model)}, ${counted(completions, 'completion')}`;
    return { value: `sampled ${id}`, label, source: { kind: 'sampled', id } };
  });
  const options: readonly Option[] = [
    ...sampled,
    ...runs.map(({ runId, name, completions }): Option => {
      const label = `Run ${runId}: ${isolated(name)}, ${counted(completions, 'completion')}`;
      return { value: `run ${runId}`, label, source: { kind: 'run', runId } };
    }),
    ...(sources.data?.hasExamples === true
      ? [{ value: 'examples', label: 'Its examples', source: { kind: 'examples' } } as const]
      : []),
  ];
  // Runs of other tasks have records of other fields; they are offered, but not chosen unasked.
  const own = runs.find(({ task }) => task === draft.name);
  const usual = own === undefined ? options.find(({ value }) => value === 'examples') : undefined;
  const option =
    options.find(({ value }) => value === chosen) ??
    sampled[0] ??
    usual ??
    options.find(({ value }) => value === `run ${own?.runId}`);
  const outside = facts?.outside ?? [];
  // Commands, servers and paid judges are asked, and models loaded, when the user says so: not after every keystroke.
  const [asked, setAsked] = useState<string | null>(null);
  const now = JSON.stringify([draft, view, option?.value]);
  const isAsked = outside.length === 0 || asked === now;
  const isAllowed = outside.every(({ reach }) => reach === null || reach.isAllowed);
  const isRunning = isReady && isAsked;
  const trial = useTrial(draft, option?.source ?? null, isRunning && view !== 're-score');
  return (
    <section className={classes.trial} aria-label="Trial">
      <div className={classes.paneHead}>
        <Segments
          aria-label="Trial"
          data={[
            { value: 'dry run', label: 'Dry run' },
            { value: 're-score', label: 'Re-score history' },
            { value: 'gaming', label: 'Gaming report' },
          ]}
          value={view}
          onChange={setView}
        />
      </div>
      {outside.length > 0 && <Outside draft={draft} components={outside} />}
      {view !== 're-score' && (
        <div className={classes.source}>
          {options.length > 0 && (
            <Choice
              aria-label="Completions to try it on"
              data={options.map(({ value, label }) => ({ value, label }))}
              value={option?.value ?? ''}
              onChange={setChosen}
            />
          )}
          <Button variant="default" onClick={() => setSampling(true)}>
            Sample now …
          </Button>
        </div>
      )}
      {outside.length > 0 && !isAsked && (
        <div className={classes.ask}>
          <Button disabled={!isReady || !isAllowed || option === undefined} onClick={() => setAsked(now)}>
            {view === 're-score' ? 'Compute the new rewards' : 'Compute the rewards'}
          </Button>
          <span className="soft">
            {isAllowed
              ? 'Components outside the sandbox are computed only when you say so.'
              : 'Nothing runs and nothing is sent until all components are allowed.'}
          </span>
        </div>
      )}
      {sources.error !== null && (
        <Failed what="The completions can't be listed" error={sources.error} onRetry={() => void sources.refetch()} />
      )}
      {sources.data !== undefined && option === undefined && view !== 're-score' && (
        <p className="soft">There is nothing to try it on yet. Sample completions from a model.</p>
      )}
      {!isReady && !isChecking && option !== undefined && (
        <p className={`soft ${classes.counts}`} role="status">
          Fix the faults in the editor
          {view !== 're-score' && trial.report !== null && '; what you see is of the text before them'}.
        </p>
      )}
      {/* What is wrong with the texts stands below the editor. */}
      {view !== 're-score' && trial.error !== null && isReady && !isChecking && (
        <Failed what="The dry run failed" error={trial.error} />
      )}
      {view !== 're-score' && trial.isComputing && <Computing key={now} />}
      {view === 'dry run' && trial.report !== null && (
        <DryRun
          report={trial.report}
          isOld={trial.isOld || !isRunning}
          seconds={trial.seconds}
          show={facts?.show ?? 'plain'}
        />
      )}
      {view === 'gaming' && trial.report !== null && <Gaming report={trial.report.gaming} n={trial.report.n} />}
      {view === 're-score' && <Rescore draft={draft} isReady={isRunning} runs={runs} />}
      {sampling && (
        <SampleDialog
          draft={draft}
          onClose={() => setSampling(false)}
          onSampled={async (id) => {
            await sources.refetch();
            setChosen(`sampled ${id}`);
            setSampling(false);
          }}
        />
      )}
    </section>
  );
}
