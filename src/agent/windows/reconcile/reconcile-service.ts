import { isDeepStrictEqual } from 'node:util'
import type { ServiceState, ServiceWish } from '../operations/services.ts'
import type { HostProcess } from '../operations/processes.ts'
import { programIn } from '../scm/service-spec.ts'
import { placesOf, replacing } from './replace-program.ts'
import type { Scene, Wishes } from './desired-steps.ts'
import type { Role } from './worker-spec.ts'

/** How long a service may take to stop. */
export const stopPatience = 60_000

/**
 * A service that has its program, is as it was wished, runs, and was started upon all that it depends on as it is now. While
 * its program is being replaced, one that runs is left alone: it could be the last time that it starts.
 */
export function* serviceRuns(scene: Scene, role: Role, upon: readonly string[]): Wishes {
  const { wish, seen, memory } = scene
  const [wanted, programs] = [wish.services[role], seen.programs[role]]
  if (wanted === undefined || programs === undefined) return
  const { service, program } = wanted
  const { target } = programs
  for (const step of replacing(role, program, programs)) yield { step, keeps: false }
  const whole = target === program.sha256
  const there = seen.services.get(service.name)
  if (there === undefined && target === undefined) yield { wait: `the program of ${role}` }
  if (there === undefined || (whole && !isAsWished(there, service))) {
    yield { step: { do: 'put', role }, keeps: true }
    return
  }
  const orphan = orphanOf(seen, there, program.path)
  if (orphan !== undefined)
    yield { step: { do: 'end', role, process: orphan, why: 'was left by its runner' }, keeps: true }
  const settings = [service.commandLine, ...service.environment, ...service.dependsOn]
  const basis = whole ? [target, ...settings, ...upon].join(' ') : 'a former program'
  if (there.state === 'Stopped') yield { step: { do: 'start', role, basis }, keeps: true }
  if (there.state !== 'Running') yield* isChanging(scene, role, there.processId)
  if (whole && memory.started[role]?.basis !== basis) yield { step: { do: 'stop', role }, keeps: true }
  if (isHung(scene, role)) yield { step: { do: 'stop', role }, keeps: true }
  if (!seen.ready.has(role) && !unawaited.has(role)) yield { wait: `${role} to be well` }
}

/** How long after its start a program is not blamed for what it says, in milliseconds. */
export const startup = 90_000

/** It is alive, and says for long that it is not well: nobody else starts it anew. */
function isHung({ seen, memory, now }: Scene, role: Role): boolean {
  return seen.unwell.has(role) && now - (memory.started[role]?.at ?? 0) > startup
}

/** kube-proxy comes last, and the way to the API is there when it runs: whether they are well is for healing to ask. */
const unawaited: ReadonlySet<Role> = new Set(['apiserver-proxy', 'kube-proxy'])

function isAsWished(there: ServiceState, wish: ServiceWish): boolean {
  return (
    there.commandLine === wish.commandLine &&
    there.description === wish.description &&
    there.startMode === 'Auto' &&
    isDeepStrictEqual([there.dependsOn, there.environment], [wish.dependsOn, wish.environment])
  )
}

/**
 * What a runner that was killed has left: it holds the port and the files that the next one needs. Its runner is looked for
 * after it, so that one that has just been started is not taken for such.
 */
function orphanOf(
  { processes }: Scene['seen'],
  { processId, commandLine }: ServiceState,
  path: string,
): HostProcess | undefined {
  if (isSame(programIn({ commandLine }), path)) return undefined
  // It runs on from wherever its file was moved to since.
  const { staged, aside } = placesOf({ path })
  return processes.find(
    ({ program, parent }) =>
      [path, staged, aside].some((one) => isSame(program, one)) &&
      parent !== processId &&
      processes.every(({ id }) => id !== parent),
  )
}

/** As Windows compares paths. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** One that does not obey within its time is ended: the very process that was seen, and what it runs before it. */
export function* isChanging({ seen, memory, now }: Scene, role: Role, processId: number): Wishes {
  const since = memory.stopping[role] ?? now
  const process =
    seen.processes.find(({ parent }) => parent === processId) ??
    seen.processes.find(({ id }) => id === processId)
  if (process !== undefined && now - since > stopPatience)
    yield { step: { do: 'end', role, process, why: 'does not stop' }, keeps: true }
  yield { wait: `${role}, which is about to start or stop` }
}
