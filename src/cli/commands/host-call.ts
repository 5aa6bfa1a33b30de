import { serveCall } from '../../agent/host-call/handle-host-call.ts'
import { thisWindows } from '../../agent/host/windows/this-windows.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { createHostCallContext, requireWindows } from '../windows/host-call-context.ts'

export const hostCallCommand: LeafCommand = {
  examples: [
    ['echo CALL | hyperkube host-call', 'run a call on this Windows host; one JSON document per line'],
  ],
  sharedFlags: [],
  configure: () => undefined,
  async run({ stdout }) {
    requireWindows('host-call')
    await using windows = await thisWindows()
    await serveCall({
      requests: process.stdin,
      respond: (line) => void stdout.write(line),
      createContext: (base, callerGone) => createHostCallContext(windows.host, base, callerGone),
    })
    return exitCodes.ok
  },
}
