/** Adds a model that lies on this machine: one that another program has, or a folder or GGUF file by its path. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, client } from '../api/client.ts';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import { DialogForm, type DialogProps } from './DialogForm.tsx';
import { Found } from './Found.tsx';
import classes from './Models.module.css';

export function Add({ onClose }: DialogProps) {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const [, navigate] = useLocation();
  const [path, setPath] = useState('');
  const [copy, setCopy] = useState(false);
  const discard = useDiscardQuestion({ isChanged: () => path !== '' || copy, close: onClose });
  const isFile = /\.gguf\s*$/i.test(path);
  const added = ({ ref, jobId }: { readonly ref: string; readonly jobId: number | null }): void => {
    const shown = `/models?${new URLSearchParams({ model: ref })}`;
    if (jobId === null) discard.proceed(() => navigate(shown, { replace: true }));
    onClose();
  };
  const importModel = useMutation({
    mutationFn: () => client.models.import({ path: path.trim(), copy: copy && !isFile }),
    onSuccess: added,
  });
  const choose = async (what: 'folder' | 'file'): Promise<void> => {
    const title = `Choose a ${what === 'file' ? 'GGUF file' : 'model folder'}`;
    const chosen =
      what === 'file' ? (await client.app.chooseFiles({ title }))[0] : await client.app.chooseFolder({ title });
    if (chosen !== undefined && chosen !== null) setPath(chosen);
  };
  return (
    <DialogForm
      onClose={onClose}
      size="xl"
      title="Add from this computer"
      action={isFile ? 'Convert and add' : copy ? 'Copy and add' : 'Add'}
      what="The model could not be added"
      disabled={path.trim() === ''}
      discard={discard}
      mutation={importModel}
    >
      <Found onAdded={added} />
      <div className={classes.chooser}>
        <TextInput
          label="Folder or GGUF file"
          placeholder="/models/SmolLM2-135M-Instruct"
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
          data-autofocus
        />
        {info?.dialogs === true && (
          <>
            <Button variant="default" onClick={() => void choose('folder')}>
              Folder …
            </Button>
            <Button variant="default" onClick={() => void choose('file')}>
              File …
            </Button>
          </>
        )}
      </div>
      <p className="soft">
        {info?.dialogs === false &&
          'On the machine that runs Braid, inside the workspace or a folder allowed with braid serve --allow. '}
        A folder has config.json, tokenizer.json and safetensors; a GGUF file is converted into one. Llama, Mistral,
        Qwen2, Qwen3, SmolLM, Phi-3, Phi-4-mini, Gemma 3 (text), OLMo-2 or Granite.
      </p>
      {!isFile && (
        <Checkbox
          label="Copy into the workspace"
          description="Otherwise the folder is used in place and has to stay there"
          checked={copy}
          onChange={(event) => setCopy(event.currentTarget.checked)}
        />
      )}
    </DialogForm>
  );
}
