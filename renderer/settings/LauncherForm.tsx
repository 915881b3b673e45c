/** How the server of an engine is started from here. */
import { Select, Textarea, TextInput } from '@mantine/core';
import { NumberEntry } from '../components/NumberEntry.tsx';
import { LAUNCHER_KINDS, type LauncherFields, type LauncherKind } from './launcher-form.ts';
import classes from './Settings.module.css';

const KINDS: Readonly<Record<LauncherKind, string>> = {
  none: 'elsewhere, by hand',
  command: 'a command, here or by ssh',
  ray: 'a Ray job',
  hf: 'a Hugging Face job',
};

/** Its own default address is every interface of the machine, and it asks for no key. */
const SKYRL = 'uv run --extra tinker --extra jax -m skyrl.tinker.api --base-model … --host 127.0.0.1 --port 8000';

export interface LauncherFormProps {
  readonly fields: LauncherFields;
  readonly onChange: (fields: LauncherFields) => void;
}

type TextName = 'command' | 'host' | 'dashboard' | 'workingDir' | 'namespace' | 'image' | 'flavor';
type NumberName = 'cpus' | 'gpus' | 'idleMinutes' | 'maxHours';

export function LauncherForm({ fields, onChange }: LauncherFormProps) {
  const { kind } = fields;
  const text = (name: TextName, label: string, placeholder: string) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={fields[name]}
      onChange={(event) => onChange({ ...fields, [name]: event.currentTarget.value })}
    />
  );
  const number = (name: NumberName, label: string) => (
    <NumberEntry
      label={label}
      min={0}
      step={0.5}
      value={fields[name]}
      onChange={(value) => onChange({ ...fields, [name]: value ?? 0 })}
    />
  );
  const port = (label: string, disabled = false) => (
    <NumberEntry
      label={label}
      placeholder="the address's"
      min={1}
      max={65_535}
      disabled={disabled}
      value={fields.port}
      onChange={(value) => onChange({ ...fields, port: value })}
    />
  );
  const lines = (name: 'pip' | 'env', label: string, placeholder: string) => (
    <Textarea
      className={classes.wide ?? ''}
      label={label}
      placeholder={placeholder}
      autosize
      minRows={1}
      value={fields[name]}
      onChange={(event) => onChange({ ...fields, [name]: event.currentTarget.value })}
    />
  );
  const command = (label: string, placeholder: string) => (
    <Textarea
      className={classes.wide ?? ''}
      label={label}
      description="A shell's line that runs until the server ends."
      placeholder={placeholder}
      autosize
      minRows={1}
      value={fields.command}
      onChange={(event) => onChange({ ...fields, command: event.currentTarget.value })}
    />
  );
  return (
    <div className={`${classes.wide} ${classes.fields}`}>
      <Select
        label="Its server is started by"
        allowDeselect={false}
        data={LAUNCHER_KINDS.map((value) => ({ value, label: KINDS[value] }))}
        value={kind}
        onChange={(value) => onChange({ ...fields, kind: LAUNCHER_KINDS.find((one) => one === value) ?? 'none' })}
      />
      {kind === 'command' && (
        <>
          {text('host', 'Host, by ssh', 'empty: this machine')}
          {port('Port on that host', fields.host.trim() === '')}
          {command('Command', `cd ~/SkyRL && ${SKYRL}`)}
        </>
      )}
      {kind === 'ray' && (
        <>
          {text('dashboard', 'Dashboard of the cluster', 'http://127.0.0.1:8265')}
          {text('workingDir', 'Folder to upload', 'none')}
          {number('cpus', 'Processors for the job')}
          {number('gpus', 'GPUs for the job')}
          {port('Port in the job')}
          {lines('pip', 'Packages, one a line', 'none')}
          {lines('env', 'Variables, one a line; no keys', 'NAME=value')}
          {command('Entry point', SKYRL)}
        </>
      )}
      {kind === 'hf' && (
        <>
          {text('namespace', 'User or organisation that pays', 'my-name')}
          {text('flavor', 'Machine', 'a10g-small')}
          {text('image', 'Container image', 'ghcr.io/…')}
          {port('Port in the job')}
          {lines('env', 'Variables, one a line; no keys', 'NAME=value')}
          {command('Command', 'starts the server, and a tunnel to its address')}
        </>
      )}
      {kind !== 'none' && (
        <>
          {number('idleMinutes', 'Minutes idle before it is stopped (0: never)')}
          {number('maxHours', 'Hours until it ends by itself (0: never)')}
        </>
      )}
    </div>
  );
}
