import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port of 127.0.0.1 on which no process listens now. */
export async function findFreePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('the listener has no port')
  return address.port
}
