import { bridge } from '../../agent/server/bridge.ts'
import { agentSocket } from '../../agent/server/server.ts'
import { asciiJson } from '../../kit/ascii.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'

export const agentCall: CommandDefinition = {
  examples: [
    [
      'echo REQUEST | hyperkube agent-call',
      'as operators do over ssh: a request in a line, answers in lines',
    ],
  ],
  configure: () => undefined,
  async run({ stdout, signal }) {
    // On Windows a shell stands in between, which may write other letters in its own way.
    const said = (line: string): string => (process.platform === 'win32' ? asciiJson(line) : line)
    const answer = (line: string): void => void stdout.write(said(line))
    await bridge({ path: agentSocket(), requests: process.stdin, answer, signal })
    return exitCodes.ok
  },
}
