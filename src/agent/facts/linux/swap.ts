import type { Fact } from './fact.ts'

export const readSwap: Fact<'swap'> = async ({ readFile }) => hasSwap((await readFile('/proc/swaps')) ?? '')

/** True if /proc/swaps lists a swap area after its heading. */
export function hasSwap(text: string): boolean {
  return text.trim().split('\n').length > 1
}
