import { firstFew } from '../../kit/truncate-list.ts'
import type { Finding } from '../../contract/finding.ts'
import { nameOf, type Pod } from './pod.ts'

export const mostNamed = 5

/** Pods that nobody makes anew, as something to know before; undefined where there are none. */
export function unmanagedFinding(node: string, pods: readonly Pod[]): Finding | undefined {
  if (pods.length === 0) return undefined
  return {
    code: 'NODE_PODS_UNMANAGED',
    severity: 'warning',
    message: `nobody makes these pods anew once they have ended on ${node}: ${firstFew(pods.map(nameOf), mostNamed)}`,
    hint: 'keep what you need of them: kubectl get pod NAME -o yaml; --force says that they may go',
    host: node,
  }
}
