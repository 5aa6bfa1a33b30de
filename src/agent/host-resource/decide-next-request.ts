import { type Fence, mayAct } from '../../contract/fence.ts'
import { type HostRequest, hostRequest, type HostResult, type Refusal } from '../../contract/host-resource.ts'
import type { HostRequestMemory } from '../../contract/host-request-state.ts'
import { z } from 'zod'

export interface Seen {
  /** As they stand in the host's object, from whomever they are. */
  readonly requests: readonly unknown[]
  readonly memory: HostRequestMemory
  /** Milliseconds since 1970. */
  readonly now: number
  /** The highest of the operators' claim that this host has seen. */
  readonly generation: number
  /** Whether somebody else decides now what is done here: what may be done waits. */
  readonly taken: boolean
}

export interface Decision {
  /** The highest fence of all that was ever shown: it is to be kept before anything else is done. */
  readonly highest: Fence | undefined
  /** What comes next. One at a time: what it does may change what may be done after it. */
  readonly next: HostRequest | undefined
  /** What is not done as it was asked. Nothing of that is kept: it can be asked anew. */
  readonly refused: readonly HostResult[]
}

/**
 * What to do of what is asked. Nothing is begun twice, whatever became of it; and nothing for a fence when a higher one
 * was shown before, or stands beside it.
 */
export function decide({ requests, memory, now, generation, taken }: Seen): Decision {
  const known = new Set(memory.begun.map(({ id }) => id))
  const asked = requests.map(read)
  const highest = asked.reduce<Fence | undefined>(
    (most, { request }) => (request === undefined ? most : higher(request.fence, most)),
    memory.highest,
  )
  const refused: HostResult[] = []
  let next: HostRequest | undefined
  for (const { id, request } of asked) {
    if (id === undefined || known.has(id)) continue
    const reason = request === undefined ? 'unknown' : refusalOf(request, { highest, now, generation })
    if (reason !== undefined) refused.push({ id, outcome: 'refused', reason })
    else if (!taken) next ??= request
  }
  return { highest, next, refused }
}

function refusalOf(
  { fence, until, generation }: HostRequest,
  here: { readonly highest: Fence | undefined; readonly now: number; readonly generation: number },
): Refusal | undefined {
  if (!mayAct(fence, here.highest)) return 'fence'
  if (Date.parse(until) <= here.now) return 'late'
  return generation < here.generation ? 'generation' : undefined
}

/** Two never share a number; where they do in spite of that, the first one counts. */
function higher(one: Fence, other: Fence | undefined): Fence {
  return other === undefined || one.transitions > other.transitions ? one : other
}

const named = z.looseObject({ id: hostRequest.shape.id })

/** What newer controllers ask may be more than this agent knows: it says so, where it can. */
function read(value: unknown): {
  readonly id: string | undefined
  readonly request: HostRequest | undefined
} {
  return { id: named.safeParse(value).data?.id, request: hostRequest.safeParse(value).data }
}
