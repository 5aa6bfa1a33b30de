import type { Op } from '../../contract/op.ts'
import { servicesOf } from '../host/host.ts'
import type { UnitState } from '../host/systemd.ts'
import { bringUp, isWorkerService } from './start-windows-worker.ts'
import { findThing, withStarted } from './ledger.ts'
import { type PlanRun, perform } from './apply-op.ts'
import { archivesOf, loadArchives } from './load-archives.ts'
import { runtimeComponent } from './runtime-images.ts'
import { beginOp, endOp, failOp, runOp } from './run-op.ts'
import { awaitStarts, beginStart, type Ended, makeReady, type Start, type Starting } from './start-service.ts'
import type { Thing } from './resource-handler.ts'

/** What a stage begins and waits for together, once all else of it is done. */
export interface StageEnd {
  readonly starts: readonly Op[]
  /** Filled in from what services write once they run. */
  readonly derived: readonly Op[]
  /** Only the runtime brings them, and nobody in the stage waits for them. */
  readonly images: readonly Op[]
}

export const nothingLeft: StageEnd = { starts: [], derived: [], images: [] }

export function isStart({ action }: Op): boolean {
  return action === 'start' || action === 'restart'
}

/** Starts them all, and goes on when they run. Answers with the starts that would end this process. */
export async function startAll(run: PlanRun, { starts, derived, images }: StageEnd): Promise<readonly Op[]> {
  const own: Op[] = []
  const others: { op: Op; start: Start }[] = []
  const states = await servicesOf(run.host).showAll(starts.map(({ name }) => name))
  for (const [index, op] of starts.entries()) {
    const before = states[index]
    if (before === undefined) throw new Error(`the supervisor has told nothing of ${op.name}`)
    const service = serviceOf(run, op)
    const ends = endsUs(run, op, service, before)
    if (ends === 'yes') own.push(op)
    else if (ends === 'in vain') await needNoStart(run, op)
    else others.push({ op, start: { ...startOf(run, op), service, before } })
  }
  const isRuntime = ({ op }: { readonly op: Op }): boolean => op.component === runtimeComponent
  const archives = others.some(isRuntime) ? await archivesOf(run.host, run.plan) : []
  // Whoever looks for an image that was brought shall find it, and not ask for it where nobody answers.
  const first = archives.length === 0 ? [] : others.filter(isRuntime)
  if (first.length > 0) await startSome(run, first, [])
  await loadArchives(run, archives)
  const rest = others.filter((one) => !first.includes(one))
  const late = derived.filter((op) => isMadeOnTheWay(run, op))
  if (rest.length > 0 || late.length > 0) await startSome(run, rest, late)
  const after = derived.filter((op) => !late.includes(op))
  for (const op of [...after, ...images]) await runOp(run, op, async () => perform(run, op))
  return own
}

type Others = readonly { readonly op: Op; readonly start: Start }[]

/** On Windows what belongs to a worker comes up by the rounds that keep it; all else as everywhere. */
async function startSome(run: PlanRun, some: Others, derived: readonly Op[]): Promise<void> {
  const { host } = run
  if (host.os === 'linux') {
    await startTogether(run, some)
    return
  }
  const [workers, rest] = [
    some.filter(({ op }) => isWorkerService(op)),
    some.filter(({ op }) => !isWorkerService(op)),
  ]
  if (rest.length > 0) await startTogether(run, rest)
  if (workers.length > 0 || derived.length > 0) await bringUp({ ...run, host }, workers, derived)
}

/** Whether a file is made from what the agent itself writes while it brings services up. */
function isMadeOnTheWay({ host, plan }: PlanRun, { name }: Op): boolean {
  if (host.os === 'linux') return false
  const all = plan.components.flatMap(({ derivedFiles }) => derivedFiles)
  return all.some(({ path, from }) => path === name && from === host.layout.sourceVip)
}

/**
 * Whether a start would end the very process that asks for it; and whether that is needed at all, as a new release of
 * ours is what already runs.
 */
function endsUs(
  { host }: PlanRun,
  op: Op,
  { unseen }: Thing<'service'>,
  { pid }: UnitState,
): 'no' | 'yes' | 'in vain' {
  const reasons = new Set([...op.because, ...unseen])
  if (pid !== host.release.pid || reasons.size === 0) return 'no'
  reasons.delete(`hyperkube-${host.release.version}`)
  return reasons.size === 0 ? 'in vain' : 'yes'
}

/** It has seen all there is without another start. */
async function needNoStart(run: PlanRun, op: Op): Promise<void> {
  await runOp(run, op, async () => {
    await run.book.keep(withStarted(run.book.ledger, op.name))
    return 'unchanged'
  })
}

async function startTogether(run: PlanRun, others: Others): Promise<void> {
  const { host, emit, signal } = run
  const begun: { op: Op; starting: Starting }[] = []
  const [first] = others
  try {
    for (const { op, start } of others) {
      await beginOp(run, op)
      try {
        if (op === first?.op)
          await makeReady(
            host,
            others.map((other) => other.start),
          )
        begun.push({ op, starting: await beginStart(host, start) })
      } catch (error) {
        throw await failOp(run, op, error)
      }
    }
    const watched = begun.map(({ op, starting }) => ({ watch: starting.watch, component: op.component }))
    const ended = await awaitStarts(host, watched, emit, signal)
    await conclude(run, begun.splice(0), ended)
  } catch (error) {
    // A run that ends early does not wait for what it has begun.
    for (const { op } of begun) await endOp(run, op, 'interrupted').catch(() => undefined)
    throw error
  }
}

async function conclude(
  run: PlanRun,
  begun: readonly { readonly op: Op; readonly starting: Starting }[],
  { running, failed }: Ended,
): Promise<void> {
  const { book } = run
  let failure: Error | undefined
  for (const { op, starting } of begun) {
    if (running.has(op.name)) {
      await book.keep(withStarted(book.ledger, op.name))
      await endOp(run, op, starting.changed ? 'done' : 'unchanged')
    } else if (failed?.unit === op.name) {
      failure = await failOp(run, op, failed.error)
    } else {
      await endOp(run, op, 'interrupted')
    }
  }
  if (failure !== undefined) throw failure
}

/** Written down as done before it is: the next agent finds a service that has seen all, which is itself. */
export async function restartUs(run: PlanRun, op: Op): Promise<void> {
  await runOp(run, op, async () => {
    await run.book.keep(withStarted(run.book.ledger, op.name))
    await servicesOf(run.host).restart(op.name)
    return 'done'
  })
}

function startOf({ plan }: PlanRun, op: Op): Pick<Start, 'action' | 'component'> {
  const component = plan.components.find(({ name }) => name === op.component)
  if (component === undefined) throw new Error(`the plan has no component ${op.component}`)
  return { action: op.action === 'restart' ? 'restart' : 'start', component }
}

function serviceOf({ book }: Pick<PlanRun, 'book'>, op: Op): Thing<'service'> {
  const thing = findThing(book.ledger, op)
  if (thing?.target === 'service') return thing
  throw new Error(`nothing is written down of ${op.name}`)
}
