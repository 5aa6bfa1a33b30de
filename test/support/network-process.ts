import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'

/** A program of ours in a host's network. It reads an order in a line, works until its input ends, and says one thing then. */
export function inNetworkOf(host: Host, program: string, order: object): { stop(): Promise<unknown> } {
  const argv = ['netns', 'exec', host.mark, process.execPath, program]
  const child = spawn('ip', argv, { stdio: ['pipe', 'pipe', 'inherit'] })
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
