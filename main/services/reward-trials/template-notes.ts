/** What may not be meant in the texts of a task.yaml that has no faults. */
import { isScalar, visit } from 'yaml';
import { parseYaml } from '../../io/yaml.ts';
import { checkDefinition } from '../../tasks/folder/definition.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { doublesBraces, fieldsIn, foreignPlaces } from '../../tasks/folder/template.ts';

/** A sentence each. */
export function templateNotes(source: FolderSource): string[] {
  return [...braceNotes(source), ...commentNotes(source)];
}

/** Braces that come out as they are, doubled ones and other templates' places, and a prompt without any field. */
function braceNotes({ definition }: FolderSource): string[] {
  const checked = checkDefinition(definition);
  if ('faults' in checked) return [];
  const { prompt = '', system = '', target = '', messages = [], fields, environment } = checked.definition;
  const turns = messages.map(({ content }) => content).join('\n');
  const templates = Object.entries({ prompt, system, messages: turns, target });
  const notes = templates.flatMap(([name, template]) => [
    ...(doublesBraces(template)
      ? [
          `task.yaml: "${name}" doubles a brace, and both come out. A brace by itself is one: {"name": "{name}"}; only {{name}}, around a field's name, becomes {name}.`,
        ]
      : []),
    ...foreignPlaces(template, Object.keys(fields)).map(
      (place) => `task.yaml: "${name}" has ${place}, which stays as it is: only a name alone in braces is a field.`,
    ),
  ]);
  const isSame = environment === undefined && fieldsIn([prompt, system, turns].join('\n')).length === 0;
  return isSame ? [...notes, 'task.yaml: no field stands in the prompt, which is the same for every record.'] : notes;
}

const TEXTS: readonly unknown[] = ['prompt', 'system', 'content', 'target', 'rubric'];

/** Texts without quotes that a comment ends: of "End with #### and the number" the model reads two words. */
function commentNotes({ definition }: FolderSource): string[] {
  const notes: string[] = [];
  visit(parseYaml(definition).document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !TEXTS.includes(key.value)) return;
      if (!isScalar(value) || value.type !== 'PLAIN' || value.range == null) return;
      const [, comment] = /^[ \t]+(#.*)/.exec(definition.slice(value.range[1])) ?? [];
      if (comment === undefined) return;
      notes.push(
        `task.yaml: "${key.value}" ends before "${comment.trim()}", which is a comment in YAML. If it belongs to the text, put the whole in quotes, or below a |.`,
      );
    },
  });
  return notes;
}
