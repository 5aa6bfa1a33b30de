import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { digestOf } from '../../diff/digest.ts'
import type { Host } from '../host/host.ts'
import { readState, writeState } from './state-file.ts'

/** The last plan that the host was taken through as a whole, and the one before it. They hold no secrets. */
const files = { last: 'plan.json', before: 'plan-before.json' } as const

/** Another one whenever the host was taken through another plan. */
export const planFile = files.last

/** From now on the host is as this plan says. */
export async function rememberPlan(host: Host, plan: NodePlan): Promise<void> {
  const last = await read(host, files.last)
  if (last !== undefined && digestOf(last) === digestOf(plan)) return
  if (last !== undefined) await writeState(host, files.before, last)
  await writeState(host, files.last, plan)
}

/** Undefined when the host was never taken through one, or not since it was reset. */
export async function lastPlan(host: Host): Promise<NodePlan | undefined> {
  return read(host, files.last)
}

/** What to go back to from a plan: the last one that was another. Undefined when there never was one. */
export async function formerPlan(host: Host, than: string): Promise<NodePlan | undefined> {
  const last = await read(host, files.last)
  if (last !== undefined && digestOf(last) !== than) return last
  return read(host, files.before)
}

/** One that cannot be read is as good as none: nobody is sent back to it. */
async function read(host: Host, name: string): Promise<NodePlan | undefined> {
  return readState(host, name, nodePlanFormat)
}
