import { readFile } from 'node:fs/promises'
import { undefinedIfMissing } from '../../agent/host/local-files.ts'
import { readAgentKey } from '../../agent/server/agent-key.ts'
import { agentSocket, bridgeToAgent } from '../../agent/server/bridge.ts'
import { buildWindowsPaths, findWindowsBase } from '../../contract/host-paths.ts'
import { toAsciiJson } from '../../kit/text.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'

export const agentCallCommand: LeafCommand = {
  examples: [
    ['echo REQUEST | hyperkube agent-call', 'send a request to the agent; one JSON document per line'],
  ],
  sharedFlags: [],
  configure: () => undefined,
  async run({ stdout, signal }) {
    // On Windows, lines are sent as ASCII. A shell between ssh and this process may change the encoding of
    // other characters.
    const encode = (line: string): string => (process.platform === 'win32' ? toAsciiJson(line) : line)
    const respond = (line: string): void => void stdout.write(encode(line))
    const key = process.platform === 'win32' ? await readKey() : undefined
    await bridgeToAgent({ path: agentSocket(), key, requests: process.stdin, onResponse: respond, signal })
    return exitCodes.ok
  },
}

/** Reads the key of the agent below the base directory in which this program is installed. */
async function readKey(): Promise<Buffer> {
  const base = findWindowsBase(process.execPath) ?? String.raw`C:\hyperkube`
  const read = async (path: string): Promise<Buffer | undefined> => undefinedIfMissing(readFile(path))
  return readAgentKey({ read }, buildWindowsPaths(base).state)
}
