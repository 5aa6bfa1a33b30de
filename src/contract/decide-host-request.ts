import { type Fence, mayAct } from './fence.ts'
import {
  type HostAsk,
  type HostRequest,
  hostRequest,
  type HostResult,
  type HostStatus,
  mostRequests,
} from './host-resource.ts'

/** What a host's object says, as far as it matters for whoever asks. */
export interface AskedHost {
  readonly spec: { readonly requests?: readonly unknown[] | undefined }
  readonly status: Pick<HostStatus, 'results' | 'highest' | 'generation'>
}

/** Something that a controller wants of a host. */
export interface HostWish {
  /** The same for the same thing, whoever leads: under one name nothing is done twice. */
  readonly id: string
  readonly ask: HostAsk
  /** So many milliseconds from now on the host may begin with it. */
  readonly within: number
}

export type AskStep =
  | { readonly kind: 'answered'; readonly result: HostResult }
  /** It is asked, and there is no answer yet. */
  | { readonly kind: 'open' }
  | { readonly kind: 'write'; readonly requests: readonly unknown[] }
  /** A higher fence than ours was shown: ours has to be raised first, or we do not lead. */
  | { readonly kind: 'outranked'; readonly seen: Fence }
  /** Too many wait already. */
  | { readonly kind: 'full' }

/** What to do about a wish, with the host's object as it is. */
export function decideAsk({ spec, status }: AskedHost, wish: HostWish, fence: Fence, now: number): AskStep {
  const { id, ask, within } = wish
  const requests = spec.requests ?? []
  const result = status.results?.find((one) => one.id === id)
  if (result !== undefined && !mayBeAskedAnew(result)) return { kind: 'answered', result }
  const asked = requests.flatMap((one) => hostRequest.safeParse(one).data ?? [])
  const seen = [...asked.map((one) => one.fence), status.highest].find(
    (one) => one !== undefined && !mayAct(fence, one),
  )
  if (seen !== undefined) return { kind: 'outranked', seen }
  const generation = status.generation ?? 0
  const before = asked.find((one) => one.id === id)
  if (before !== undefined && isAsItShouldBe(before, fence, generation)) return { kind: 'open' }
  const until = before?.until ?? new Date(now + within).toISOString()
  const request: HostRequest = { id, fence, generation, until, ask }
  const others = requests.filter((one) => isWaited(one, id, status.results ?? []))
  if (others.length >= mostRequests) return { kind: 'full' }
  return { kind: 'write', requests: [...others, request] }
}

/** As it was asked it is not done, and it could be. */
function mayBeAskedAnew(result: HostResult): boolean {
  return result.outcome === 'refused' && (result.reason === 'fence' || result.reason === 'generation')
}

function isAsItShouldBe(before: HostRequest, fence: Fence, generation: number): boolean {
  return (
    before.fence.holder === fence.holder &&
    before.fence.transitions === fence.transitions &&
    before.generation >= generation
  )
}

/** Others that have no answer yet, of whomever they are. */
function isWaited(request: unknown, own: string, results: readonly HostResult[]): boolean {
  const id: unknown = Reflect.get(Object(request), 'id')
  return id !== own && !results.some((result) => result.id === id)
}
