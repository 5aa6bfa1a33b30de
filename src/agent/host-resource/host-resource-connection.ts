import type { NodePlan } from '../../contract/node-plan.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { pairMark } from './certificate-stamp.ts'
import { nodeNameOf } from '../heal/report/node-events.ts'
import type { WatchedPlan } from '../heal/watch-plan.ts'
import type { Host } from '../host/host.ts'
import { clientOfNode } from '../renewal/node-api.ts'
import { type Look, rounds } from '../loop/run-loop.ts'
import { type HostObjectScene, keepHostObject } from './host-resource-loop.ts'
import { RequestBook } from './request-store.ts'

export interface SpeakScene extends Omit<
  HostObjectScene,
  'client' | 'name' | 'book' | 'line' | 'onTrouble' | 'clock'
> {
  readonly host: Host
  readonly plan: () => Promise<WatchedPlan | undefined>
}

/** In milliseconds: until there is a plan, and until a line is looked at that stands. */
const usual = 60_000
/** Until a cluster is asked again that has no such objects, at first and at last: an API server that starts has none either. */
const soon = 15_000
const rarely = 10 * 60_000

/**
 * Keeps the object of this host, by a line to the API that is made anew when the plan or the certificate of the node is
 * another one. Hosts that are no nodes have none; clusters that know no such objects are asked now and then.
 */
export async function speakForHost(scene: SpeakScene): Promise<void> {
  const { host, plan, random, say, signal } = scene
  let book: RequestBook | undefined
  let inVain = 0
  const look = async (): Promise<Look> => {
    const watched = await plan()
    const name = watched && nodeNameOf(watched.plan)
    if (watched === undefined || name === undefined) return { next: usual, troubles: [] }
    // Once: what is under way stands in it.
    book ??= await RequestBook.open(host)
    const trouble = await speak(scene, watched, name, book)
    inVain = trouble === undefined ? 0 : inVain + 1
    if (trouble === undefined) return { next: 0, troubles: [] }
    const next = Math.min(rarely, soon * 2 ** (inVain - 1))
    // That nobody has such objects is no trouble of this host.
    return { next, troubles: isUnknown(trouble) ? [] : [trouble] }
  }
  await rounds({ look, first: soon / 3, usual, clock: host.clock, random, say, signal })
}

/** Until the line has to be another one. Answers with why there is none to be had. */
async function speak(
  scene: SpeakScene,
  { plan, digest }: WatchedPlan,
  name: string,
  book: RequestBook,
): Promise<unknown> {
  const { host, random, say, signal } = scene
  const over = new AbortController()
  const line = AbortSignal.any([signal, over.signal])
  const before = await markOf(host, plan)
  using client = await clientOfNode(host, plan, line)
  if (client === undefined) return undefined
  let trouble: unknown
  const onTrouble = (error: unknown): void => {
    if (!isUnknown(error) && !isKubeError(error, 'KUBE_FORBIDDEN')) return
    trouble = error
    over.abort()
  }
  const look = async (): Promise<Look> => {
    const watched = await scene.plan()
    if (watched?.digest !== digest || (await markOf(host, plan)) !== before) over.abort()
    return { next: usual }
  }
  await Promise.all([
    keepHostObject({ ...scene, client, name, book, line, onTrouble, clock: host.clock }),
    rounds({ look, first: usual, usual, clock: host.clock, random, say, signal: line }),
  ])
  return trouble
}

/** Whether the cluster has no such kind. */
function isUnknown(error: unknown): boolean {
  return isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_KIND_UNKNOWN')
}

/** Of what the node speaks with. */
async function markOf(host: Host, { components }: NodePlan): Promise<string> {
  const places = components.find(({ name }) => name === 'kubelet')?.certificates ?? []
  const marks = await Promise.all(places.map(async (place) => pairMark(host, place)))
  return marks.join(' ')
}
