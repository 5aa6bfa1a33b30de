import type { Facts } from '../contract/facts.ts'
import { createIgnoreFilter, type Finding, hasErrors } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { isWorkerHost } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { checkPlanInput } from './check-plan-input.ts'
import { buildSharedPlanData, type ComponentPlanner, type PlanContext, type PlanInput } from './context.ts'
import { linuxComponents } from './linux/components.ts'
import { planNode } from './node.ts'
import { buildTopology, resolveInternalAddress, resolveIpv6Address, type Topology } from './topology.ts'
import { windowsComponents } from './windows/components.ts'

export interface PlanResult {
  /** Plans sorted by host name. Empty if a finding is an error. */
  readonly plans: readonly NodePlan[]
  readonly findings: readonly Finding[]
}

/** Codes of findings that cannot be ignored, because the plan needs the missing data. */
const mandatoryCodes: ReadonlySet<string> = new Set([
  'HOST_NO_FACTS',
  'HOST_NO_ADDRESS',
  'HOST_NO_IPV6_ADDRESS',
  'HOST_NO_INTERFACE',
  'HOST_OTHER_OS',
  'PLAN_FILE_MISSING',
  'PLAN_NO_QUORUM',
])

/**
 * Plans the desired state of each host. This function is pure: the same input gives the same bytes, whatever
 * the order of hosts. Plans contain no secrets. Findings with `ignored` codes are dropped and do not prevent
 * planning.
 */
export function planCluster(input: PlanInput, ignored: readonly string[] = []): PlanResult {
  const topology = buildTopology(input.cluster, input.facts)
  const findings = checkPlanInput(input, topology).filter(
    createIgnoreFilter(ignored, (code) => mandatoryCodes.has(code)),
  )
  if (hasErrors(findings)) return { plans: [], findings }
  const versions = buildHostVersions(input)
  const hosts = input.cluster.spec.hosts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const plans = hosts.flatMap((host) => {
    const facts = input.facts.get(host.name)
    return facts === undefined ? [] : [planHost(input, versions(host), topology, host, facts)]
  })
  return { plans, findings }
}

/** Release and pins of a host. */
type HostVersion = Pick<PlanContext, 'release' | 'lock' | 'locked' | 'held' | 'yaml'>

/**
 * Returns a function that selects the version of a host. Workers may have an older version than control
 * planes.
 */
function buildHostVersions({ release, lock, workersRelease }: PlanInput): (host: HostSpec) => HostVersion {
  const current = { release, lock, ...buildSharedPlanData(lock) }
  if (workersRelease === undefined || lock.workers === undefined) return () => current
  const older = { release: workersRelease, lock: lock.workers, ...buildSharedPlanData(lock.workers) }
  return (host) => (isWorkerHost(host) ? older : current)
}

function planHost(
  { version: readVersion, ...input }: PlanInput,
  hostVersion: HostVersion,
  topology: Topology,
  host: HostSpec,
  facts: Facts,
): NodePlan {
  const address = resolveInternalAddress(input.cluster, host, facts) ?? host.address
  const ipv6Address = resolveIpv6Address(input.cluster, host, facts)
  const { system } = facts
  const version = readVersion(host.name)
  const common = { ...input, ...hostVersion, topology, host, address, ipv6Address, version }
  const components =
    system.os === 'linux'
      ? planComponents(linuxComponents, { ...common, system })
      : planComponents(windowsComponents, { ...common, system })
  const node = planNode({ host, system })
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

function planComponents<S extends PlanContext>(
  planners: readonly ComponentPlanner<S>[],
  context: S,
): NodePlan['components'] {
  return planners.flatMap((planner) => planner(context) ?? [])
}
