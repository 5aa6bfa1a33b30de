import type { DerivedFile } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { perform, type PlanRun } from '../../apply/apply-op.ts'
import { renderDerived } from '../../apply/render-derived.ts'
import { runOp } from '../../apply/run-op.ts'
import type { Host } from '../../host/host.ts'

/** In milliseconds: whoever writes the source does so early, or waits for somebody else. */
const patience = 20_000
const every = 500

/** When the sources of a component's derived files were written last, by their path. */
export type Sources = ReadonlyMap<string, string | undefined>

export async function sourcesOf({ files }: Host, plan: NodePlan, component: string): Promise<Sources> {
  const paths = derivedOf(plan, component).map(({ from }) => from)
  return new Map(
    await Promise.all(paths.map(async (path) => [path, (await files.stat(path))?.changed] as const)),
  )
}

/**
 * Writes anew what is derived from what a component has written. Where the component was just started, that is what it
 * writes from now on: what lay there before may be what was wrong.
 */
export async function rebuild(
  run: PlanRun,
  component: string,
  before: Sources | undefined,
): Promise<readonly string[]> {
  const details: string[] = []
  for (const derived of derivedOf(run.plan, component)) {
    const { path, from } = derived
    const isReady = await waitForSource(run, derived, before)
    if (!isReady) {
      details.push(`${path} stays as it is: ${component} has not written ${from} yet`)
      continue
    }
    const op = opFor(run.plan, component, path)
    const outcome = await runOp(run, op, async () => perform(run, op))
    details.push(outcome === 'done' ? `${path}, from ${from}` : `${path} is what ${from} says`)
  }
  return details
}

/** Whether its source says all that is needed. */
export async function canDerive(host: Host, plan: NodePlan, path: string): Promise<boolean> {
  const derived = plan.components.flatMap(({ derivedFiles }) => derivedFiles).find((one) => one.path === path)
  return derived !== undefined && (await isComplete(host, derived))
}

async function waitForSource(
  { host, signal }: PlanRun,
  derived: DerivedFile,
  before: Sources | undefined,
): Promise<boolean> {
  const { files, clock } = host
  const deadline = clock.now().getTime() + patience
  for (;;) {
    const changed = (await files.stat(derived.from))?.changed
    const isNew = before === undefined || changed !== before.get(derived.from)
    if (isNew && (await isComplete(host, derived))) return true
    if (before === undefined || clock.now().getTime() >= deadline) return false
    await clock.pause(every, signal)
  }
}

async function isComplete({ files }: Host, { from, template }: DerivedFile): Promise<boolean> {
  const text = await files.read(from)
  return text !== undefined && renderDerived(template, text.toString('utf8')) !== undefined
}

function derivedOf({ components }: NodePlan, component: string): readonly DerivedFile[] {
  return components.find(({ name }) => name === component)?.derivedFiles ?? []
}

function opFor({ components }: NodePlan, component: string, name: string): Op {
  const stage = components.find((one) => one.name === component)?.stage ?? 'network'
  return { component, stage, action: 'change', target: 'derived-file', name, because: ['it is made anew'] }
}
