import type { Facts } from '../contract/facts.ts'
import { type Finding, hasErrors, unlessIgnored } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Host } from '../spec/host.ts'
import type { Planner } from './component.ts'
import { inputFindings } from './check-plan-input.ts'
import { linuxComponents } from './linux/components.ts'
import { nodeOf } from './node.ts'
import type { PlanInput, Scene } from './context.ts'
import { type Shared, sharedOf } from './shared-data.ts'
import { internalAddress, topologyOf, type Topology } from './topology.ts'
import { windowsComponents } from './windows/components.ts'

export interface Planned {
  /** By name of host. None when something is so wrong that nothing should be done. */
  readonly plans: readonly NodePlan[]
  readonly findings: readonly Finding[]
}

/** Without these nothing can be planned, whatever somebody is ready to overlook. */
const indispensable: ReadonlySet<string> = new Set([
  'HOST_NO_FACTS',
  'HOST_NO_ADDRESS',
  'HOST_NO_INTERFACE',
  'HOST_OTHER_OS',
  'PLAN_FILE_MISSING',
  'PLAN_NO_QUORUM',
])

/**
 * What shall be on each host. The same input gives the same bytes, whatever the order of hosts in the file; nothing is
 * read but the input, and no secret is in it. Findings of `ignored` codes are left out, and keep nobody from planning.
 */
export function planCluster(input: PlanInput, ignored: readonly string[] = []): Planned {
  const topology = topologyOf(input.cluster, input.facts)
  const findings = inputFindings(input, topology).filter(
    unlessIgnored(ignored, (code) => indispensable.has(code)),
  )
  if (hasErrors(findings)) return { plans: [], findings }
  const shared = sharedOf(input.lock)
  const hosts = input.cluster.spec.hosts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const plans = hosts.flatMap((host) => {
    const facts = input.facts.get(host.name)
    return facts === undefined ? [] : [planHost(input, shared, topology, host, facts)]
  })
  return { plans, findings }
}

function planHost(input: PlanInput, shared: Shared, topology: Topology, host: Host, facts: Facts): NodePlan {
  const address = internalAddress(host, facts) ?? host.address
  const { system } = facts
  const version = input.version(host.name)
  const common = { ...input, ...shared, topology, host, address, version }
  const components =
    system.os === 'linux'
      ? planned(linuxComponents, { ...common, system })
      : planned(windowsComponents, { ...common, system })
  const node = nodeOf({ host, system })
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodePlan',
    cluster: { name: input.cluster.metadata.name, id: input.identity.id },
    host: host.name,
    address,
    os: system.os,
    arch: system.arch,
    roles: [...host.roles],
    ...(node === undefined ? {} : { node }),
    components,
  }
}

function planned<S extends Scene>(planners: readonly Planner<S>[], scene: S): NodePlan['components'] {
  return planners.flatMap((planner) => planner(scene) ?? [])
}
