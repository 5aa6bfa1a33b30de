import { serveCall } from '../../agent/windows/call/serve-call.ts'
import { powershellHost } from '../../agent/windows/powershell/powershell-host.ts'
import { hostScript } from '../../agent/windows/powershell/script.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { callScene, needWindows } from '../windows/call-scene.ts'

export const hostCall: CommandDefinition = {
  examples: [
    ['echo CALL | hyperkube host-call', 'as operators do over ssh: a call in a line, answers in lines'],
  ],
  configure: () => undefined,
  async run({ stdout }) {
    needWindows('host-call')
    await using powershell = powershellHost({ script: await hostScript() })
    await serveCall({
      requests: process.stdin,
      answer: (line) => void stdout.write(line),
      sceneAt: (base, gone) => callScene(powershell.host, base, gone),
    })
    return exitCodes.ok
  },
}
