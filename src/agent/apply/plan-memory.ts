import { join } from 'node:path'
import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { digestOf } from '../../diff/digest.ts'
import type { LinuxHost } from '../host/host.ts'
import { accessOf } from './access.ts'

/** The last plan that the host was taken through as a whole, and the one before it. They hold no secrets. */
const files = { last: 'plan.json', before: 'plan-before.json' } as const

/** From now on the host is as this plan says. */
export async function rememberPlan(host: LinuxHost, plan: NodePlan): Promise<void> {
  const last = await read(host, files.last)
  if (last !== undefined && digestOf(last) === digestOf(plan)) return
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  if (last !== undefined) await host.files.write(pathOf(host, files.before), bytesOf(last), access)
  await host.files.write(pathOf(host, files.last), bytesOf(plan), access)
}

/** Undefined when the host was never taken through one, or not since it was reset. */
export async function lastPlan(host: LinuxHost): Promise<NodePlan | undefined> {
  return read(host, files.last)
}

/** What to go back to from a plan: the last one that was another. Undefined when there never was one. */
export async function formerPlan(host: LinuxHost, than: string): Promise<NodePlan | undefined> {
  const last = await read(host, files.last)
  if (last !== undefined && digestOf(last) !== than) return last
  return read(host, files.before)
}

/** One that cannot be read is as good as none: nobody is sent back to it. */
async function read(host: LinuxHost, name: string): Promise<NodePlan | undefined> {
  const text = await host.files.read(pathOf(host, name))
  if (text === undefined) return undefined
  try {
    return readVersioned(nodePlanFormat, JSON.parse(text.toString('utf8')))
  } catch {
    return undefined
  }
}

function pathOf({ layout }: Pick<LinuxHost, 'layout'>, name: string): string {
  return join(layout.state, name)
}

function bytesOf(plan: NodePlan): Buffer {
  return Buffer.from(`${JSON.stringify(plan)}\n`)
}
