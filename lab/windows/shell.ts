import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends a command line and standard input to the host, and prints the output until it ends. */
export async function forwardLine(line: string, socket: string): Promise<void> {
  const connection = connect({ path: socket, allowHalfOpen: true })
  await once(connection, 'connect')
  connection.write(`${line}\n`)
  process.stdin.pipe(connection)
  connection.pipe(process.stdout)
  connection.on('error', () => process.exit(1))
  await once(connection, 'end')
  process.exit(0)
}
