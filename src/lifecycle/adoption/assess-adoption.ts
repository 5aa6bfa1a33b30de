import type { Finding } from '../../contract/finding.ts'
import { type AdoptionItem, type AdoptionReport, prevents } from './adoption-report.ts'
import { checkCas, checkExpiry } from './checks/certificates.ts'
import type { AdoptionCheck } from './checks/check.ts'
import {
  buildVersionCheck,
  checkApi,
  checkApiPort,
  checkAuthorization,
  checkCloudProvider,
  checkEncryption,
  checkEndpointPods,
  checkNodesReady,
  checkServiceAccounts,
} from './checks/control-plane.ts'
import { checkExternalEtcd, checkMemberAddresses, checkMembers } from './checks/etcd.ts'
import {
  checkCompleteness,
  checkDirt,
  checkNames,
  checkReadable,
  checkTool,
  checkWindows,
} from './checks/hosts.ts'
import { buildEtcdVersionCheck, checkCaNames, checkCgroupDriver, checkRuntime } from './checks/move.ts'
import { checkSharedKeys } from './checks/keys.ts'
import { checkAddressFamily, checkKubeProxy, checkPodNetwork } from './checks/network.ts'
import { checkPaths } from './checks/paths.ts'
import { listRoles, nameHosts } from './host-settings.ts'
import { listEffects } from './effects.ts'
import { type AdoptionObservation, findNode } from './observation.ts'

const checks: readonly AdoptionCheck[] = [
  checkReadable,
  checkTool,
  checkApi,
  checkCompleteness,
  checkNames,
  checkDirt,
  checkWindows,
  checkNodesReady,
  checkCloudProvider,
  checkEndpointPods,
  checkPaths,
  checkExpiry,
  checkCas,
  checkServiceAccounts,
  checkAuthorization,
  checkEncryption,
  checkSharedKeys,
  checkApiPort,
  checkExternalEtcd,
  checkMembers,
  checkMemberAddresses,
  checkPodNetwork,
  checkAddressFamily,
  checkKubeProxy,
  checkRuntime,
  checkCgroupDriver,
  checkCaNames,
]

export interface AssessOptions {
  /** Name of the cluster in cluster.yml. */
  readonly name: string
  /** Minors of the catalog, newest first. */
  readonly minors: readonly string[]
  /** Versions of etcd in the catalog, by minor. */
  readonly etcdVersions: ReadonlyMap<string, string>
  /** Findings of the cluster.yml that would be written. */
  readonly findings: readonly Finding[]
}

/** Turns an observation into the report: what is kept, changed and lost, and what prevents the adoption. */
export function assessAdoption(
  observation: AdoptionObservation,
  { name, minors, etcdVersions, findings }: AssessOptions,
): AdoptionReport {
  const versionChecks = [buildVersionCheck(minors), buildEtcdVersionCheck(etcdVersions)]
  const prevented = [...checks, ...versionChecks].flatMap((check) => check(observation))
  // Errors of cluster.yml follow from other problems, if there are some.
  const invalid =
    prevented.length > 0 ? [] : findings.filter(({ severity }) => severity === 'error').map(toItem)
  const names = nameHosts(observation)
  return {
    from: observation.from,
    cluster: name,
    kubernetes: observation.api?.version,
    hosts: observation.hosts.map((host, index) => {
      const node = findNode(observation, host)
      return {
        name: names[index] ?? host.hostname,
        address: host.address,
        node: host.nodeName,
        roles: listRoles(observation, host),
        kubelet: node?.kubelet,
        runtime: node?.runtime,
        system: `${host.distribution}, ${host.arch}, cgroup v${host.cgroup}`,
      }
    }),
    items: [...listEffects(observation), ...prevented, ...invalid],
  }
}

function toItem({ code, path, message, hint }: Finding): AdoptionItem {
  return prevents(
    'ADOPT_SETTINGS',
    `cluster.yml would not be valid: ${path === undefined ? '' : `${path} `}${message} (${code})`,
    hint ?? 'change the setting with the tool that manages the cluster',
  )
}
