import type { Ledger, LedgerThing } from '../../contract/ledger.ts'
import { digestOf } from '../../diff/digest.ts'
import type { PresentItem } from '../../diff/resource.ts'
import { type Host, servicesOf } from '../host/host.ts'
import type { UnitState } from '../host/systemd.ts'
import { findImages, imageTools } from './runtime-images.ts'
import type { Scene, State, Thing } from './resource-handler.ts'
import { targetsFor } from './handlers-by-os.ts'

/** A thing of the ledger, and how it is found. */
export interface Found {
  readonly thing: LedgerThing
  readonly state: State
  readonly service?: NonNullable<PresentItem['service']>
  /** What the supervisor says of a service. */
  readonly unit?: UnitState
}

/** Looks at everything that was ever put on the host. */
export async function inspectAll(scene: Scene): Promise<readonly Found[]> {
  const { things } = scene.ledger
  const names = things.flatMap(({ target, name }) => (target === 'service' ? [name] : []))
  const states = await servicesOf(scene.host).showAll(names)
  const unitOf = new Map(names.map((name, index) => [name, states[index]]))
  const images = await imagesIn(scene)
  const found: Found[] = []
  for (const thing of things) {
    const state = await targetsFor(scene.host)[thing.target].inspect(thing, { ...scene, images })
    const unit = thing.target === 'service' ? unitOf.get(thing.name) : undefined
    const service =
      thing.target === 'service' && unit !== undefined ? { service: serviceState(thing, unit), unit } : {}
    found.push({ thing, state, ...service })
  }
  return found
}

/** All with one question: each costs a program. */
async function imagesIn({ host, ledger }: Scene): Promise<ReadonlyMap<string, string> | undefined> {
  const names = ledger.things.flatMap(({ target, name }) => (target === 'image' ? [name] : []))
  const tools = imageTools(host, ledger)
  return names.length === 0 || tools === undefined ? undefined : findImages(host, tools, names)
}

/** The same in the words of the diff: what was changed has another digest, what is gone is left out. */
export function presentItems(found: readonly Found[]): PresentItem[] {
  return found.flatMap(({ thing, state, service }) => {
    if (state === 'absent') return []
    const { target, name } = thing
    const digest = state === 'as-written' ? thing.digest : digestOf(state)
    return thing.of.map((owner) => ({ ...owner, target, name, digest, ...(service && { service }) }))
  })
}

/** What is on a host of all that the ledger knows, as it is now. */
export async function present(ledger: Ledger, host: Host): Promise<PresentItem[]> {
  return presentItems(await inspectAll({ host, ledger }))
}

/** Systemd brings back by itself what has ended; only who asks for it now counts. */
const wanted = new Set(['active', 'activating', 'reloading', 'refreshing'])

function serviceState(
  { started, unseen }: Thing<'service'>,
  { active, enabled }: UnitState,
): NonNullable<PresentItem['service']> {
  return { running: started && enabled && wanted.has(active), unseen }
}
