import type { Remote } from '../../ssh/remote.ts'
import { gatherHost, type HostGathering } from './collect-host.ts'
import { inParallel } from './merge-concurrently.ts'
import { isFile, type Piece } from './support-entry.ts'

export interface SupportHost {
  readonly host: string
  readonly services: readonly string[]
}

/** How it went with a host: how many files there are of it, or why none. */
export type HostOutcome = { readonly files: number } | { readonly reason: string }

export interface Gathering extends Omit<HostGathering, 'services' | 'reasonOf'> {
  readonly hosts: readonly SupportHost[]
  readonly remoteOf: (host: string) => Promise<Remote>
  /** What is not of a host. */
  readonly cluster: AsyncIterable<Piece>
  readonly reasonOf: (host: string, error: unknown) => string
  readonly met: (host: string, outcome: HostOutcome) => void
}

/** Hosts that are asked at once. */
const atOnce = 8

/** Asks whoever answers for all there is. Who does not is told of, and stops nobody. */
export async function* gather(gathering: Gathering): AsyncGenerator<Piece> {
  const { hosts, cluster } = gathering
  yield* inParallel([cluster, ...hosts.map((host) => piecesOf(host, gathering))], atOnce)
}

async function* piecesOf(
  { host, services }: SupportHost,
  { remoteOf, reasonOf, met, ...rest }: Gathering,
): AsyncGenerator<Piece> {
  const reason = (error: unknown): string => reasonOf(host, error)
  let files = 0
  try {
    for await (const piece of gatherHost(await remoteOf(host), { ...rest, services, reasonOf: reason })) {
      if (isFile(piece)) files++
      yield piece
    }
    met(host, { files })
  } catch (error) {
    rest.signal.throwIfAborted()
    met(host, { reason: reason(error) })
    yield { what: host, reason: reason(error) }
  }
}
