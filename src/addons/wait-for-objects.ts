import { HyperkubeError } from '../kit/errors.ts'
import { waitWatchfully } from '../kit/poll-with-progress.ts'

const mostNamed = 5

export interface Patience {
  /** Is told what is waited for. */
  readonly tell: (what: { readonly type: 'waiting'; readonly for: string; readonly since: string }) => void
  readonly now: () => Date
  /** When it has taken too long, in the milliseconds of `now`. */
  readonly deadline: number
  readonly signal: AbortSignal
  /** Nodes that do not answer: what shall run on every node is not waited for on them. */
  readonly away?: number
  /** Milliseconds between two looks. */
  readonly every?: number
}

/** Something that is not yet as it shall be. */
export interface Lack {
  readonly what: string
  readonly reason: string
  /** Why that is so, where it takes more than a look to find out. */
  readonly explain?: () => Promise<string | undefined>
}

export interface Goal {
  readonly addon: string
  readonly code: 'ADDON_NOT_READY' | 'ADDON_NOT_GONE'
  readonly hint: string
}

/** Looks until nothing is lacking, and says meanwhile what is. */
export async function waitUntilNothingLacks(
  look: () => Promise<readonly Lack[]>,
  { addon, code, hint }: Goal,
  { tell, now, deadline, signal, every = 500 }: Patience,
): Promise<void> {
  let lacks: readonly Lack[] = []
  const reasons = async (): Promise<string | undefined> => {
    lacks = await look()
    if (lacks.length === 0) return undefined
    return lacks.map(({ what, reason }) => `${what}: ${reason}`).join('; ')
  }
  await waitWatchfully(reasons, {
    tell: async (_, since) =>
      tell({ type: 'waiting', for: `addon ${addon}: ${await inWords(lacks, 1)}`, since }),
    late: async () =>
      new HyperkubeError(code, `addon ${addon}: ${await inWords(lacks, mostNamed)}`, { hint }),
    now,
    deadline,
    every,
    signal,
  })
}

async function inWords(lacks: readonly Lack[], most: number): Promise<string> {
  const named = await Promise.all(
    lacks.slice(0, most).map(async ({ what, reason, explain }) => {
      // Nobody is helped when looking for the cause fails as well.
      const because = await explain?.().catch(() => undefined)
      return `${what}: ${reason}${because === undefined ? '' : ` (${because})`}`
    }),
  )
  const more = lacks.length - named.length
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
