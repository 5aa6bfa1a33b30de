import { once } from 'node:events'
import { connect } from 'node:net'
import { formatError } from '../../src/kit/errors.ts'
import { interruptNetwork } from './interrupt-network.ts'
import { agentSocket, shellSocket } from './paths.ts'
import { runHost } from './run-host.ts'
import { serveShell } from './shell-server.ts'
import { formatTestCommand } from './test-command.ts'

/**
 * Program of a simulated Windows host. `run` simulates Windows, `shell` sends the command line of an ssh
 * session to the simulator, and other commands are for tests.
 */
async function main([command = '', ...args]: readonly string[]): Promise<void> {
  if (command !== 'run')
    return forwardLine(command === 'shell' ? (args[0] ?? '') : formatTestCommand(command, args), shellSocket)
  const [name = '', address = '', gateway = ''] = args
  const hostDeps = {
    root: '/',
    agentSocket,
    interruptNetwork: async () => interruptNetwork(gateway),
    signal: new AbortController().signal,
  }
  return serveShell(await runHost({ name, address, gateway }, hostDeps), { shellSocket, agentSocket })
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${formatError(error)}\n`)
  process.exitCode = 1
})

/** Sends a command line and standard input to the simulator. Prints the output until the connection ends. */
async function forwardLine(line: string, socket: string): Promise<void> {
  const connection = connect({ path: socket, allowHalfOpen: true })
  await once(connection, 'connect')
  connection.write(`${line}\n`)
  process.stdin.pipe(connection)
  connection.pipe(process.stdout)
  connection.on('error', () => process.exit(1))
  await once(connection, 'end')
  process.exit(0)
}
