import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'

/**
 * A program of ours in a host's network, and in nothing else of it: `ip netns exec` would give it mounts of its own, and with
 * them hold the disks of all hosts of all labs.
 */
export function spawnInNetwork(host: Host, program: string): ChildProcessByStdio<Writable, Readable, null> {
  const argv = [`--net=/run/netns/${host.mark}`, process.execPath, program]
  return spawn('nsenter', argv, { stdio: ['pipe', 'pipe', 'inherit'] })
}

/** Such a program, which reads an order in a line, works until its input ends, and says one thing then. */
export function inNetworkOf(host: Host, program: string, order: object): { stop(): Promise<unknown> } {
  const child = spawnInNetwork(host, program)
  const said = Promise.withResolvers<unknown>()
  // Whoever stops it hears of that.
  said.promise.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdin.write(`${JSON.stringify(order)}\n`)
  createInterface({ input: child.stdout }).on('line', (line) => said.resolve(JSON.parse(line)))
  child.on('close', (code) => said.reject(new Error(`${program} ended with ${code}`)))
  return {
    async stop() {
      child.stdin.end()
      return said.promise
    },
  }
}

/** For such a program: what it was told, and when it shall end. */
export async function orderOf<T>(
  schema: z.ZodType<T>,
): Promise<{ readonly order: T; readonly ended: Promise<unknown> }> {
  const input = createInterface({ input: process.stdin })
  const ended = once(input, 'close')
  const [line] = z.tuple([z.string()]).parse(await once(input, 'line'))
  return { order: schema.parse(JSON.parse(line)), ended }
}
