/** The options of the form: those of two texts, and how completions are sampled. */
import { useId } from 'react';
import { Choice } from '../components/Choice.tsx';
import { NumberField } from '../components/NumberField.tsx';
import { type Form, MAX_SAMPLES } from './form.ts';
import classes from './Playground.module.css';
import { StopStrings } from './StopStrings.tsx';

interface OptionsProps {
  readonly form: Form;
  readonly onForm: (change: Partial<Form>) => void;
  readonly templates: readonly { readonly name: string; readonly version: number }[];
}

export function Options({ form, onForm, templates }: OptionsProps) {
  const id = useId();
  const names = templates.map(({ name, version }) => ({
    value: `${name} ${version}`,
    label: `${name}, version ${version}`,
  }));
  return (
    <div className={classes.options}>
      <NumberField
        label="Words per text"
        placeholder="all"
        width={100}
        min={1}
        max={1000}
        value={form.words}
        onChange={(words) => onForm({ words })}
      />
      <span className={classes.template}>
        <label htmlFor={id}>Prompt template</label>
        <Choice
          id={id}
          width={190}
          data={names}
          value={form.template ?? names[0]?.value ?? ''}
          onChange={(template) => onForm({ template })}
        />
      </span>
      <Sampling form={form} onForm={onForm} />
    </div>
  );
}

/** The same for every prompt. */
export function Sampling({ form, onForm }: Pick<OptionsProps, 'form' | 'onForm'>) {
  return (
    <>
      <NumberField
        label="Temperature"
        width={100}
        min={0}
        max={5}
        step={0.1}
        value={form.temperature}
        onChange={(temperature) => temperature !== null && onForm({ temperature })}
      />
      <NumberField
        label="Seed"
        width={110}
        min={0}
        max={2 ** 32 - 1}
        disabled={form.temperature === 0}
        value={form.seed}
        onChange={(seed) => seed !== null && onForm({ seed })}
      />
      <NumberField
        label="Samples"
        width={80}
        min={1}
        max={MAX_SAMPLES}
        disabled={form.temperature === 0}
        value={form.temperature === 0 ? 1 : form.samples}
        onChange={(samples) => samples !== null && onForm({ samples })}
      />
      <NumberField
        label="Max tokens"
        placeholder="automatic"
        width={110}
        min={1}
        max={32_768}
        value={form.maxTokens}
        onChange={(maxTokens) => onForm({ maxTokens })}
      />
      <StopStrings stop={form.stop} onStop={(stop) => onForm({ stop })} />
    </>
  );
}
