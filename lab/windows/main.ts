import { describe } from '../../src/kit/errors.ts'
import { adjust } from './test-command.ts'
import { answerLines } from './shell-server.ts'
import { bounce } from './interrupt-network.ts'
import { agentSocket, shellSocket } from './paths.ts'
import { runHost } from './run-host.ts'
import { passOn } from './shell.ts'

/** What a simulated Windows host runs: `run` is Windows, `shell` what a login gets, all else is for tests. */
async function main([word = '', ...args]: readonly string[]): Promise<void> {
  if (word !== 'run') return passOn(word === 'shell' ? (args[0] ?? '') : adjust(word, args), shellSocket)
  const [name = '', address = '', gateway = ''] = args
  const ground = {
    root: '/',
    agentSocket,
    bounce: async () => bounce(gateway),
    signal: new AbortController().signal,
  }
  return answerLines(await runHost({ name, address, gateway }, ground), { shellSocket, agentSocket })
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${describe(error)}\n`)
  process.exitCode = 1
})
