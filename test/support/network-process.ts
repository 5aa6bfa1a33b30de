import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'

/** Where a client runs: on a host of the lab, or on the machine that runs the lab and never fails. */
export type ClientNetwork = Host | 'machine'

/**
 * Starts a program in the network namespace of a host. `ip netns exec` would also create a mount namespace,
 * which would keep the disks of all labs mounted.
 */
export function spawnInNetwork(
  network: ClientNetwork,
  program: string,
): ChildProcessByStdio<Writable, Readable, null> {
  const argv = [process.execPath, program] as const
  const [file, ...args] =
    network === 'machine' ? argv : (['nsenter', `--net=/run/netns/${network.hostId}`, ...argv] as const)
  return spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
}

/**
 * Starts a program in the network namespace of a host. The program reads one line with its options, works
 * until its input ends, and prints one result line.
 */
export function runInNetwork(
  network: ClientNetwork,
  program: string,
  options: object,
): { stop(): Promise<unknown> } {
  const child = spawnInNetwork(network, program)
  const result = Promise.withResolvers<unknown>()
  // Prevents an unhandled rejection. `stop` awaits the same promise and gets its error.
  result.promise.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdin.write(`${JSON.stringify(options)}\n`)
  createInterface({ input: child.stdout }).on('line', (line) => result.resolve(JSON.parse(line)))
  child.on('close', (code) => result.reject(new Error(`${program} ended with ${code}`)))
  return {
    async stop() {
      child.stdin.end()
      return result.promise
    },
  }
}

/** Called by the started program: reads its options. `ended` resolves when the input ends. */
export async function readOptions<T>(
  schema: z.ZodType<T>,
): Promise<{ readonly options: T; readonly ended: Promise<unknown> }> {
  const input = createInterface({ input: process.stdin })
  const ended = once(input, 'close')
  const [line] = z.tuple([z.string()]).parse(await once(input, 'line'))
  return { options: schema.parse(JSON.parse(line)), ended }
}
