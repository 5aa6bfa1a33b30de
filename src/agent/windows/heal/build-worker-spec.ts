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
 * The spec of a worker: the resources of its plan that are installed already. A partly installed host is kept
 * in that state. Undefined for a plan without the file that describes its networks.
 */
export function buildWorkerSpec(plan: NodePlan, ledger: Ledger): WorkerSpec | undefined {
  const network = findWindowsNetwork(plan)
  if (network === undefined) return undefined
  const digests = new Map(ledger.resources.map((resource) => [resourceKey(resource), resource.digest]))
  // An interrupted change is completed by a run, not by healing.
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
 * Finds the digest of a program from an archive. Plans do not list the contents of archives; the ledger does.
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

/** Parses the network file of a host, where no plan is available. */
export function parseWindowsNetwork(text: string): WindowsNetwork {
  return readVersioned(windowsNetworkFormat, JSON.parse(text))
}
