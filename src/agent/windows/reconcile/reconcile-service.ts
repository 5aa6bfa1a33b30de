import { isDeepStrictEqual } from 'node:util'
import type { ServiceState, WindowsServiceSpec } from '../operations/services.ts'
import type { WindowsProcess } from '../operations/processes.ts'
import { parseProgramPath } from '../scm/service-spec.ts'
import { buildProgramPaths, listReplaceSteps } from './replace-program.ts'
import type { ReconcileContext, DesiredSteps } from './desired-steps.ts'
import type { WorkerRole } from './worker-spec.ts'

/** How long a service may take to stop. */
export const stopTimeoutMs = 60_000

/**
 * Brings a service to its spec: its program is installed, it runs, and it was started on the current versions
 * of its dependencies. While its program is being replaced, a running service is left alone: it might not
 * start again.
 */
export function* reconcileService(
  context: ReconcileContext,
  role: WorkerRole,
  dependencies: readonly string[],
): DesiredSteps {
  const { spec, observed, state } = context
  const [desired, programs] = [spec.services[role], observed.programs[role]]
  if (desired === undefined || programs === undefined) return
  const { service, program } = desired
  const { target } = programs
  for (const step of listReplaceSteps(role, program, programs)) yield { step, blocking: false }
  const isCurrent = target === program.sha256
  const existing = observed.services.get(service.name)
  if (existing === undefined && target === undefined) yield { wait: `the program of ${role}` }
  if (existing === undefined || (isCurrent && !matchesSpec(existing, service))) {
    yield { step: { do: 'put', role }, blocking: true }
    return
  }
  const orphan = findOrphan(observed, existing, program.path)
  if (orphan !== undefined)
    yield { step: { do: 'end', role, process: orphan, why: 'was left by its runner' }, blocking: true }
  const settings = [service.commandLine, ...service.environment, ...service.dependsOn]
  const basis = isCurrent ? [target, ...settings, ...dependencies].join(' ') : 'a previous program'
  if (existing.state === 'Stopped') yield { step: { do: 'start', role, basis }, blocking: true }
  if (existing.state !== 'Running') yield* waitForTransition(context, role, existing.processId)
  if (isCurrent && state.started[role]?.basis !== basis) yield { step: { do: 'stop', role }, blocking: true }
  if (isHung(context, role)) yield { step: { do: 'stop', role }, blocking: true }
  if (!observed.ready.has(role) && !notAwaited.has(role)) yield { wait: `${role} to be healthy` }
}

/** How long after its start a program may report that it is unhealthy, in milliseconds. */
export const startupGraceMs = 90_000

/** The process is alive and has been unhealthy for long. Nothing else would restart it. */
function isHung({ observed, state, now }: ReconcileContext, role: WorkerRole): boolean {
  return observed.unhealthy.has(role) && now - (state.started[role]?.at ?? 0) > startupGraceMs
}

/**
 * Roles that no other step waits for: kube-proxy comes last, and apiserver-proxy works as soon as it runs.
 * Healing checks their health.
 */
const notAwaited: ReadonlySet<WorkerRole> = new Set(['apiserver-proxy', 'kube-proxy'])

function matchesSpec(existing: ServiceState, spec: WindowsServiceSpec): boolean {
  return (
    existing.commandLine === spec.commandLine &&
    existing.description === spec.description &&
    existing.startMode === 'Auto' &&
    isDeepStrictEqual([existing.dependsOn, existing.environment], [spec.dependsOn, spec.environment])
  )
}

/**
 * A program whose runner was killed: it holds the port and the files that the next one needs. Runners are
 * listed after programs, so a program that has just been started does not count as an orphan.
 */
function findOrphan(
  { processes }: ReconcileContext['observed'],
  { processId, commandLine }: ServiceState,
  path: string,
): WindowsProcess | undefined {
  if (isSamePath(parseProgramPath({ commandLine }), path)) return undefined
  // The process keeps running from wherever its file was moved.
  const { staged, previous } = buildProgramPaths({ path })
  return processes.find(
    ({ program, parent }) =>
      [path, staged, previous].some((one) => isSamePath(program, one)) &&
      parent !== processId &&
      processes.every(({ id }) => id !== parent),
  )
}

/** Windows paths are case-insensitive. */
function isSamePath(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/**
 * Waits for a service to start or stop. After the timeout it ends the observed process, the child of the
 * service first.
 */
export function* waitForTransition(
  { observed, state, now }: ReconcileContext,
  role: WorkerRole,
  processId: number,
): DesiredSteps {
  const since = state.stopping[role] ?? now
  const process =
    observed.processes.find(({ parent }) => parent === processId) ??
    observed.processes.find(({ id }) => id === processId)
  if (process !== undefined && now - since > stopTimeoutMs)
    yield { step: { do: 'end', role, process, why: 'does not stop' }, blocking: true }
  yield { wait: `${role}, which is about to start or stop` }
}
