import { type Answer, arithmetic, numbers } from 'braid';

/** A little for the tags, so that there is something to find first; the rest for an expression of the right value. */
export function reward({ record, completion }: Answer<{ numbers: number[]; target: number }>): Record<string, number> {
  const expression = /<answer>([^<]*)<\/answer>\s*$/.exec(completion)?.[1];
  if (expression === undefined) return { correct: 0, format: 0 };
  const isRight =
    usesOnly(expression, record.numbers) && Math.abs((arithmetic(expression) ?? NaN) - record.target) < 1e-6;
  return { correct: isRight ? 1 : 0, format: 1 };
}

/** Whether each number of the expression is given, and as often. Signs don't count: 9-4 is no -4. */
function usesOnly(expression: string, given: number[]): boolean {
  const left = [...given];
  return numbers(expression.replace(/[-−]/g, ' ')).every((number) => {
    const at = left.indexOf(number);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
