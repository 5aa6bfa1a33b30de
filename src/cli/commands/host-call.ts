import { serveCall } from '../../agent/windows/bootstrap/serve-host-call.ts'
import { thisWindows } from '../../agent/windows/host/this-windows.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { callScene, needWindows } from '../windows/host-call-context.ts'

export const hostCall: CommandDefinition = {
  examples: [
    ['echo CALL | hyperkube host-call', 'as operators do over ssh: a call in a line, answers in lines'],
  ],
  configure: () => undefined,
  async run({ stdout }) {
    needWindows('host-call')
    await using windows = await thisWindows()
    await serveCall({
      requests: process.stdin,
      answer: (line) => void stdout.write(line),
      sceneAt: (base, gone) => callScene(windows.host, base, gone),
    })
    return exitCodes.ok
  },
}
