import type { Finding } from '../contract/finding.ts'
import { checkClonedHosts, checkOwnAddress } from './checks/addresses.ts'
import {
  buildCheckInput,
  type ClusterCheck,
  type HostCheck,
  type HostSubject,
  type LinuxCheck,
  type SystemCheck,
  type WindowsCheck,
} from './checks/check.ts'
import { checkIpv6Address, checkIpv6Network } from './checks/dual-stack.ts'
import {
  checkCgroups,
  checkInitSystem,
  checkKernelFeatures,
  checkResolver,
  checkSelinux,
  checkSwap,
} from './checks/linux-host.ts'
import {
  checkDocker,
  checkForeignServices,
  checkWindowsDocker,
  checkWindowsServices,
} from './checks/foreign-services.ts'
import { checkAddressPool } from './checks/load-balancer.ts'
import { checkNetworkPolicy, checkWindowsNetworkPolicy } from './checks/network-policy.ts'
import { checkHostNetworks, checkMtu } from './checks/networks.ts'
import { checkClusterFlags, checkHostFlags } from './checks/owned-flags.ts'
import { checkFirewall, checkPacketFilter } from './checks/packet-filter.ts'
import { checkTakenPorts } from './checks/ports.ts'
import { checkPresence } from './checks/presence.ts'
import {
  checkApiServerFiles,
  checkArtifactSource,
  checkHostFiles,
  checkLockFits,
  checkOidcCa,
  checkRegistryLogins,
  checkProxyPassword,
  checkCaFiles,
} from './checks/references.ts'
import { checkRke1EtcdHost, checkRke1Network } from './checks/rke1-host.ts'
import { checkCpus, checkDisks, checkMemory } from './checks/sizes.ts'
import { checkKeepalived, checkVirtualIpHolder } from './checks/virtual-ip.ts'
import {
  checkWindowsArch,
  checkWindowsDrive,
  checkWindowsFeatures,
  checkWindowsImages,
  checkWindowsRestart,
  checkWindowsVersion,
} from './checks/windows-host.ts'
import { checkWindowsAdapter, checkWindowsMetadata, checkWindowsNetworks } from './checks/windows-network.ts'
import type { PlanInput } from './context.ts'
import { resolveInternalAddress, resolveIpv6Address, type Topology } from './topology.ts'

const clusterChecks: readonly ClusterCheck[] = [
  checkArtifactSource,
  checkLockFits,
  checkApiServerFiles,
  checkOidcCa,
  checkRegistryLogins,
  checkProxyPassword,
  checkCaFiles,
  checkClusterFlags,
  checkRke1Network,
]

const hostChecks: readonly HostCheck[] = [checkPresence, checkHostFiles, checkHostFlags]

const systemChecks: readonly SystemCheck[] = [
  checkOwnAddress,
  checkHostNetworks,
  checkVirtualIpHolder,
  checkClonedHosts,
  checkTakenPorts,
  checkMemory,
  checkCpus,
  checkDisks,
]

const linuxChecks: readonly LinuxCheck[] = [
  checkInitSystem,
  checkKernelFeatures,
  checkPacketFilter,
  checkNetworkPolicy,
  checkMtu,
  checkIpv6Address,
  checkIpv6Network,
  checkKeepalived,
  checkAddressPool,
  checkCgroups,
  checkSwap,
  checkSelinux,
  checkForeignServices,
  checkDocker,
  checkFirewall,
  checkResolver,
  checkRke1EtcdHost,
]

const windowsChecks: readonly WindowsCheck[] = [
  checkWindowsVersion,
  checkWindowsArch,
  checkWindowsFeatures,
  checkWindowsRestart,
  checkWindowsDrive,
  checkWindowsAdapter,
  checkWindowsNetworks,
  checkWindowsMetadata,
  checkWindowsNetworkPolicy,
  checkWindowsImages,
  checkWindowsServices,
  checkWindowsDocker,
]

/**
 * Runs all checks and returns all findings: first findings of the cluster, then findings of each host, sorted
 * by host name.
 */
export function checkPlanInput(input: PlanInput, topology: Topology): readonly Finding[] {
  const checkInput = buildCheckInput(input, topology)
  const subjects = input.cluster.spec.hosts
    .map((host, index): HostSubject => ({ ...checkInput, host, index }))
    .toSorted((a, b) => (a.host.name < b.host.name ? -1 : 1))
  return [...runChecks(clusterChecks, checkInput), ...subjects.flatMap(checkHost)]
}

function checkHost(subject: HostSubject): Finding[] {
  const { cluster, host, facts } = subject
  const hostFacts = facts.get(host.name)
  const findings = runChecks(hostChecks, subject)
  // If the host has another operating system than expected, the other checks would be meaningless.
  if (hostFacts === undefined || hostFacts.system.os !== host.os) return findings
  const { system } = hostFacts
  const common = {
    ...subject,
    address: resolveInternalAddress(cluster, host, hostFacts) ?? host.address,
    ipv6Address: resolveIpv6Address(cluster, host, hostFacts),
  }
  return [
    ...findings,
    ...runChecks(systemChecks, { ...common, system }),
    ...(system.os === 'linux'
      ? runChecks(linuxChecks, { ...common, system })
      : runChecks(windowsChecks, { ...common, system })),
  ]
}

function runChecks<Subject>(
  checks: readonly ((subject: Subject) => readonly Finding[])[],
  subject: Subject,
): Finding[] {
  return checks.flatMap((check) => check(subject))
}
