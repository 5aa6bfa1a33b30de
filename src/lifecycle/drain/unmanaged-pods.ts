import { truncateList } from '../../kit/truncate-list.ts'
import type { Finding } from '../../contract/finding.ts'
import { formatPodName, type Pod } from './pod.ts'

export const maxNamedPods = 5

/** Builds a finding about pods without a controller; undefined if the list is empty. */
export function buildUnmanagedFinding(node: string, pods: readonly Pod[]): Finding | undefined {
  if (pods.length === 0) return undefined
  return {
    code: 'NODE_PODS_UNMANAGED',
    severity: 'warning',
    message: `these pods have no controller and are not created again once they have ended on ${node}: ${truncateList(pods.map(formatPodName), maxNamedPods)}`,
    hint: 'keep what you need of them: kubectl get pod NAME -o yaml; --force says that they may go',
    host: node,
  }
}
