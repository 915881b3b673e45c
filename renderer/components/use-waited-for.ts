/** A request that only its component waits for: it is cancelled when that is closed or its screen is left. */
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

export function useWaitedFor<Input, Output>(
  request: (input: Input, options: { readonly signal: AbortSignal }) => Promise<Output>,
): UseMutationResult<Output, Error, Input> {
  const controller = useRef<AbortController>(null);
  const mutation = useMutation({
    mutationFn: (input: Input) => {
      controller.current = new AbortController();
      return request(input, { signal: controller.current.signal });
    },
  });
  useEffect(() => () => controller.current?.abort(), []);
  return mutation;
}
