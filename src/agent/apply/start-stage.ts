import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'
import type { UnitState } from '../host/service-manager.ts'
import { applyOp, type PlanRun } from './apply-op.ts'
import { findDeliveredArchive } from '../resources/download.ts'
import { findResource, withStarted } from '../records/ledger.ts'
import type { ManagedResource } from '../resources/resource-handler.ts'
import { findImageTools, runtimeComponent } from '../resources/image.ts'
import { runOp } from '../records/run-op.ts'
import type { ServiceStart, ServiceStarts } from './start-service.ts'
import { awaitTogether, type RequestedStart, requestTogether } from './start-together.ts'
import { isWorkerService, startWindowsWorker } from './start-windows-worker.ts'

/** Ops that are executed after all other ops of their stage. */
export interface StageEndOps {
  readonly starts: readonly Op[]
  /** Ops for files that are rendered from output of running services. */
  readonly derived: readonly Op[]
  /** Ops for images, which need a running container runtime. */
  readonly images: readonly Op[]
}

export const noStageEndOps: StageEndOps = { starts: [], derived: [], images: [] }

/**
 * Work that is done after all stages of a run. Collecting it here lets a stage begin before the services of
 * the previous stage run.
 */
export interface RunEndWork {
  readonly starts: RequestedStart[]
  readonly derived: Op[]
  readonly images: Op[]
}

export function isStart({ action }: Op): boolean {
  return action === 'start' || action === 'restart'
}

/**
 * Starts the services of a stage and waits until they run. `later` are the ops of the run that follow this
 * stage. With `runEnd`, the function only requests the starts. It then adds these starts, and the ops that
 * need running services, to `runEnd`. Returns the ops that would restart this agent.
 */
export async function startStage(
  run: PlanRun,
  { starts, derived, images }: StageEndOps,
  later: readonly Op[],
  runEnd?: RunEndWork,
): Promise<readonly Op[]> {
  const selfRestarts: Op[] = []
  const serviceStarts: { op: Op; start: ServiceStart }[] = []
  const states = await run.host.services.showAll(starts.map(({ name }) => name))
  for (const [index, op] of starts.entries()) {
    const before = states[index]
    if (before === undefined) throw new Error(`the supervisor reported nothing about ${op.name}`)
    const service = findService(run, op)
    const restart = decideSelfRestart(run, op, service, before)
    if (restart === 'yes') selfRestarts.push(op)
    else if (restart === 'not-needed') await skipStart(run, op)
    else serviceStarts.push({ op, start: { ...buildStart(run, op), service, before } })
  }
  const isRuntime = ({ op }: { readonly op: Op }): boolean => op.component === runtimeComponent
  const archives = serviceStarts.some(isRuntime) ? await findImageArchives(run.host, run.plan) : []
  // If images were uploaded, the container runtime starts first and loads them. Otherwise other services
  // could try to pull them from an unreachable registry.
  const first = archives.length === 0 ? [] : serviceStarts.filter(isRuntime)
  if (first.length > 0) await startGroup(run, first, [], later)
  await loadImageArchives(run, archives)
  const rest = serviceStarts.filter((one) => !first.includes(one))
  if (runEnd !== undefined) {
    if (rest.length > 0) runEnd.starts.push(...(await requestTogether(run, rest, later)))
    runEnd.derived.push(...derived)
    runEnd.images.push(...images)
    return selfRestarts
  }
  const derivedDuringStart = derived.filter((op) => isDerivedDuringStart(run, op))
  if (rest.length > 0 || derivedDuringStart.length > 0) await startGroup(run, rest, derivedDuringStart, later)
  const derivedAfterStart = derived.filter((op) => !derivedDuringStart.includes(op))
  for (const op of [...derivedAfterStart, ...images]) await runOp(run, op, async () => applyOp(run, op))
  return selfRestarts
}

/**
 * Waits for the starts that the stages of a run requested. Then executes the ops that need running services.
 * Images come last, because a node can be ready without them.
 */
export async function finishRun(run: PlanRun, { starts, derived, images }: RunEndWork): Promise<void> {
  if (starts.length > 0) await awaitTogether(run, starts)
  for (const op of [...derived, ...images]) await runOp(run, op, async () => applyOp(run, op))
}

/**
 * Starts services together. On Windows, worker services are started by the reconciliation that also keeps
 * them running.
 */
async function startGroup(
  run: PlanRun,
  starts: ServiceStarts,
  derived: readonly Op[],
  later: readonly Op[],
): Promise<void> {
  const { host } = run
  if (host.os === 'linux') {
    await awaitTogether(run, await requestTogether(run, starts, later))
    return
  }
  const [workers, rest] = [
    starts.filter(({ op }) => isWorkerService(op)),
    starts.filter(({ op }) => !isWorkerService(op)),
  ]
  if (rest.length > 0) await awaitTogether(run, await requestTogether(run, rest, later))
  if (workers.length > 0 || derived.length > 0) await startWindowsWorker({ ...run, host }, workers, derived)
}

/**
 * True if a derived file is rendered from the source VIP. The agent reserves this address while it starts the
 * services.
 */
function isDerivedDuringStart({ host, plan }: PlanRun, { name }: Op): boolean {
  if (host.os === 'linux') return false
  const all = plan.components.flatMap(({ derivedFiles }) => derivedFiles)
  return all.some(({ path, from }) => path === name && from === host.layout.sourceVip)
}

/**
 * Decides whether an op would restart this agent. `not-needed` means that the only change is a new release,
 * and the running agent already is that release.
 */
function decideSelfRestart(
  { host }: PlanRun,
  op: Op,
  { pendingChanges }: ManagedResource<'service'>,
  { pid }: UnitState,
): 'no' | 'yes' | 'not-needed' {
  const reasons = new Set([...op.because, ...pendingChanges])
  if (pid !== host.release.pid || reasons.size === 0) return 'no'
  reasons.delete(`hyperkube-${host.release.version}`)
  return reasons.size === 0 ? 'not-needed' : 'yes'
}

/** Marks a service as started without starting it, because it already uses everything that changed. */
async function skipStart(run: PlanRun, op: Op): Promise<void> {
  await runOp(run, op, async () => {
    await run.ledgerStore.save(withStarted(run.ledgerStore.ledger, op.name))
    return 'unchanged'
  })
}

/**
 * Restarts the agent's own service. The ledger marks the service as started first, so that the new agent
 * finds no pending changes.
 */
export async function restartThisAgent(run: PlanRun, op: Op): Promise<void> {
  await runOp(run, op, async () => {
    await run.ledgerStore.save(withStarted(run.ledgerStore.ledger, op.name))
    await run.host.services.restart(op.name)
    return 'done'
  })
}

function buildStart({ plan }: PlanRun, op: Op): Pick<ServiceStart, 'action' | 'component'> {
  const component = plan.components.find(({ name }) => name === op.component)
  if (component === undefined) throw new Error(`the plan has no component ${op.component}`)
  return { action: op.action === 'restart' ? 'restart' : 'start', component }
}

function findService({ ledgerStore }: Pick<PlanRun, 'ledgerStore'>, op: Op): ManagedResource<'service'> {
  const resource = findResource(ledgerStore.ledger, op)
  if (resource?.target === 'service') return resource
  throw new Error(`the ledger has no service ${op.name}`)
}

/** Finds the uploaded archives of all images in a plan, including images of later stages. */
async function findImageArchives(host: Host, { components }: NodePlan): Promise<readonly string[]> {
  const images = [...new Set(components.flatMap((component) => component.images))]
  const archives = await Promise.all(images.map(async (image) => findDeliveredArchive(host, image)))
  return archives.filter((archive) => archive !== undefined)
}

/**
 * Loads uploaded images. Later the op of each image verifies and records the image, or reports that it is
 * missing.
 */
async function loadImageArchives(
  { host, ledgerStore, signal }: PlanRun,
  archives: readonly string[],
): Promise<void> {
  const tools = findImageTools(host, ledgerStore.ledger)
  if (tools === undefined) return
  for (const archive of archives) {
    await host.images.load(tools.ctr, archive, signal).catch(() => signal.throwIfAborted())
  }
}
