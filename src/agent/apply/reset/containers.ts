import { posix } from 'node:path'
import type { HostProcess } from '../../host/processes.ts'
import type { LinuxLeftoverStep } from './leftover-step.ts'

/** Milliseconds between two checks. */
const checkIntervalMs = 100

/** Kills all containers. They outlive the container runtime, because each one has its own shim process. */
export const killContainers: LinuxLeftoverStep = async ({ processes, clock }, { runtimes }, signal) => {
  const killed = new Set<number>()
  for (;;) {
    const remaining = findContainerProcesses(await processes.list(), runtimes)
    if (remaining.length === 0) break
    signal.throwIfAborted()
    for (const { pid } of remaining) await processes.kill(pid)
    for (const { pid } of remaining) killed.add(pid)
    await clock.pause(checkIntervalMs, signal)
  }
  return killed.size === 0 ? [] : [`${killed.size} processes of containers`]
}

/** Finds the shims of these container runtimes and all their descendants. */
export function findContainerProcesses(
  all: readonly HostProcess[],
  runtimes: readonly string[],
): HostProcess[] {
  const children = Map.groupBy(all, ({ parent }) => parent)
  const withDescendants = (one: HostProcess): HostProcess[] => [
    one,
    ...(children.get(one.pid) ?? []).flatMap(withDescendants),
  ]
  return all.filter((one) => isShim(one, runtimes)).flatMap(withDescendants)
}

function isShim({ argv }: HostProcess, runtimes: readonly string[]): boolean {
  const address = argv[argv.indexOf('-address') + 1]
  return posix.basename(argv[0] ?? '').startsWith('containerd-shim') && runtimes.includes(address ?? '')
}
