import type { Ledger, LedgerResource } from '../../contract/ledger.ts'
import { computeDigest, type PresentResource } from '../../diff/resource.ts'
import type { Host } from '../host/host.ts'
import type { UnitState } from '../host/service-manager.ts'
import { handlersFor } from './handlers-by-os.ts'
import type { InspectContext, ManagedResource, ResourceObservation } from './resource-handler.ts'
import { findImages, findImageTools } from './image.ts'

/** A resource of the ledger with its current state. */
export interface InspectedResource {
  readonly resource: LedgerResource
  readonly state: ResourceObservation
  readonly service?: NonNullable<PresentResource['service']>
  /** State of the service as systemd or the Windows service manager reports it. */
  readonly unit?: UnitState
}

/** Inspects every resource in the ledger. */
export async function inspectLedger(context: InspectContext): Promise<readonly InspectedResource[]> {
  const { resources } = context.ledger
  const names = resources.flatMap(({ target, name }) => (target === 'service' ? [name] : []))
  const states = await context.host.services.showAll(names)
  const unitByName = new Map(names.map((name, index) => [name, states[index]]))
  const images = await findLedgerImages(context)
  const inspected: InspectedResource[] = []
  for (const resource of resources) {
    const state = await handlersFor(context.host)[resource.target].inspect(resource, { ...context, images })
    const unit = resource.target === 'service' ? unitByName.get(resource.name) : undefined
    const service =
      resource.target === 'service' && unit !== undefined
        ? { service: toServiceState(resource, unit), unit }
        : {}
    inspected.push({ resource, state, ...service })
  }
  return inspected
}

/** Finds all images of the ledger with one query, because each query starts a program. */
async function findLedgerImages({
  host,
  ledger,
}: InspectContext): Promise<ReadonlyMap<string, string> | undefined> {
  const names = ledger.resources.flatMap(({ target, name }) => (target === 'image' ? [name] : []))
  const tools = findImageTools(host, ledger)
  return names.length === 0 || tools === undefined ? undefined : findImages(host, tools, names)
}

/**
 * Converts inspected resources to items of the diff. A drifted resource gets a different digest; an absent
 * resource is left out.
 */
export function toPresentResources(inspected: readonly InspectedResource[]): PresentResource[] {
  return inspected.flatMap(({ resource, state, service }) => {
    if (state === 'absent') return []
    const { target, name } = resource
    const digest = state === 'as-written' ? resource.digest : computeDigest(state)
    return resource.owners.map((owner) => ({ ...owner, target, name, digest, ...(service && { service }) }))
  })
}

/** Inspects the host and returns the resources of the ledger that are present now. */
export async function inspectPresentResources(ledger: Ledger, host: Host): Promise<PresentResource[]> {
  return toPresentResources(await inspectLedger({ host, ledger }))
}

/**
 * States that count as running. A service that systemd is restarting after an exit (`activating`) counts too.
 */
const runningStates = new Set(['active', 'activating', 'reloading', 'refreshing'])

function toServiceState(
  { started, pendingChanges }: ManagedResource<'service'>,
  { active, enabled }: UnitState,
): NonNullable<PresentResource['service']> {
  return { running: started && enabled && runningStates.has(active), pendingChanges }
}
