import { z } from 'zod'
import { toPrintable } from '../../kit/text.ts'
import { startIdleGc } from '../../kit/idle-gc.ts'
import { runProxy } from '../../proxy/run.ts'
import { defaultProxyTiming } from '../../proxy/timing.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'

const flags = z.object({ config: z.string() })

export const apiserverProxyCommand: LeafCommand = {
  examples: [
    [
      'hyperkube apiserver-proxy --config /etc/hyperkube/apiserver-proxy/config.json',
      'run the proxy; used by its service on hosts',
    ],
    ['curl http://127.0.0.1:6445/healthz', 'show known API servers and their health'],
  ],
  sharedFlags: [],
  configure(command) {
    command.requiredOption('--config <file>', 'read the listen address and API servers from this file')
  },
  async run({ stderr, signal }, { options }) {
    const { config } = flags.parse(options)
    // The service manager stops a service with SIGTERM.
    const stop = new AbortController()
    const onSigterm = (): void => stop.abort()
    const stopIdleGc = startIdleGc()
    process.once('SIGTERM', onSigterm)
    try {
      const log = (line: string): void => void stderr.write(`${toPrintable(line)}\n`)
      const deps = { timing: defaultProxyTiming, random: Math.random, log }
      await runProxy(config, deps, AbortSignal.any([signal, stop.signal]))
    } finally {
      process.off('SIGTERM', onSigterm)
      stopIdleGc()
    }
    return exitCodes.ok
  },
}
