import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { rollBackAgent } from '../../agent/host-call/switch-agent.ts'
import { thisWindows } from '../../agent/host/windows/this-windows.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { createHostCallContext, requireWindows } from '../windows/host-call-context.ts'

const flags = z.object({ baseDirectory: z.string(), after: z.coerce.number().int().min(0) })

export const agentRevertCommand: LeafCommand = {
  examples: [
    [
      String.raw`hyperkube agent-revert --base-directory=C:\hyperkube --after=90000`,
      'roll back an unconfirmed new agent on Windows; used by the service',
    ],
  ],
  sharedFlags: [],
  configure(command) {
    command
      .requiredOption('--base-directory <directory>', 'use this base directory of all hyperkube files')
      .requiredOption(
        '--after <milliseconds>',
        'roll back after this many milliseconds unless the new agent is confirmed',
      )
  },
  async run({ signal }, { options }) {
    requireWindows('agent-revert')
    const { baseDirectory, after } = flags.parse(options)
    await sleep(after, undefined, { signal })
    await using windows = await thisWindows()
    await rollBackAgent(createHostCallContext(windows.host, baseDirectory, signal))
    return exitCodes.ok
  },
}
