/** Exports a model or checkpoint: merged into one folder that other tools load, and as GGUF. */
import { Select, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelEntry } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { DialogForm, type DialogProps } from '../components/DialogForm.tsx';
import { useHostPath } from '../components/host-folders/use-host-path.tsx';
import { MODEL_NAME_RULE, modelNameFits } from '../components/name-rules.ts';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { exportName } from './model-rows.ts';

const AS_STORED = 'as stored';
const NONE = 'none';

const dtypes = [
  { value: AS_STORED, label: "As the base model's" },
  { value: 'bfloat16', label: 'bfloat16' },
  { value: 'float16', label: 'float16' },
  { value: 'float32', label: 'float32' },
];
const ggufs = [
  { value: NONE, label: 'No GGUF file' },
  { value: 'f16', label: 'F16: 16 bits a weight' },
  { value: 'q8_0', label: 'Q8_0: 8 bits a weight, half the size' },
];

export function Export({ entry, onClose }: DialogProps & { readonly entry: ModelEntry }) {
  const [name, setName] = useState(() => exportName(entry));
  const [dtype, setDtype] = useState(AS_STORED);
  const [gguf, setGguf] = useState(NONE);
  const host = useHostPath({
    wanted: { what: 'folder' },
    label: 'Folder',
    description: "For the model's own folder, on the machine that runs Braid",
    placeholder: "The workspace's models",
  });
  const { data: problem = null } = useQuery(api.models.ggufProblem.queryOptions({ input: { ref: entry.ref } }));
  const discard = useDiscardQuestion({ isChanged: () => name !== exportName(entry), close: onClose });
  const start = useMutation({
    mutationFn: async () =>
      client.models.export({
        ref: entry.ref,
        name: name.trim(),
        into: host.value.trim() === '' ? null : (await host.locate()).path,
        dtype: dtype === AS_STORED ? null : (dtype as 'bfloat16' | 'float16' | 'float32'),
        gguf: gguf === NONE || problem !== null ? null : (gguf as 'f16' | 'q8_0'),
      }),
    onSuccess: onClose,
  });
  return (
    <DialogForm
      onClose={onClose}
      title={`Export ${entry.name}`}
      action="Export"
      what="The export could not be started"
      disabled={name.trim() === '' || !modelNameFits(name.trim())}
      discard={discard}
      mutation={start}
    >
      <p>
        {entry.kind === 'checkpoint' && 'An adapter is merged into its base model. '}
        The export becomes a model of the workspace: a folder in Hugging Face format, for transformers, vLLM and other
        tools. It is then loaded again and compared with the original on 16{' '}
        {entry.kind === 'checkpoint' ? 'held-out prompts of its run' : 'prompts'}; a notice says how many answers are
        the same.
      </p>
      <TextInput
        label="Name"
        description={MODEL_NAME_RULE}
        error={modelNameFits(name.trim()) ? undefined : MODEL_NAME_RULE}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      {host.field}
      <Select
        label="Weights"
        data={dtypes}
        value={dtype}
        onChange={(value) => setDtype(value ?? AS_STORED)}
        allowDeselect={false}
      />
      <Select
        label="GGUF"
        description={
          problem === null
            ? 'One more file, with a Modelfile beside it, for Ollama, LM Studio and llama.cpp'
            : `Not for this model. ${problem}`
        }
        disabled={problem !== null}
        data={ggufs}
        value={problem === null ? gguf : NONE}
        onChange={(value) => setGguf(value ?? NONE)}
        allowDeselect={false}
      />
    </DialogForm>
  );
}
