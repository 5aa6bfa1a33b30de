import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { readVersioned } from '../../../contract/versioned.ts'
import {
  firewallGroup,
  type WindowsNetwork,
  windowsNetworkFile,
  windowsNetworkFormat,
} from '../../../contract/windows-network.ts'
import { type Item, thingOf } from '../../../diff/resource.ts'
import { items } from '../../../diff/plan-resources.ts'
import { join } from '../../host/host-path.ts'
import { allRoles, type Role, type WorkerService, type WorkerWish } from '../reconcile/worker-spec.ts'
import { serviceWish } from '../scm/service-spec.ts'

/**
 * What a worker is kept as: all of its plan that was put there already, so that a host which is only half set up is kept
 * as that half. Nothing of a plan without the file that says which networks to keep.
 */
export function workerWishOf(plan: NodePlan, ledger: Ledger): WorkerWish | undefined {
  const network = networkIn(plan)
  if (network === undefined) return undefined
  const digests = new Map(ledger.things.map((thing) => [thingOf(thing), thing.digest]))
  // What a run that was cut has left half done is gone on with by a run.
  const isDone = (item: Item): boolean => digests.get(thingOf(item)) === item.digest
  const done = new Set(items(plan).filter(isDone).map(thingOf))
  const has = (target: 'service' | 'firewall-rule', name: string): boolean =>
    done.has(thingOf({ target, name }))
  const services: Partial<Record<Role, WorkerService>> = {}
  for (const role of allRoles) {
    const service = plan.components.find(({ name }) => name === role)?.service
    if (service?.supervisor !== 'scm' || !has('service', service.name)) continue
    const sha256 = digestIn(ledger, service.program)
    const program = { path: service.program, sha256: sha256 ?? '' }
    if (sha256 !== undefined) services[role] = { service: serviceWish(service), program }
  }
  const rules = plan.components.flatMap(({ firewall }) => firewall)
  const { address, metadata, overlay } = network
  return {
    address,
    metadata,
    services,
    group: firewallGroup,
    firewall: rules.filter(({ name }) => has('firewall-rule', name)),
    ...(overlay === undefined ? {} : { overlay }),
  }
}

/** Of archives the plan does not say what is in them; what came out of them was written down. */
function digestIn({ things }: Ledger, path: string): string | undefined {
  for (const thing of things) {
    if (thing.target !== 'artifact') continue
    const file = thing.files.find((one) => join(thing.directory, one.path) === path)
    if (file !== undefined) return file.sha256
  }
  return undefined
}

export function networkIn({ components }: NodePlan): WindowsNetwork | undefined {
  const file = components.flatMap(({ files }) => files).find(({ path }) => path.endsWith(windowsNetworkFile))
  return file?.content.kind === 'text' ? networkFrom(file.content.text) : undefined
}

/** As it stands on the host, where no plan is at hand. */
export function networkFrom(text: string): WindowsNetwork {
  return readVersioned(windowsNetworkFormat, JSON.parse(text))
}
