import { connect, createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { openTarget } from './endpoint-relay.ts'

const credentials = { ca: '', certificate: '', key: '' }
const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** Starts a server that sends one word to each client. */
async function startServer(
  word: string,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  const server = createServer((socket) => socket.end(word))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    stop: async () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

const readFrom = async (port: number): Promise<string> => text(connect(port, '127.0.0.1'))

test('a connection goes to the first endpoint that accepts it, also after an endpoint has stopped', async () => {
  const [first, second] = [await startServer('first'), await startServer('second')]
  const host = '127.0.0.1'
  using opened = await openTarget({
    host,
    port: first.port,
    credentials,
    others: [{ host, port: second.port }],
  })
  expect(await readFrom(opened.target.port)).toBe('first')
  await first.stop()
  expect(await readFrom(opened.target.port)).toBe('second')
})

test('without an endpoint that accepts it, a connection ends', async () => {
  const [first, second] = [await startServer('first'), await startServer('second')]
  await Promise.all([first.stop(), second.stop()])
  const host = '127.0.0.1'
  using opened = await openTarget({
    host,
    port: first.port,
    credentials,
    others: [{ host, port: second.port }],
  })
  expect(await readFrom(opened.target.port).catch(() => '')).toBe('')
})

test('a target with one endpoint needs no relay', async () => {
  const target = { host: '192.0.2.1', port: 6443, credentials }
  using opened = await openTarget(target)
  expect(opened.target).toBe(target)
})
