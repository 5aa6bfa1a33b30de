import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import {
  firewallGroup,
  type WindowsNetwork,
  windowsNetworkFile,
  windowsNetworkFormat,
} from '../../../contract/windows-network.ts'
import { type PlanResource, resourceKey } from '../../../diff/resource.ts'
import { listResources } from '../../../diff/plan-resources.ts'
import { join } from '../../host/host-path.ts'
import {
  workerRoles,
  type WorkerRole,
  type WorkerServiceSpec,
  type WorkerSpec,
} from '../reconcile/worker-spec.ts'
import { toWindowsServiceSpec } from '../scm/service-spec.ts'

/**
 * Builds the spec of a worker from the resources of its plan that are already installed, so a partly
 * installed host stays as it is. Returns undefined for a plan without a network file.
 */
export function buildWorkerSpec(plan: NodePlan, ledger: Ledger): WorkerSpec | undefined {
  const network = findWindowsNetwork(plan)
  if (network === undefined) return undefined
  const digests = new Map(ledger.resources.map((resource) => [resourceKey(resource), resource.digest]))
  // A resource whose change was interrupted is not included: a run completes it, not healing.
  const isDone = (item: PlanResource): boolean => digests.get(resourceKey(item)) === item.digest
  const done = new Set(listResources(plan).filter(isDone).map(resourceKey))
  const isInstalled = (target: 'service' | 'firewall-rule', name: string): boolean =>
    done.has(resourceKey({ target, name }))
  const services: Partial<Record<WorkerRole, WorkerServiceSpec>> = {}
  for (const role of workerRoles) {
    const service = plan.components.find(({ name }) => name === role)?.service
    if (service?.supervisor !== 'scm' || !isInstalled('service', service.name)) continue
    const sha256 = findDigest(ledger, service.program)
    const program = { path: service.program, sha256: sha256 ?? '' }
    if (sha256 !== undefined) services[role] = { service: toWindowsServiceSpec(service), program }
  }
  const rules = plan.components.flatMap(({ firewall }) => firewall)
  const { address, metadata, overlay } = network
  return {
    address,
    metadata,
    services,
    group: firewallGroup,
    firewall: rules.filter(({ name }) => isInstalled('firewall-rule', name)),
    ...(overlay === undefined ? {} : { overlay }),
  }
}

/**
 * Finds the digest of a program that was unpacked from an archive. Only the ledger lists the contents of
 * archives; plans do not.
 */
function findDigest({ resources }: Ledger, path: string): string | undefined {
  for (const resource of resources) {
    if (resource.target !== 'artifact') continue
    const file = resource.files.find((one) => join(resource.directory, one.path) === path)
    if (file !== undefined) return file.sha256
  }
  return undefined
}

export function findWindowsNetwork({ components }: NodePlan): WindowsNetwork | undefined {
  const file = components.flatMap(({ files }) => files).find(({ path }) => path.endsWith(windowsNetworkFile))
  return file?.content.kind === 'text' ? parseWindowsNetwork(file.content.text) : undefined
}

/** Parses the network file of a host. Used if there is no plan. */
export function parseWindowsNetwork(text: string): WindowsNetwork {
  return readVersioned(windowsNetworkFormat, JSON.parse(text))
}
