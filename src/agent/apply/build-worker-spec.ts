import type { Ledger } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { readVersioned } from '../../contract/versioned.ts'
import {
  firewallGroup,
  type WindowsNetwork,
  windowsNetworkFile,
  windowsNetworkFormat,
} from '../../contract/windows-network.ts'
import { workerStateFormat } from '../../contract/windows-state.ts'
import { listResources } from '../../diff/plan-resources.ts'
import { type PlanResource, resourceKey } from '../../diff/resource.ts'
import { join } from '../host/host-path.ts'
import type { WindowsHost } from '../host/host.ts'
import { toWindowsServiceSpec } from '../host/windows/service-control-manager.ts'
import {
  emptyReconcileState,
  type ReconcileState,
  type WorkerRole,
  workerRoles,
  type WorkerServiceSpec,
  type WorkerSpec,
} from '../windows-worker/worker.ts'
import { readState, writeState } from '../records/state-file.ts'

/**
 * Builds the spec of a Windows worker. It contains only planned resources that are already installed, so
 * healing does not complete a partial installation. Returns undefined if the plan has no network file.
 */
export function buildWorkerSpec(plan: NodePlan, ledger: Ledger): WorkerSpec | undefined {
  const network = findWindowsNetwork(plan)
  if (network === undefined) return undefined
  const digests = new Map(ledger.resources.map((resource) => [resourceKey(resource), resource.digest]))
  // A resource whose change was interrupted is left out. The next run completes the change; healing does not.
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

/** Parses the text of a network file. */
export function parseWindowsNetwork(text: string): WindowsNetwork {
  return readVersioned(windowsNetworkFormat, JSON.parse(text))
}

const workerStateFile = 'worker.json'

/**
 * Reads the stored state of the worker's reconciliation. Invalid state is ignored. At worst, healing then
 * starts some services once too often.
 */
export async function readReconcileState(host: WindowsHost): Promise<ReconcileState> {
  const {
    apiVersion: _version,
    kind: _kind,
    ...state
  } = (await readState(host, workerStateFile, workerStateFormat)) ?? {
    ...emptyReconcileState,
    apiVersion: '',
    kind: '',
  }
  return state
}

export async function writeReconcileState(host: WindowsHost, state: ReconcileState): Promise<void> {
  await writeState(host, workerStateFile, { apiVersion: 'hyperkube.dev/v1', kind: 'WorkerState', ...state })
}
