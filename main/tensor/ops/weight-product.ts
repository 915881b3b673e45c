/** Products with a model's weights: those alone follow the run's compute_dtype. */
import { BatchMatMul, type GradConfig, type Tensor, type Tensor2D } from '@tensorflow/tfjs-core';
import { runOp, savedTensor } from '../portable.ts';

/** Attributes of BatchMatMul; tfjs's own products don't have the last. */
export interface ProductAttrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly ofWeights?: boolean;
}

function product(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Tensor2D {
  return runOp<Tensor2D>(BatchMatMul, { a, b }, { transposeA, transposeB, ofWeights: true } satisfies ProductAttrs);
}

/** x·Wᵀ, W as Hugging Face stores it: x [N, in], weight [out, in] → [N, out]. */
export function weightProduct(x: Tensor2D, weight: Tensor2D): Tensor2D {
  return product(x, weight, false, true);
}

/** tfjs's gradient of products, `plain`, except that those of weights are products of weights, too. */
export function withWeightProducts(plain: GradConfig): GradConfig {
  return {
    ...plain,
    gradFunc: (dy, saved, attrs) => {
      if ((attrs as unknown as ProductAttrs).ofWeights !== true) return plain.gradFunc(dy, saved, attrs);
      const [x, weight] = [savedTensor(saved, 0), savedTensor(saved, 1)];
      return {
        a: () => product(dy as Tensor, weight, false, false),
        b: () => product(dy as Tensor, x, true, false),
      };
    },
  };
}
