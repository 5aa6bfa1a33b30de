import { z } from 'zod'
import { printable } from '../../kit/printable.ts'
import { giveBackMemory } from '../../kit/idle-gc.ts'
import { runProxy } from '../../proxy/run.ts'
import { usualTiming } from '../../proxy/timing.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'

const flags = z.object({ config: z.string() })

export const apiserverProxy: CommandDefinition = {
  examples: [
    ['hyperkube apiserver-proxy --config /etc/hyperkube/apiserver-proxy/config.json', 'as its service does'],
    ['curl http://127.0.0.1:6445/healthz', 'which servers it knows, and how they are'],
  ],
  configure(command) {
    command.requiredOption('--config <file>', 'where to listen, and which servers there are')
  },
  async run({ stderr, signal }, { options }) {
    const { config } = flags.parse(options)
    // A service is stopped by this one.
    const stop = new AbortController()
    const stopped = (): void => stop.abort()
    const cease = giveBackMemory()
    process.once('SIGTERM', stopped)
    try {
      const log = (line: string): void => void stderr.write(`${printable(line)}\n`)
      const world = { timing: usualTiming, random: Math.random, log }
      await runProxy(config, world, AbortSignal.any([signal, stop.signal]))
    } finally {
      process.off('SIGTERM', stopped)
      cease()
    }
    return exitCodes.ok
  },
}
