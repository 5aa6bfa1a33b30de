import { compareVersions, numbersOf } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'

/** Versions that run now, without a v. */
export interface RunningVersions {
  /** Of API servers. */
  readonly servers: readonly string[]
  /** Of kubelets, by the names of their nodes. */
  readonly kubelets: ReadonlyMap<string, string>
}

/** So many minors a kubelet may be older than the API servers it talks to. */
const oldestKubelet = 3

/** What a change of Kubernetes' version must not do, whoever has asked for it and however often it was cut. */
export function versionFindings(wished: string, running: RunningVersions): Finding[] {
  return [
    ...backFindings(wished, running),
    ...skipFindings(wished, running),
    ...skewFindings(wished, running),
  ]
}

/** Whether a minor version changes, for whoever is not there yet. */
export function changesMinor(wished: string, { servers, kubelets }: RunningVersions): boolean {
  return [...servers, ...kubelets.values()].some((version) => minorOf(version) !== minorOf(wished))
}

function backFindings(wished: string, { servers, kubelets }: RunningVersions): Finding[] {
  const newest = [...servers, ...kubelets.values()].toSorted(compareVersions).at(-1)
  if (newest === undefined || minorOf(wished) >= minorOf(newest)) return []
  return [
    {
      code: 'UPGRADE_BACK',
      severity: 'error',
      message: `${newest} runs already, and ${wished} would be a minor version back: what the newer one has stored, the older one may not be able to read`,
      hint: `set spec.kubernetes to ${newest}, then: hyperkube up; the way back is a snapshot of before: hyperkube etcd snapshot restore`,
    },
  ]
}

function skipFindings(wished: string, { servers }: RunningVersions): Finding[] {
  const [oldest] = servers.toSorted(compareVersions)
  if (oldest === undefined || minorOf(wished) <= minorOf(oldest) + 1) return []
  return [
    {
      code: 'UPGRADE_SKIPS_MINOR',
      severity: 'error',
      message: `from ${oldest} to ${wished} minor versions would be skipped, which API servers do not survive`,
      hint: `hyperkube upgrade --to ${wished} goes through those in between`,
    },
  ]
}

/** Also of nodes that do not answer: they come back with the kubelet they have. */
function skewFindings(wished: string, { kubelets }: RunningVersions): Finding[] {
  return [...kubelets]
    .filter(([, version]) => minorOf(wished) - minorOf(version) > oldestKubelet)
    .map(([node, version]) => ({
      code: 'UPGRADE_SKEW',
      severity: 'error',
      message: `its kubelet is ${version}, and API servers of ${wished} work with none that old`,
      hint: `bring it up to date first, or take it out: hyperkube node remove ${node}`,
      host: node,
    }))
}

function minorOf(version: string): number {
  return numbersOf(version)[1]
}
