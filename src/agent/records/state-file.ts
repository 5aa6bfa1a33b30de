import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { type Format, readVersioned } from '../../contract/versioned.ts'
import { computeDigest } from '../../diff/resource.ts'
import { join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from '../host/file-access.ts'

/** Reads a state file of the agent. An unreadable file counts as missing. */
export async function readState<T>(host: Host, name: string, format: Format<T>): Promise<T | undefined> {
  const text = await host.files.read(statePath(host, name))
  if (text === undefined) return undefined
  try {
    return readVersioned(format, JSON.parse(text.toString('utf8')))
  } catch {
    return undefined
  }
}

export async function writeState(host: Host, name: string, document: object): Promise<void> {
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  await host.files.write(statePath(host, name), Buffer.from(`${JSON.stringify(document)}\n`), access)
}

export function statePath({ layout }: Pick<Host, 'layout'>, name: string): string {
  return join(layout.state, name)
}

/** Files with the last plan that was applied completely and the plan before it. Plans contain no secrets. */
const planFiles = { last: 'plan.json', before: 'plan-before.json' } as const

/**
 * Name of the file with the last applied plan. The file changes whenever a different plan is applied
 * completely.
 */
export const appliedPlanFile = planFiles.last

/** Records that the host matches this plan. The plan that was recorded before is kept for a rollback. */
export async function saveAppliedPlan(host: Host, plan: NodePlan): Promise<void> {
  const last = await readPlan(host, planFiles.last)
  if (last !== undefined && computeDigest(last) === computeDigest(plan)) return
  if (last !== undefined) await writeState(host, planFiles.before, last)
  await writeState(host, planFiles.last, plan)
}

/**
 * Returns the last plan that was applied completely. Returns undefined before the first apply and after a
 * reset.
 */
export async function readAppliedPlan(host: Host): Promise<NodePlan | undefined> {
  return readPlan(host, planFiles.last)
}

/**
 * Returns the plan to roll back to: the newest recorded plan whose digest is not `differentFrom`. Undefined
 * if no such plan is recorded.
 */
export async function readPreviousPlan(host: Host, differentFrom: string): Promise<NodePlan | undefined> {
  const last = await readPlan(host, planFiles.last)
  if (last !== undefined && computeDigest(last) !== differentFrom) return last
  return readPlan(host, planFiles.before)
}

/** Reads a recorded plan. An unreadable file counts as missing, so a rollback never uses it. */
async function readPlan(host: Host, name: string): Promise<NodePlan | undefined> {
  return readState(host, name, nodePlanFormat)
}
