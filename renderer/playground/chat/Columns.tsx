/** The models of the columns, above their answers. */
import { ActionIcon } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { LongChoice } from '../../components/LongChoice.tsx';
import type { ModelOptionGroup } from '../../components/model-options.ts';
import prompts from '../Playground.module.css';
import classes from './Chat.module.css';

export interface ColumnsProps {
  readonly models: readonly string[];
  readonly options: readonly ModelOptionGroup[];
  readonly busy: boolean;
  readonly onModel: (column: number, model: string) => void;
  readonly onRemove: (column: number) => void;
}

export function Columns({ models, options, busy, onModel, onRemove }: ColumnsProps) {
  const labels = new Map(options.flatMap(({ items }) => items.map(({ value, label }) => [value, label] as const)));
  return (
    <div className={classes.columns}>
      {models.map((model, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns are identified by their place
        <div key={column} className={classes.column}>
          <div>
            <LongChoice
              aria-label={`Model ${column + 1}`}
              className={prompts.model}
              placeholder="Choose a model or a checkpoint"
              currentLabel={labels.get(model)}
              nothingFoundMessage="No matching models"
              data={[...options]}
              value={labels.has(model) ? model : null}
              onChange={(ref) => onModel(column, ref ?? '')}
            />
            {models.length > 1 && (
              <ActionIcon aria-label={`Remove model ${column + 1}`} disabled={busy} onClick={() => onRemove(column)}>
                <IconX size={14} />
              </ActionIcon>
            )}
          </div>
          {labels.has(model) && <PlainLines model={model} />}
        </div>
      ))}
    </div>
  );
}

/** Says that a model can't tell who speaks. */
function PlainLines({ model }: { readonly model: string }) {
  const { data } = useQuery(api.models.inspect.queryOptions({ input: { ref: model } }));
  if (data?.facts?.chatTemplate !== false) return null;
  return <p className="faint">No chat template: it reads plain lines, such as “User: …” and “Assistant: …”.</p>;
}
