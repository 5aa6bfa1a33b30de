import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { combineWrites } from './combine-writes.ts'

test('the parts of a packet are sent together, in their order', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = z.object({ port: z.int() }).parse(server.address())
  const socket = connect({ host: '127.0.0.1', port })
  try {
    const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')])
    combineWrites(socket)
    const received = text(peer)
    for (const part of ['length', 'content', 'tag']) socket.write(part)
    // A socket that sends each part at once has no unsent bytes here.
    expect(socket.writableLength).toBe('lengthcontenttag'.length)
    await new Promise((resolve) => process.nextTick(resolve))
    expect(socket.writableLength).toBe(0)
    socket.write('next')
    socket.end()
    expect(await received).toBe('lengthcontenttagnext')
  } finally {
    socket.destroy()
    server.close()
  }
})
