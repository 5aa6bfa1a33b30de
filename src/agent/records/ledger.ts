import { compareStages, type Stage } from '../../contract/component-plan.ts'
import { type Ledger, ledgerFormat, type LedgerResource } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { type PlanResource, resourceKey } from '../../diff/resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from '../host/file-access.ts'

export function emptyLedger(cluster: Ledger['cluster']): Ledger {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Ledger', cluster, resources: [], retainedDirectories: [] }
}

type ResourceName = Pick<PlanResource, 'target' | 'name'>

export function findResource({ resources }: Ledger, resourceName: ResourceName): LedgerResource | undefined {
  const id = resourceKey(resourceName)
  return resources.find((resource) => resourceKey(resource) === id)
}

/** Adds a resource or replaces its previous entry. */
export function withResource(ledger: Ledger, resource: LedgerResource): Ledger {
  const at = ledger.resources.findIndex((one) => resourceKey(one) === resourceKey(resource))
  const resources = at === -1 ? [...ledger.resources, resource] : ledger.resources.with(at, resource)
  const left = ledger.retainedDirectories.filter((path) => path !== resource.name)
  return { ...ledger, resources, retainedDirectories: left }
}

export function withoutResource(
  ledger: Ledger,
  resourceName: ResourceName,
  left: readonly string[] = [],
): Ledger {
  const id = resourceKey(resourceName)
  return {
    ...ledger,
    resources: ledger.resources.filter((resource) => resourceKey(resource) !== id),
    retainedDirectories: [...new Set([...ledger.retainedDirectories, ...left])],
  }
}

/**
 * Adds a pending change to the services of these components, because services read a changed resource only
 * when they start. Returns the same ledger object if every service already has this pending change.
 */
export function withPendingChange(ledger: Ledger, components: ReadonlySet<string>, name: string): Ledger {
  const unaware = ledger.resources.filter(
    (resource) =>
      resource.target === 'service' &&
      resource.owners.some(({ component }) => components.has(component)) &&
      !resource.pendingChanges.includes(name),
  )
  if (unaware.length === 0) return ledger
  const resources = ledger.resources.map((resource) =>
    resource.target === 'service' && unaware.includes(resource)
      ? { ...resource, pendingChanges: [...resource.pendingChanges, name] }
      : resource,
  )
  return { ...ledger, resources }
}

/** Removes a pending change of a service that already uses the current resource. */
export function withoutPendingChange(ledger: Ledger, service: string, name: string): Ledger {
  const resources = ledger.resources.map((resource) =>
    resource.target === 'service' && resource.name === service
      ? { ...resource, pendingChanges: resource.pendingChanges.filter((one) => one !== name) }
      : resource,
  )
  return { ...ledger, resources }
}

/**
 * Marks a service as started and drops its pending changes, because a service reads all changed resources
 * when it starts.
 */
export function withStarted(ledger: Ledger, name: string): Ledger {
  const resources = ledger.resources.map((resource) =>
    resource.target === 'service' && resource.name === name
      ? { ...resource, started: true, pendingChanges: [] }
      : resource,
  )
  return { ...ledger, resources }
}

export function withStopped(ledger: Ledger, name: string): Ledger {
  const resources = ledger.resources.map((resource) =>
    resource.target === 'service' && resource.name === name ? { ...resource, started: false } : resource,
  )
  return { ...ledger, resources }
}

/**
 * Returns the components whose services restart because of an op. The rules are those of the diff. A removal
 * causes a restart only if the resource is a file.
 */
export function listRestartedComponents(
  ledger: Ledger,
  planned: readonly PlanResource[],
  op: Op,
): ReadonlySet<string> {
  if (op.action === 'remove') {
    const owners = op.target === 'file' ? (findResource(ledger, op)?.owners ?? []) : []
    const isRead = owners.some(({ component, restart }) => restart && component === op.component)
    return new Set(isRead ? [op.component] : [])
  }
  const id = resourceKey(op)
  const readers = planned.filter((item) => item.restart && resourceKey(item) === id)
  return new Set(readers.map(({ component }) => component))
}

/**
 * Returns the owners of a resource after a plan is applied up to a stage. Previous owners in later stages
 * stay until their stage is applied.
 */
export function resolveOwners(
  planned: readonly PlanResource[],
  previous: LedgerResource['owners'],
  through: Stage,
): LedgerResource['owners'] {
  const isReached = ({ stage }: { readonly stage: Stage }): boolean => compareStages(stage, through) <= 0
  const now = planned
    .filter(isReached)
    .map(({ component, stage, restart }) => ({ component, stage, restart }))
  const later = previous.filter(
    (owner) => !isReached(owner) && !now.some(({ component }) => component === owner.component),
  )
  const owners = [...now, ...later]
  return owners.length === 0 ? previous : owners
}

/** Sets the owners of every planned resource for a plan that is applied up to a stage. */
export function withCurrentOwners(ledger: Ledger, items: readonly PlanResource[], through: Stage): Ledger {
  const planned = Map.groupBy(items, resourceKey)
  const resources = ledger.resources.map((resource) => {
    const id = planned.get(resourceKey(resource))
    return id === undefined ? resource : { ...resource, owners: resolveOwners(id, resource.owners, through) }
  })
  return { ...ledger, resources }
}

export function ledgerPath({ layout }: Pick<Host, 'layout'>): string {
  return join(layout.state, 'ledger.json')
}

/** Reads the ledger of a host; undefined if hyperkube never changed the host. */
export async function readLedger(host: Host): Promise<Ledger | undefined> {
  const text = await host.files.read(ledgerPath(host))
  if (text === undefined) return undefined
  try {
    return readVersioned(ledgerFormat, JSON.parse(text.toString('utf8')))
  } catch (cause) {
    throw new HyperkubeError('APPLY_LEDGER_NOT_READ', `${ledgerPath(host)} cannot be read`, {
      hint: `on the host: mv ${ledgerPath(host)} ${ledgerPath(host)}.old; the next run inspects the host and writes the ledger again`,
      cause,
    })
  }
}

async function writeLedger(host: Host, ledger: Ledger): Promise<void> {
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  if ((await host.files.stat(host.layout.state)) === undefined) {
    await host.files.makeDirectory(host.layout.state, { ...access, mode: 0o700 })
  }
  await host.files.write(ledgerPath(host), Buffer.from(`${JSON.stringify(ledger)}\n`), access)
}

/** The ledger of a run. `save` writes to disk first, so the ledger in memory is never newer than the file. */
export class LedgerStore {
  readonly #host: Host
  #ledger: Ledger

  constructor(host: Host, ledger: Ledger) {
    this.#host = host
    this.#ledger = ledger
  }

  get ledger(): Ledger {
    return this.#ledger
  }

  async save(next: Ledger): Promise<void> {
    if (next === this.#ledger) return
    await writeLedger(this.#host, next)
    this.#ledger = next
  }
}
