import type { Fact } from './fact.ts'

export const swap: Fact<'swap'> = async ({ readFile }) => hasSwap((await readFile('/proc/swaps')) ?? '')

/** Every line but the heading is a piece of it. */
export function hasSwap(text: string): boolean {
  return text.trim().split('\n').length > 1
}
