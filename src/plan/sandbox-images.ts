import { pinnedImages } from '../catalog/lock.ts'
import type { Scene } from './context.ts'

/** What every pod's sandbox is made of, as the lock pins it. */
export function sandboxImages({ lock, release }: Scene): string[] {
  const { pause } = pinnedImages(lock, release)
  return pause === undefined ? [] : [pause]
}
