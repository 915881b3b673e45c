/** The Curriculum screen: the ladder of stages, the selected stage and its pre-flight check, and forgetting. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { Curriculum as Data, StageView } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { FreeRun } from '../components/config-form/FreeRun.tsx';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { Panel, Screen } from '../components/Screen.tsx';
import { Share } from '../components/Share.tsx';
import { useWhenIdle } from '../components/use-when-idle.ts';
import { useKeys } from '../frame/keys.tsx';
import classes from './Curriculum.module.css';
import { Forgetting } from './Forgetting.tsx';
import { Ladder } from './Ladder.tsx';
import { ladderTime } from './ladder-time.ts';
import { Queue } from './Queue.tsx';
import { type Shared, SharedChoices, SharedSettings } from './SharedSettings.tsx';
import { StageExample } from './StageExample.tsx';
import { StageForm } from './StageForm.tsx';
import { StagePanel } from './StagePanel.tsx';
import { StagePreflight } from './StagePreflight.tsx';
import { StageResults } from './StageResults.tsx';
import { useCheckedStage } from './use-checked-stage.ts';
import { primaryAction, primaryLabel } from './words.ts';

/** Without a dataset, or with one whose file is gone: both are made again. */
function lacksDataset({ datasetId, dataset, words }: StageView): boolean {
  return words !== null && (datasetId === null || dataset?.missing === true);
}

/** The number of lengths in a full curriculum: 10, 25, 50, 100, 200, 500 words. */
const LENGTHS = 6;

/** The form or dialog that is open. */
type Open = 'form' | 'new' | 'free' | 'shared' | 'remove' | null;

export function Curriculum() {
  const { data, error, refetch } = useQuery(api.stages.list.queryOptions());
  const from = checkpointOf(useSearch());
  const [asked, setOpen] = useState<Open>(null);
  // "New stage" on a run's checkpoint links here.
  const open = from === null ? asked : 'new';
  const [shared, setShared] = useState<Shared | null>(null);
  const plan = useMutation({ mutationFn: () => planAll(shared) });
  // A repair: it adds no stage.
  const make = useMutation({ mutationFn: () => client.stages.makeDatasets() });
  const [, navigate] = useLocation();
  const lacking = data?.stages.some(lacksDataset) ?? false;
  const hasLengths = data?.stages.some(({ words }) => words !== null) ?? false;
  return (
    <Screen
      title="Curriculum"
      about={
        data !== undefined &&
        data.stages.length > 0 && <span>Easy data first; each stage starts from the previous checkpoint</span>
      }
      actions={
        <>
          {data?.stages.some(({ runs }) => runs > 0) && <Share subject={{ of: 'curriculum' }} hasTexts={false} />}
          <Button variant="default" onClick={() => setOpen('free')}>
            Free run
          </Button>
          {lacking && (
            <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
              Make missing datasets
            </Button>
          )}
          {data !== undefined && !lacking && hasLengths && data.stages.length < LENGTHS && (
            <Button variant="default" loading={plan.isPending} onClick={() => plan.mutate()}>
              Plan all lengths
            </Button>
          )}
          {data !== undefined && data.stages.length > 0 && (
            <Button variant="default" onClick={() => setOpen('shared')}>
              Settings of all stages
            </Button>
          )}
          <Button variant="default" onClick={() => setOpen('new')}>
            Add stage
          </Button>
        </>
      }
    >
      {plan.error !== null && <Failed what="Not everything was planned" error={plan.error} />}
      {make.error !== null && <Failed what="Not every dataset could be made" error={make.error} />}
      {error !== null && <Failed what="The curriculum can't be shown" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the curriculum" />}
      {data?.stages.length === 0 && (
        <Panel>
          <Empty title="No stages yet">
            <p>
              The model first learns to interleave short texts, then longer ones: 10, 25, 50 words and up. Each stage
              starts from the previous stage's checkpoint.
            </p>
            <SharedChoices onChange={setShared} />
            <Button loading={plan.isPending} onClick={() => plan.mutate()}>
              Plan the whole curriculum
            </Button>
            <p className="faint">
              Uses your existing datasets and makes the missing ones from your texts, or from the bundled texts if you
              have none.
            </p>
          </Empty>
        </Panel>
      )}
      {data !== undefined && data.stages.length > 0 && <Stages data={data} open={open} setOpen={setOpen} />}
      {data !== undefined && (
        <StageForm
          stage={null}
          first={data.newStage}
          from={from}
          opened={open === 'new'}
          onClose={() => {
            setOpen(null);
            if (from !== null) navigate('/curriculum', { replace: true });
          }}
          onSaved={(stageId) => {
            setOpen(null);
            navigate(`/curriculum?stage=${stageId}`);
          }}
        />
      )}
      <FreeRun opened={open === 'free'} onClose={() => setOpen(null)} />
      <SharedSettings opened={open === 'shared'} onClose={() => setOpen(null)} />
    </Screen>
  );
}

/** The checkpoint in the address that a new stage starts from. */
function checkpointOf(search: string): number | null {
  const asked = new URLSearchParams(search).get('from') ?? '';
  return /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : null;
}

/** Adds a stage for every length, all with the shared settings if some were chosen, then makes the missing datasets. */
async function planAll(shared: Shared | null): Promise<void> {
  if (shared !== null) await client.stages.changeShared({ preset: shared.preset, config: { ...shared.config } });
  await client.stages.plan();
  await client.stages.makeDatasets();
}

interface StagesProps {
  readonly data: Data;
  readonly open: Open;
  readonly setOpen: (open: Open) => void;
}

function Stages({ data, open, setOpen }: StagesProps) {
  const { stages } = data;
  const { data: status } = useQuery(api.app.status.queryOptions());
  const { data: texts } = useQuery(api.texts.overview.queryOptions({ input: {} }));
  const [chosen, setChosen] = useChosen();
  const [checked, setChecking] = useCheckedStage();
  const checking = checked?.id ?? null;
  const stage = stages.find(({ id }) => id === chosen) ?? nextToDo(data);
  const remove = useMutation({
    mutationFn: () => client.stages.remove({ stageId: stage?.id ?? 0 }),
    onSuccess: () => setOpen(null),
  });
  // An empty corpus means the bundled texts, which are used when datasets are made.
  const shortages = useMemo(() => {
    const lengths = texts === undefined || texts.texts === 0 ? [] : texts.stages;
    return new Map(lengths.flatMap(({ words, shortage }) => (shortage === null ? [] : [[words, shortage] as const])));
  }, [texts]);
  const isIdle = useWhenIdle();
  const live = status?.live ?? [];
  const time = ladderTime(stages, live);
  const at = stages.findIndex(({ id }) => id === stage?.id);
  const [, navigate] = useLocation();
  const resume = useMutation({ mutationFn: (runId: number) => client.runs.resume({ runId }) });
  const primary = useMemo(() => (stage === undefined ? null : primaryAction(stages, stage)), [stages, stage]);
  const { mutate: resumeRun } = resume;
  const start = useCallback(
    (stageId: number) => {
      setChosen(stageId);
      setChecking(stageId);
    },
    [setChosen, setChecking],
  );
  // The key does what the filled button says.
  // What is asked about stays chosen while the queue continues.
  const ask = useCallback(
    (question: 'form' | 'remove') => {
      setChosen(stage?.id ?? null);
      setOpen(question);
    },
    [stage?.id, setChosen, setOpen],
  );
  const runPrimary = useCallback(() => {
    if (primary?.kind === 'open') navigate(`/runs/${primary.runId}`);
    if (primary?.kind === 'resume') resumeRun(primary.runId);
    if (primary?.kind === 'next') start(primary.stageId);
    if (primary?.kind === 'start' && stage !== undefined && stage.dataset !== null) start(stage.id);
  }, [primary, navigate, resumeRun, start, stage]);
  useKeys(
    useMemo(() => {
      const select = (index: number): void => setChosen(stages[index]?.id ?? chosen);
      return [
        { key: 'ArrowLeft', label: 'Previous stage', run: () => select(Math.max(0, at - 1)) },
        { key: 'ArrowRight', label: 'Next stage', run: () => select(Math.min(stages.length - 1, at + 1)) },
        { key: 's', label: primary === null ? 'Start stage' : primaryLabel(primary), run: runPrimary },
        { key: 'a', label: 'Adjust the stage', run: () => ask('form') },
        { key: 'n', label: 'Add a stage', run: () => setOpen('new') },
      ];
    }, [stages, at, chosen, setChosen, primary, runPrimary, ask, setOpen]),
  );
  if (stage === undefined) return null;
  return (
    <>
      <Panel>
        <Ladder stages={stages} live={live} selected={stage.id} onSelect={setChosen} shortages={shortages} />
        {time !== null && (
          <p className={classes.time}>
            {time.time !== null && <strong className="num">{time.time}</strong>}{' '}
            <span className="soft">
              {time.time === null ? `Time for the whole ladder: ${lowered(time.basis)}` : time.basis}
            </span>
          </p>
        )}
        <Queue curriculum={data} />
      </Panel>
      <div className={classes.columns}>
        <div className={classes.stack}>
          {checking === stage.id && (
            <StagePreflight
              key={stage.id}
              stage={stage}
              kept={checked?.kept === true}
              onAdjust={() => {
                setChecking(null);
                ask('form');
              }}
              onClose={() => setChecking(null)}
              onMet={(next) => {
                setChecking(null);
                if (next !== null) setChosen(next);
              }}
            />
          )}
          {resume.error !== null && <Failed what="The run was not resumed" error={resume.error} />}
          <StagePanel
            stage={stage}
            curriculum={data}
            live={live.find(({ stageId }) => stageId === stage.id) ?? null}
            isChecking={checking === stage.id}
            shortage={stage.words === null ? undefined : shortages.get(stage.words)}
            onStart={(stageId = stage.id) => start(stageId)}
            onResume={resumeRun}
            isResuming={resume.isPending}
            onAdjust={() => ask('form')}
            onRemove={() => ask('remove')}
          />
        </div>
        <Forgetting />
      </div>
      {isIdle && stage.run === null && stage.datasetId !== null && (
        <StageExample datasetId={stage.datasetId} name={stage.name} />
      )}
      {isIdle && <StageResults stages={stages} />}
      <StageForm
        stage={stage}
        first={data.newStage}
        opened={open === 'form'}
        onClose={() => setOpen(null)}
        onSaved={() => setOpen(null)}
      />
      <Confirm
        opened={open === 'remove'}
        title={`Remove ${stage.name}?`}
        action="Remove"
        dangerous
        mutation={remove}
        onClose={() => setOpen(null)}
      >
        This deletes its position, promotion rule and settings. {keptOf(stage)}
      </Confirm>
    </>
  );
}

/** What is left of a stage that is removed. */
function keptOf({ runs }: Pick<StageView, 'runs'>): string {
  if (runs === 0) return 'Its dataset is kept.';
  return `Its ${runs === 1 ? 'run' : `${runs} runs`}, checkpoints and dataset are kept.`;
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** The selected stage, stored in the address so that links can name it and a reload keeps it. */
function useChosen(): [number | null, (stageId: number | null) => void] {
  const [, navigate] = useLocation();
  const asked = new URLSearchParams(useSearch()).get('stage');
  const choose = useCallback(
    (stageId: number | null) => stageId !== null && navigate(`/curriculum?stage=${stageId}`, { replace: true }),
    [navigate],
  );
  return [asked === null ? null : Number(asked), choose];
}

/**
 * The stage selected by default: the one in training, the one that the queue is paused for, or the first that isn't
 * done.
 */
function nextToDo({ stages, heldFor }: Data): StageView | undefined {
  return (
    stages.find(({ state }) => state === 'running') ??
    stages.find(({ id }) => id === heldFor) ??
    stages.find(({ state }) => state !== 'done') ??
    stages.at(-1)
  );
}
