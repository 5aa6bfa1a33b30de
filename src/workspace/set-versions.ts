import type { ClusterVersions } from '../catalog/upgrade-steps.ts'
import { removeKey, setScalar } from './yaml-edit.ts'

/**
 * Sets the versions of a cluster in the text of cluster.yml. spec.workers is written only if workers have
 * another version than control planes.
 */
export function setVersions(text: string, { kubernetes, workers }: ClusterVersions): string {
  const changed = setScalar(text, ['spec'], 'kubernetes', `"${kubernetes}"`)
  return workers === kubernetes
    ? removeKey(changed, ['spec'], 'workers')
    : setScalar(changed, ['spec'], 'workers', `{ kubernetes: "${workers}" }`)
}
