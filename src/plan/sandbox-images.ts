import { pinnedImages } from '../catalog/lock.ts'
import type { PlanContext } from './context.ts'

/** Images that every pod sandbox needs, as the lock pins them. */
export function listSandboxImages({ lock, release }: PlanContext): string[] {
  const { pause } = pinnedImages(lock, release)
  return pause === undefined ? [] : [pause]
}
