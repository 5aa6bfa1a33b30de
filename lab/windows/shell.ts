import { once } from 'node:events'
import { connect } from 'node:net'

/** Hands a line to the host, then all that is typed, and shows what comes back until there is no more. */
export async function passOn(line: string, socket: string): Promise<void> {
  const connection = connect({ path: socket, allowHalfOpen: true })
  await once(connection, 'connect')
  connection.write(`${line}\n`)
  process.stdin.pipe(connection)
  connection.pipe(process.stdout)
  connection.on('error', () => process.exit(1))
  await once(connection, 'end')
  process.exit(0)
}
