/** What is said where texts quote control tokens of chat models. */
import type { ImportPlan } from '../../main/api/contract/index.ts';

/** Null where none does. */
export function quotedInWords({ records, of, tokens }: ImportPlan['quoting']): string | null {
  if (records === 0) return null;
  const contain = records === 1 ? 'contains' : 'contain';
  return `${records} of ${of} records ${contain} ${tokens.slice(0, 3).join(' ')}, control tokens of chat models. They are read as plain characters; remove them if they got in by accident.`;
}
