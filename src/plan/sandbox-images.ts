import { pinnedImages } from '../catalog/lock.ts'
import type { PlanContext } from './context.ts'

/** Lists the pinned images that every pod sandbox needs. */
export function listSandboxImages({ lock, release }: PlanContext): string[] {
  const { pause } = pinnedImages(lock, release)
  return pause === undefined ? [] : [pause]
}
