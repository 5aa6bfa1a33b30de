import type { Finding } from '../contract/finding.ts'
import { ownAddress } from './checks/addresses.ts'
import type {
  ClusterCheck,
  HostCheck,
  HostSubject,
  LinuxCheck,
  SystemCheck,
  WindowsCheck,
} from './checks/check.ts'
import { firewall } from './checks/firewall.ts'
import { cgroups, initSystem, kernelFeatures, selinux, swap } from './checks/linux-kernel.ts'
import { docker, foreignServices } from './checks/linux-services.ts'
import { mtu } from './checks/mtu.ts'
import { hostNetworks } from './checks/networks.ts'
import { clusterFlags, hostFlags } from './checks/owned-flags.ts'
import { packetFilter } from './checks/packet-filter.ts'
import { presence } from './checks/presence.ts'
import { artifactSource, auditPolicyFile, hostFiles, lockFits, registryLogins } from './checks/references.ts'
import { resolver } from './checks/resolver.ts'
import { situationOf } from './checks/check-input.ts'
import { disks, memory, processors } from './checks/sizes.ts'
import { takenPorts } from './checks/taken-ports.ts'
import { twins } from './checks/cloned-hosts.ts'
import {
  windowsArch,
  windowsDrive,
  windowsFeatures,
  windowsRestart,
  windowsVersion,
} from './checks/windows-host.ts'
import { windowsImages } from './checks/windows-images.ts'
import { windowsAdapter, windowsMetadata, windowsNetworks } from './checks/windows-network.ts'
import { windowsDocker, windowsServices } from './checks/windows-services.ts'
import type { PlanInput } from './context.ts'
import { internalAddress, type Topology } from './topology.ts'

const clusterChecks: readonly ClusterCheck[] = [
  artifactSource,
  lockFits,
  auditPolicyFile,
  registryLogins,
  clusterFlags,
]

const hostChecks: readonly HostCheck[] = [presence, hostFiles, hostFlags]

const systemChecks: readonly SystemCheck[] = [
  ownAddress,
  hostNetworks,
  twins,
  takenPorts,
  memory,
  processors,
  disks,
]

const linuxChecks: readonly LinuxCheck[] = [
  initSystem,
  kernelFeatures,
  packetFilter,
  mtu,
  cgroups,
  swap,
  selinux,
  foreignServices,
  docker,
  firewall,
  resolver,
]

const windowsChecks: readonly WindowsCheck[] = [
  windowsVersion,
  windowsArch,
  windowsFeatures,
  windowsRestart,
  windowsDrive,
  windowsAdapter,
  windowsNetworks,
  windowsMetadata,
  windowsImages,
  windowsServices,
  windowsDocker,
]

/**
 * What in the input keeps a cluster from being planned, or should be known before: all of it at once, first of the
 * cluster, then of each host by its name.
 */
export function inputFindings(input: PlanInput, topology: Topology): readonly Finding[] {
  const situation = situationOf(input, topology)
  const subjects = input.cluster.spec.hosts
    .map((host, index): HostSubject => ({ ...situation, host, index }))
    .toSorted((a, b) => (a.host.name < b.host.name ? -1 : 1))
  return [...run(clusterChecks, situation), ...subjects.flatMap(hostFindings)]
}

function hostFindings(subject: HostSubject): Finding[] {
  const { host, facts } = subject
  const found = facts.get(host.name)
  const findings = run(hostChecks, subject)
  // Of a host with another system than it should have, every other word would be beside the point.
  if (found === undefined || found.system.os !== host.os) return findings
  const { system } = found
  const common = { ...subject, address: internalAddress(host, found) ?? host.address }
  return [
    ...findings,
    ...run(systemChecks, { ...common, system }),
    ...(system.os === 'linux'
      ? run(linuxChecks, { ...common, system })
      : run(windowsChecks, { ...common, system })),
  ]
}

function run<Subject>(
  checks: readonly ((subject: Subject) => readonly Finding[])[],
  subject: Subject,
): Finding[] {
  return checks.flatMap((check) => check(subject))
}
