import { bridgeToAgent } from '../../agent/server/bridge.ts'
import { agentSocket } from '../../agent/server/server.ts'
import { toAsciiJson } from '../../kit/text.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'

export const agentCallCommand: LeafCommand = {
  examples: [
    ['echo REQUEST | hyperkube agent-call', 'send a request to the agent; one JSON document per line'],
  ],
  sharedFlags: [],
  configure: () => undefined,
  async run({ stdout, signal }) {
    // On Windows a shell between ssh and this process may change the encoding of non-ASCII characters.
    const encode = (line: string): string => (process.platform === 'win32' ? toAsciiJson(line) : line)
    const respond = (line: string): void => void stdout.write(encode(line))
    await bridgeToAgent({ path: agentSocket(), requests: process.stdin, onResponse: respond, signal })
    return exitCodes.ok
  },
}
