/** Imports a Hugging Face folder: chosen in a dialog on the desktop, by path in a browser. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, client } from '../api/client.ts';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { DialogForm, type DialogProps } from './DialogForm.tsx';
import classes from './Models.module.css';

export function Import({ onClose }: DialogProps) {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const [, navigate] = useLocation();
  const [path, setPath] = useState('');
  const [copy, setCopy] = useState(false);
  const discard = useDiscardQuestion({ isChanged: () => path !== '' || copy, close: onClose });
  const importModel = useMutation({
    mutationFn: () => client.models.import({ path: path.trim(), copy }),
    onSuccess: ({ ref, jobId }) => {
      const shown = `/models?${new URLSearchParams({ model: ref })}`;
      if (jobId === null) discard.proceed(() => navigate(shown, { replace: true }));
      onClose();
    },
  });
  const choose = async (): Promise<void> => {
    const folder = await client.app.chooseFolder({ title: 'Choose a model folder' });
    if (folder !== null) setPath(folder);
  };
  return (
    <DialogForm
      onClose={onClose}
      title="Import a model folder"
      action={copy ? 'Copy and import' : 'Import'}
      what="The folder could not be imported"
      disabled={path.trim() === ''}
      discard={discard}
      mutation={importModel}
    >
      <p>
        A folder with config.json, tokenizer.json and safetensors, as downloaded from Hugging Face or saved by
        transformers: Llama, Mistral, Qwen2, Qwen3, SmolLM, Phi-3, Phi-4-mini, Gemma 3 (text), OLMo-2 or Granite.
      </p>
      <div className={classes.chooser}>
        <TextInput
          label="Folder"
          placeholder="/models/SmolLM2-135M-Instruct"
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
          data-autofocus
        />
        {info?.dialogs === true && (
          <Button variant="default" onClick={() => void choose()}>
            Choose …
          </Button>
        )}
      </div>
      {info?.dialogs === false && (
        <p className="soft">
          A path on the machine that runs Braid, inside the workspace or a folder allowed with braid serve --allow.
        </p>
      )}
      <Checkbox
        label="Copy into the workspace"
        description="Otherwise it is used in place and has to stay there"
        checked={copy}
        onChange={(event) => setCopy(event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
