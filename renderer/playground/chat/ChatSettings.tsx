/** The system prompt and how answers are drawn; folded away once a conversation has begun. */
import { useId } from 'react';
import type { ChatSampling } from '../../../main/api/contract/index.ts';
import { counted } from '../../components/format.ts';
import { NumberField } from '../../components/NumberField.tsx';
import prompts from '../Playground.module.css';
import { StopStrings } from '../StopStrings.tsx';
import classes from './Chat.module.css';

export interface ChatSettingsProps {
  readonly system: string;
  readonly sampling: ChatSampling;
  readonly tinted: boolean;
  readonly onSystem: (system: string) => void;
  readonly onSampling: (sampling: ChatSampling) => void;
  readonly onTinted: (tinted: boolean) => void;
}

export function ChatSettings({ system, sampling, tinted, onSystem, onSampling, onTinted }: ChatSettingsProps) {
  const id = useId();
  const set = (part: Partial<ChatSampling>): void => onSampling({ ...sampling, ...part });
  return (
    <details className={classes.settings}>
      <summary>
        <strong>Settings</strong> <span className="soft">{summaryOf(system, sampling)}</span>
      </summary>
      <label htmlFor={id}>System prompt</label>
      <textarea
        id={id}
        dir="auto"
        rows={2}
        className={`box ${classes.area}`}
        placeholder="Empty: each model’s own, if it was trained with one"
        value={system}
        onChange={({ currentTarget }) => onSystem(currentTarget.value)}
      />
      <div className={prompts.options}>
        <NumberField
          label="Temperature"
          width={100}
          min={0}
          max={5}
          step={0.1}
          value={sampling.temperature}
          onChange={(temperature) => temperature !== null && set({ temperature: within(temperature, 0, 5) })}
        />
        <NumberField
          label="Max tokens"
          width={100}
          min={1}
          max={32_768}
          value={sampling.maxTokens}
          onChange={(maxTokens) => maxTokens !== null && set({ maxTokens: within(maxTokens, 1, 32_768) })}
        />
        <NumberField
          label="Top p"
          width={80}
          min={0.01}
          max={1}
          step={0.05}
          value={sampling.topP}
          onChange={(topP) => topP !== null && set({ topP: within(topP, 0.01, 1) })}
        />
        <NumberField
          label="Top k"
          placeholder="all"
          width={80}
          min={1}
          max={1_000_000}
          value={sampling.topK === 0 ? null : sampling.topK}
          onChange={(topK) => set({ topK: within(topK ?? 0, 0, 1_000_000) })}
        />
        <NumberField
          label="Min p"
          width={80}
          min={0}
          max={1}
          step={0.01}
          value={sampling.minP}
          onChange={(minP) => minP !== null && set({ minP: within(minP, 0, 1) })}
        />
        <NumberField
          label="Repetition penalty"
          width={120}
          min={0.1}
          max={10}
          step={0.05}
          value={sampling.repetitionPenalty}
          onChange={(penalty) => penalty !== null && set({ repetitionPenalty: within(penalty, 0.1, 10) })}
        />
        <NumberField
          label="Seed"
          width={110}
          min={0}
          max={2 ** 32 - 1}
          disabled={sampling.temperature === 0}
          value={sampling.seed}
          onChange={(seed) => seed !== null && set({ seed: within(seed, 0, 2 ** 32 - 1) })}
        />
        <StopStrings stop={sampling.stop} onStop={(stop) => set({ stop })} />
        <label className={classes.tick}>
          <input type="checkbox" checked={tinted} onChange={({ currentTarget }) => onTinted(currentTarget.checked)} />
          Tint unlikely tokens
        </label>
      </div>
    </details>
  );
}

function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

function summaryOf(system: string, { temperature, maxTokens, topP, topK, minP, stop }: ChatSampling): string {
  return [
    temperature === 0 ? 'greedy' : `temperature ${temperature}`,
    `at most ${counted(maxTokens, 'token')}`,
    ...(topP < 1 ? [`top p ${topP}`] : []),
    ...(topK > 0 ? [`top k ${topK}`] : []),
    ...(minP > 0 ? [`min p ${minP}`] : []),
    ...(stop.length > 0 ? [counted(stop.length, 'stop string')] : []),
    ...(system.trim() === '' ? [] : ['a system prompt']),
  ].join(' · ');
}
