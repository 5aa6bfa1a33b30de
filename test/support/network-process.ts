import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
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
