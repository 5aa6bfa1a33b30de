import { posix } from 'node:path'
import type { HostProcess } from '../../host/processes.ts'
import type { Step } from './linux-leftover-step.ts'

/** Between two looks, in milliseconds. */
const pause = 100

/** Containers outlive their runtime: each has a small program of its own above it. */
export const endContainers: Step = async ({ processes, clock }, { runtimes }, signal) => {
  const ended = new Set<number>()
  for (;;) {
    const left = containersOf(await processes.list(), runtimes)
    if (left.length === 0) break
    signal.throwIfAborted()
    for (const { pid } of left) await processes.kill(pid)
    for (const { pid } of left) ended.add(pid)
    await clock.pause(pause, signal)
  }
  return ended.size === 0 ? [] : [`${ended.size} processes of containers`]
}

/** The shims of some runtimes, with everything that they have started. */
export function containersOf(all: readonly HostProcess[], runtimes: readonly string[]): HostProcess[] {
  const children = Map.groupBy(all, ({ parent }) => parent)
  const below = (one: HostProcess): HostProcess[] => [one, ...(children.get(one.pid) ?? []).flatMap(below)]
  return all.filter((one) => isShim(one, runtimes)).flatMap(below)
}

function isShim({ argv }: HostProcess, runtimes: readonly string[]): boolean {
  const address = argv[argv.indexOf('-address') + 1]
  return posix.basename(argv[0] ?? '').startsWith('containerd-shim') && runtimes.includes(address ?? '')
}
