import { maxKubeletSkew } from '../kit/version-skew.ts'
import { compareVersions, parseVersion } from './version.ts'

/** Kubernetes versions of the hosts of a cluster. */
export interface ClusterVersions {
  /** Version of control planes and etcd hosts, and of the kubelets on them. */
  readonly kubernetes: string
  /** Version of hosts whose only role is worker. */
  readonly workers: string
}

/**
 * Returns the states of a cluster on its way along a path of versions. Each state is rolled out completely
 * before the next one. Workers stay behind as long as the skew policy allows, so that they are drained as few
 * times as possible. Control planes change their kubelets with each version, because a host has one set of
 * programs.
 */
export function planUpgradeSteps(from: ClusterVersions, path: readonly string[]): readonly ClusterVersions[] {
  let { workers } = from
  const steps = [from.kubernetes, ...path].map((kubernetes, index, versions) => {
    const next = versions[index + 1]
    if (next === undefined || exceedsSkew(next, workers)) workers = kubernetes
    return { kubernetes, workers }
  })
  // The first entry has the current version of the control planes. It is rolled out only if it upgrades
  // workers, for example because the next version would exceed the allowed skew.
  return steps.filter((step, index) => index > 0 || step.workers !== from.workers)
}

/** True if kubelets and kube-proxies of this version are too old for an API server. */
export function exceedsSkew(apiServer: string, kubelet: string): boolean {
  return parseVersion(apiServer)[1] - parseVersion(kubelet)[1] > maxKubeletSkew
}

/** Counts how many times each worker gets another minor version and is therefore drained. */
export function countWorkerDrains(from: ClusterVersions, steps: readonly ClusterVersions[]): number {
  const minors = [from, ...steps].map(({ workers }) => parseVersion(workers)[1])
  return minors.filter((minor, index) => index > 0 && minor !== minors[index - 1]).length
}

/** True if a step changes control planes. Such a step cannot be undone without a snapshot. */
export function changesControlPlanes(before: ClusterVersions, after: ClusterVersions): boolean {
  return compareVersions(before.kubernetes, after.kubernetes) !== 0
}
