/** The prompt template: select, view, edit into a new version, delete. */
import { Button, Modal, Select, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { StoredTemplate } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Confirm } from '../components/Confirm.tsx';
import { Failed } from '../components/Feedback.tsx';
import { useDiscardQuestion } from '../components/use-discard-question.tsx';
import classes from './Make.module.css';
import type { Recipe } from './recipe.ts';

export interface TemplateChoiceProps {
  readonly chosen: Recipe['template'];
  readonly onChange: (template: Recipe['template']) => void;
}

const keyOf = ({ name, version }: Recipe['template']): string => `${name} v${version}`;

export function TemplateChoice({ chosen, onChange }: TemplateChoiceProps) {
  const { data: templates = [], error } = useQuery(api.datasets.templates.queryOptions());
  const [editing, setEditing] = useState(false);
  const current = templates.find((template) => keyOf(template) === keyOf(chosen));
  return (
    <div className={classes.template}>
      <Select
        label="Prompt template"
        data={templates.map(keyOf)}
        value={keyOf(chosen)}
        allowDeselect={false}
        onChange={(key) => {
          const next = templates.find((template) => keyOf(template) === key);
          if (next !== undefined) onChange({ name: next.name, version: next.version });
        }}
      />
      <Button variant="default" disabled={current === undefined} onClick={() => setEditing(true)}>
        Edit …
      </Button>
      {error !== null && <Failed error={error} />}
      {editing && current !== undefined && (
        <TemplateEditor template={current} onChange={onChange} onClose={() => setEditing(false)} />
      )}
    </div>
  );
}

interface TemplateEditorProps {
  readonly template: StoredTemplate;
  readonly onChange: TemplateChoiceProps['onChange'];
  readonly onClose: () => void;
}

function TemplateEditor({ template, onChange, onClose }: TemplateEditorProps) {
  const [name, setName] = useState(template.name);
  const [text, setText] = useState(template.text);
  const save = useMutation(
    api.datasets.saveTemplate.mutationOptions({
      onSuccess: (saved) => {
        onChange({ name: saved.name, version: saved.version });
        onClose();
      },
    }),
  );
  const [isRemoving, setRemoving] = useState(false);
  const remove = useMutation({
    mutationFn: () => client.datasets.removeTemplate({ name: template.name, version: template.version }),
    onSuccess: () => {
      onChange({ name: 'process', version: 1 });
      onClose();
    },
  });
  const changed = name.trim() !== template.name || text !== template.text;
  const { ask, question } = useDiscardQuestion({ isChanged: () => changed, close: onClose });
  return (
    <Modal
      opened
      onClose={() => ask(onClose)}
      closeOnEscape={!isRemoving}
      size={680}
      title={`Prompt template ${keyOf(template)}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        className={classes.editor}
        onSubmit={(event) => {
          event.preventDefault();
          // In React, this form is nested in the recipe's form.
          event.stopPropagation();
          save.mutate({ name, text });
        }}
      >
        <TextInput
          label="Name"
          description="With the same name, this becomes the next version; datasets keep the version they were made with."
          value={name}
          maxLength={80}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Textarea
          label="Prompt"
          description="{fragment_a} and {fragment_b} stand for the two fragments, {words} for their word count."
          autosize
          minRows={6}
          maxRows={18}
          dir="auto"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        {template.builtIn && changed && (
          <p className="soft">
            The bundled tiny model only knows the wording of “process v1”. Other models understand any framing.
          </p>
        )}
        {save.error !== null && <Failed what="The template was not saved" error={save.error} />}
        <div className={classes.editorEnd}>
          {!template.builtIn && (
            <Button variant="default" onClick={() => setRemoving(true)}>
              Delete v{template.version} …
            </Button>
          )}
          <span className={classes.gap} />
          <Button variant="default" onClick={() => ask(onClose)}>
            Cancel
          </Button>
          <Button type="submit" disabled={!changed || name.trim() === ''} loading={save.isPending}>
            Save as new version
          </Button>
        </div>
      </form>
      <Confirm
        opened={isRemoving}
        title={`Delete ${keyOf(template)}?`}
        action="Delete"
        dangerous
        mutation={remove}
        onClose={() => setRemoving(false)}
      >
        <p>
          The wording of this version is deleted{changed ? ', with your changes to it' : ''}. Datasets made with it keep
          their prompts.
        </p>
      </Confirm>
      {question}
    </Modal>
  );
}
