import { bridge } from '../../agent/serve/bridge.ts'
import { agentSocket } from '../../agent/serve/server.ts'
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
    const answer = (line: string): void => void stdout.write(line)
    await bridge({ path: agentSocket(), requests: process.stdin, answer, signal })
    return exitCodes.ok
  },
}
