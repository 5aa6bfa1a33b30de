import { isDeepStrictEqual } from 'node:util'
import type { ServiceState, WindowsServiceSpec } from '../host/windows-operations/services.ts'
import type { WindowsProcess } from '../host/windows-operations/system.ts'
import { parseProgramPath } from '../host/windows/service-control-manager.ts'
import type { DesiredSteps, ReconcileContext } from './desired-steps.ts'
import { buildProgramPaths, listReplaceSteps } from './replace-program.ts'
import type { WorkerRole } from './worker.ts'

/** Milliseconds that a service may take to stop. */
export const stopTimeoutMs = 60_000

/**
 * Reconciles a service: its program is installed, it runs, and it was started with the current versions of
 * its dependencies. A running service is not restarted while its program is being replaced, because the
 * service might not start again.
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
  if (existing === undefined && target === undefined) yield { wait: `the binary of ${role}` }
  if (existing === undefined || (isCurrent && !matchesSpec(existing, service))) {
    yield { step: { do: 'put', role }, blocking: true }
    return
  }
  const orphan = findOrphan(observed, existing, program.path)
  if (orphan !== undefined)
    yield { step: { do: 'end', role, process: orphan, why: 'outlived its service' }, blocking: true }
  const settings = [service.commandLine, ...service.environment, ...service.dependsOn]
  const basis = isCurrent ? [target, ...settings, ...dependencies].join(' ') : 'a previous program'
  if (existing.state === 'Stopped') yield { step: { do: 'start', role, basis }, blocking: true }
  if (existing.state !== 'Running') yield* waitForTransition(context, role, existing.processId)
  if (isCurrent && state.started[role]?.basis !== basis) yield { step: { do: 'stop', role }, blocking: true }
  if (isHung(context, role)) yield { step: { do: 'stop', role }, blocking: true }
  if (!observed.ready.has(role) && !notAwaited.has(role)) yield { wait: `${role} to be healthy` }
}

/** Milliseconds that a program may be unhealthy after its start. */
export const startupGraceMs = 90_000

/**
 * True if the process runs but is still unhealthy after `startupGraceMs`. The service manager restarts only
 * processes that end, so hyperkube must restart this one.
 */
function isHung({ observed, state, now }: ReconcileContext, role: WorkerRole): boolean {
  return observed.unhealthy.has(role) && now - (state.started[role]?.at ?? 0) > startupGraceMs
}

/**
 * Roles whose readiness other steps do not wait for. No step comes after kube-proxy, and apiserver-proxy
 * works as soon as it runs. Healing checks their health.
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
 * Finds a program whose wrapper was killed. Such a program still holds the port and the files that the next
 * process needs.
 */
function findOrphan(
  { processes }: ReconcileContext['observed'],
  { processId, commandLine }: ServiceState,
  path: string,
): WindowsProcess | undefined {
  if (isSamePath(parseProgramPath({ commandLine }), path)) return undefined
  // A process keeps running when its file is moved, so its program may be at any of these three paths.
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
 * Waits for a service that is starting or stopping. If the service does not stop within the timeout, its
 * processes are ended, child processes first.
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
  yield { wait: `${role} to start or stop` }
}
