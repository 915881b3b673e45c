/** Work on many items at a time, of which the first failure ends all. */

/**
 * Does work on all items, so many at a time; results are in the order of the items. After a failure nothing more is
 * started, since requests cost money, and what was started is awaited.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    try {
      for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T, i);
    } catch (error) {
      next = items.length;
      throw error;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, lane));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results;
}
