/** The selected stage: its status, and all its actions. */
import { Button, Menu, Tooltip } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { Curriculum, LiveStatus, StageView } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { Sparkline } from '../charts/Sparkline.tsx';
import { Failed } from '../components/Feedback.tsx';
import { counted, duration, number, score } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { Link } from '../components/Link.tsx';
import { leakageInWords } from '../components/leakage.ts';
import { MoreButton } from '../components/MoreMenu.tsx';
import { Panel } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import classes from './Curriculum.module.css';
import {
  originInWords,
  type PrimaryAction,
  primaryAction,
  primaryLabel,
  recordWord,
  ruleInWords,
  stateOf,
  stepCount,
  waitsFor,
} from './words.ts';

export interface StagePanelProps {
  readonly stage: StageView;
  readonly curriculum: Curriculum;
  readonly live: LiveStatus | null;
  readonly shortage: string | undefined;
  /** Whether its pre-flight check is open: that has the button to start. */
  readonly isChecking: boolean;
  /** Runs the pre-flight check of this stage, or of another one. */
  readonly onStart: (stageId?: number) => void;
  readonly onResume: (runId: number) => void;
  readonly isResuming: boolean;
  readonly onAdjust: () => void;
  readonly onRemove: () => void;
}

export function StagePanel(props: StagePanelProps) {
  const { stage, curriculum, live, isChecking, onStart, onResume, isResuming, onAdjust, onRemove } = props;
  const act = useMutation({ mutationFn: (work: () => Promise<unknown>) => work() });
  const { id: stageId, state, dataset } = stage;
  const hasDataset = dataset !== null && !dataset.missing;
  const waits = state === 'queued';
  const busy = waits || state === 'running';
  const move = (by: number): void => act.mutate(() => client.stages.move({ stageId, to: stage.position + by }));
  return (
    <Panel
      title={
        <>
          {stage.name} <StateBadge state={stateOf(stage, live)} />
        </>
      }
      actions={
        <>
          <Primary
            action={primaryAction(curriculum.stages, stage)}
            canStart={hasDataset && state !== 'running' && !isChecking}
            onStart={onStart}
            onResume={onResume}
            lacks={stage.run?.lacks ?? []}
            isBusy={isResuming}
          />
          <Button
            variant="default"
            disabled={state === 'running' || !hasDataset}
            onClick={() =>
              act.mutate(() => (waits ? client.stages.dequeue({ stageId }) : client.stages.enqueue({ stageId })))
            }
          >
            {waits ? 'Remove from queue' : 'Add to queue'}
          </Button>
          <Button variant="default" onClick={onAdjust}>
            Adjust
          </Button>
          <MoreButton label="More actions for this stage">
            {() => (
              <>
                <Menu.Item disabled={stage.position === 0} onClick={() => move(-1)}>
                  Move earlier
                </Menu.Item>
                <Menu.Item disabled={stage.position === curriculum.stages.length - 1} onClick={() => move(1)}>
                  Move later
                </Menu.Item>
                <Menu.Item onClick={() => act.mutate(() => duplicate(stage))}>Duplicate</Menu.Item>
                <Menu.Divider />
                <Menu.Item color="red" disabled={busy} onClick={onRemove}>
                  Remove from the curriculum …
                </Menu.Item>
              </>
            )}
          </MoreButton>
        </>
      }
    >
      {act.error !== null && <Failed error={act.error} />}
      {(stage.run?.lacks ?? []).map((lack) => (
        <p key={lack} className={classes.lack}>
          {lack}, so its run can't be resumed. {missingRemedy}
        </p>
      ))}
      <Facts {...props} />
    </Panel>
  );
}

const missingRemedy = 'Make missing datasets restores what was made from texts; put any other file back where it was.';

/** Adds a planned stage with the same settings right after this one. */
async function duplicate({ name, words, datasetId, steps, promotion, config, position }: StageView): Promise<void> {
  const { stageId } = await client.stages.add({
    name: `${name} copy`,
    words,
    datasetId,
    steps,
    promotion,
    config: { ...config },
  });
  await client.stages.move({ stageId, to: position + 1 });
}

interface PrimaryProps {
  readonly action: PrimaryAction;
  readonly canStart: boolean;
  readonly onStart: (stageId?: number) => void;
  readonly onResume: (runId: number) => void;
  /** What is missing to resume. */
  readonly lacks: readonly string[];
  readonly isBusy: boolean;
}

/** The suggested action as the filled button; starting the stage again is beside it. */
function Primary({ action, canStart, onStart, onResume, lacks, isBusy }: PrimaryProps) {
  const icon = <IconPlayerPlay size={14} aria-hidden="true" />;
  const label = primaryLabel(action);
  const again = (
    <Button variant="default" disabled={!canStart} onClick={() => onStart()}>
      Start again
    </Button>
  );
  switch (action.kind) {
    case 'open':
      return (
        <Button component={Link} href={`/runs/${action.runId}`}>
          {label}
        </Button>
      );
    case 'resume':
      return (
        <>
          <Button
            leftSection={icon}
            loading={isBusy}
            disabled={lacks.length > 0}
            onClick={() => onResume(action.runId)}
          >
            {label}
          </Button>
          {again}
        </>
      );
    case 'next':
      return (
        <>
          <Button leftSection={icon} onClick={() => onStart(action.stageId)}>
            {label}
          </Button>
          {again}
        </>
      );
    case 'start':
      return (
        <Button leftSection={icon} disabled={!canStart} onClick={() => onStart()}>
          {label}
        </Button>
      );
  }
}

/** Whether the sentence before has said it. */
function isNewest(best: NonNullable<StageView['best']>, standing: StageView['standing']): boolean {
  return best.step === standing?.newest?.step && best.mean === standing.newest.mean;
}

function Facts({ stage, curriculum, live, shortage }: StagePanelProps) {
  const { words, promotion, dataset, origin, run, scores, standing, best, steps, handsOn, reason, config, runs } =
    stage;
  const own = Object.keys(config);
  const leaks = dataset === null ? null : leakageInWords(dataset.leakage, dataset.testN, dataset.task);
  const after = waitsFor(curriculum.stages, stage);
  return (
    <dl className={classes.facts}>
      {reason !== null && (
        <>
          <dt>Reason</dt>
          <dd className={classes.reason}>{reason}</dd>
        </>
      )}
      <dt>Dataset</dt>
      <dd>
        {dataset === null && (shortage ?? <>none yet: make one above, or in Texts &amp; datasets</>)}
        {dataset !== null &&
          `${isolated(dataset.name)}: ${counted(dataset.trainN, `training ${recordWord(words)}`)}, ${number(dataset.testN)} held out`}
        {dataset !== null && words === null && `, of the task ${isolated(dataset.task)}`}
        {leaks !== null && <span className={classes.lack}> ({leaks})</span>}
        {dataset?.missing && <span className={classes.lack}> (file missing)</span>}
      </dd>
      <dt>Starts from</dt>
      <dd>
        {origin.kind === 'checkpoint' ? (
          <Link href={`/runs/${origin.runId}`}>{originInWords(origin)}</Link>
        ) : (
          originInWords(origin)
        )}
        {after !== null && <span className="faint"> if started now; after {after.name}, from its checkpoint</span>}
      </dd>
      <dt>Promotes when</dt>
      <dd>
        {ruleInWords(promotion)}
        {promotion?.end_early && ', stops early'}
        {promotion?.hand_on === 'best' && ', next stage starts from the best checkpoint'}
      </dd>
      <dt>Settings</dt>
      <dd>
        {stepCount(steps)}
        {own.length > 0 && (
          <Tooltip label={own.join(', ')}>
            <span>, {own.length} changed</span>
          </Tooltip>
        )}
      </dd>
      {run !== null && (
        <>
          <dt>Run</dt>
          <dd>
            <Link href={`/runs/${run.id}`}>{run.name}</Link>{' '}
            <span className="num">
              {number(live?.step ?? run.step)} of {number(run.maxSteps)}
            </span>
            {live?.secondsLeft != null && live.state === 'running' && `, ${duration(live.secondsLeft)} left`}
            {runs > 1 && <span className="faint"> · {runs} runs of this stage</span>}
          </dd>
          <dt>Held-out</dt>
          <dd className={classes.scores}>
            {scores.length > 0 && (
              <Sparkline
                values={[run.baseline, ...scores.map(({ mean }) => mean)]}
                label={`Held-out score from ${score(run.baseline)} to ${score(scores.at(-1)?.mean)}`}
                width={140}
                min={0}
                max={1}
              />
            )}
            <span className={standing?.tone === 'warn' ? `num ${classes.lack}` : 'num'}>
              {standing === null ? 'not evaluated' : `${standing.sentence}.`}
              {best !== null &&
                !isNewest(best, standing) &&
                ` Best of its runs ${score(best.mean)} at step ${best.step}.`}
            </span>
          </dd>
        </>
      )}
      {handsOn !== null && (
        <>
          <dt>Next starts from</dt>
          <dd>
            run {handsOn.runId}, step {handsOn.step}
          </dd>
        </>
      )}
    </dl>
  );
}
