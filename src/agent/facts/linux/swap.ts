import type { Fact } from './fact.ts'

export const readSwap: Fact<'swap'> = async ({ readFile }) => hasSwap((await readFile('/proc/swaps')) ?? '')

/** Every line after the heading is a swap area. */
export function hasSwap(text: string): boolean {
  return text.trim().split('\n').length > 1
}
