import type { DerivedFile } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { applyOp, type PlanRun } from '../apply/apply-op.ts'
import { renderDerived } from '../resources/derived-file.ts'
import { runOp } from '../records/run-op.ts'
import type { Host } from '../host/host.ts'

/**
 * Milliseconds to wait until a restarted service has written the source files of its derived files. If this
 * takes longer, the service is probably waiting for a dependency.
 */
const sourceTimeoutMs = 20_000
const pollIntervalMs = 500

/**
 * Time of the last change of each source file, keyed by path. The derived files of one component are rendered
 * from these source files.
 */
export type SourceTimes = ReadonlyMap<string, string | undefined>

export async function readSourceTimes(
  { files }: Host,
  plan: NodePlan,
  component: string,
): Promise<SourceTimes> {
  const paths = listDerivedFiles(plan, component).map(({ from }) => from)
  return new Map(
    await Promise.all(paths.map(async (path) => [path, (await files.stat(path))?.changed] as const)),
  )
}

/**
 * Regenerates the derived files of a component. After a restart, waits until the service has written the
 * source files again, because the old ones may be wrong.
 */
export async function regenerateDerivedFiles(
  run: PlanRun,
  component: string,
  before: SourceTimes | undefined,
): Promise<readonly string[]> {
  const details: string[] = []
  for (const derived of listDerivedFiles(run.plan, component)) {
    const { path, from } = derived
    const isReady = await waitForSource(run, derived, before)
    if (!isReady) {
      details.push(`${path} was not changed: ${component} has not written ${from} yet`)
      continue
    }
    const op = buildOp(run.plan, component, path)
    const outcome = await runOp(run, op, async () => applyOp(run, op))
    details.push(outcome === 'done' ? `${path}, from ${from}` : `${path} already matches ${from}`)
  }
  return details
}

/** True if the source file contains every value that the derived file needs. */
export async function canDerive(host: Host, plan: NodePlan, path: string): Promise<boolean> {
  const derived = plan.components.flatMap(({ derivedFiles }) => derivedFiles).find((one) => one.path === path)
  return derived !== undefined && (await isComplete(host, derived))
}

async function waitForSource(
  { host, signal }: PlanRun,
  derived: DerivedFile,
  before: SourceTimes | undefined,
): Promise<boolean> {
  const { files, clock } = host
  const deadline = clock.now().getTime() + sourceTimeoutMs
  for (;;) {
    const changed = (await files.stat(derived.from))?.changed
    const isNew = before === undefined || changed !== before.get(derived.from)
    if (isNew && (await isComplete(host, derived))) return true
    if (before === undefined || clock.now().getTime() >= deadline) return false
    await clock.pause(pollIntervalMs, signal)
  }
}

async function isComplete({ files }: Host, { from, template }: DerivedFile): Promise<boolean> {
  const text = await files.read(from)
  return text !== undefined && renderDerived(template, text.toString('utf8')) !== undefined
}

function listDerivedFiles({ components }: NodePlan, component: string): readonly DerivedFile[] {
  return components.find(({ name }) => name === component)?.derivedFiles ?? []
}

function buildOp({ components }: NodePlan, component: string, name: string): Op {
  const stage = components.find((one) => one.name === component)?.stage ?? 'network'
  return { component, stage, action: 'change', target: 'derived-file', name, because: ['regenerated'] }
}
