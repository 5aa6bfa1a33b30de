import type { HostRequest, HostResult } from '../../contract/host-resource.ts'
import { describe, HyperkubeError } from '../../kit/errors.ts'
import { secretMask } from '../../kit/mask-secrets.ts'
import { printable } from '../../kit/printable.ts'
import type { Clock } from '../host/clock.ts'
import { type Decision, decide } from './decide-next-request.ts'
import { type Deeds, perform } from './request-handlers.ts'
import type { RequestBook } from './request-store.ts'

export interface AnswerScene {
  readonly book: RequestBook
  readonly deeds: Deeds
  readonly clock: Pick<Clock, 'now'>
  /** The highest generation of the operators' claim that this host has seen. */
  readonly generation: () => number
  /** Whether somebody else decides now what is done on this host. */
  readonly taken: () => Promise<boolean>
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** Does the next thing that is asked. Answers whether there was one: then there may be more. */
export async function answerNext(scene: AnswerScene, requests: readonly unknown[]): Promise<boolean> {
  const { book, signal } = scene
  const taken = await scene.taken()
  const { highest, next } = decision(scene, requests, taken)
  await book.see(highest)
  if (next === undefined || signal.aborted) return false
  await book.begin(next, new Set(requests.flatMap(idOf)))
  await book.end(await done(scene, next))
  return true
}

/** What has become of all that is asked now, and of the last ones that nobody asks for any more. */
export function resultsFor(scene: AnswerScene, requests: readonly unknown[]): HostResult[] {
  const asked = new Set(requests.flatMap(idOf))
  const ended = scene.book.memory.begun.flatMap(({ result }) => result ?? [])
  const others = new Set(ended.filter(({ id }) => !asked.has(id)).slice(-recent))
  const told = ended.filter((result) => asked.has(result.id) || others.has(result))
  return [...told, ...decision(scene, requests, true).refused]
}

/** So many are told that nobody asks for any more. */
const recent = 5

function decision(
  { book, clock, generation }: AnswerScene,
  requests: readonly unknown[],
  taken: boolean,
): Decision {
  const now = clock.now().getTime()
  return decide({ requests, memory: book.memory, now, generation: generation(), taken })
}

async function done(
  { deeds, clock, say, signal }: AnswerScene,
  { id, ask }: HostRequest,
): Promise<HostResult> {
  const at = (): string => clock.now().toISOString()
  try {
    const details = await perform(deeds, ask, signal)
    say(`${id}: done`)
    return { id, outcome: 'done', at: at(), details: details.slice(0, most).map(clipped) }
  } catch (error) {
    const outcome = signal.aborted ? 'interrupted' : 'failed'
    const hint = error instanceof HyperkubeError && error.hint !== undefined ? [error.hint] : []
    const details = [describe(error), ...hint].map(clipped)
    say(`${id}: ${outcome}: ${details.join(' -> ')}`)
    return { id, outcome, at: at(), details }
  }
}

/** Lines of details, and characters of a line: an object of the API is no place for a log. */
const most = 20
const longest = 500

function clipped(text: string): string {
  return printable(secretMask().text(text)).slice(0, longest)
}

function idOf(request: unknown): string[] {
  const id: unknown = Reflect.get(Object(request), 'id')
  return typeof id === 'string' ? [id] : []
}
