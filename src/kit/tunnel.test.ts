import { once } from 'node:events'
import { Duplex, PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { type StreamPair, Tunnel } from './tunnel.ts'

interface Pipe extends StreamPair {
  readonly readable: PassThrough
  readonly writable: PassThrough
  readonly closed: (Error | null)[]
}

function pipe(): Pipe {
  const closed: (Error | null)[] = []
  const close = (error: Error | null): void => void closed.push(error)
  return { readable: new PassThrough(), writable: new PassThrough(), close, closed }
}

test('what is written before it stands arrives when it does, and the end with it', async () => {
  const pending = Promise.withResolvers<StreamPair>()
  const tunnel = new Tunnel(async () => pending.promise)
  tunnel.write('early ')
  tunnel.end('and all')
  const streams = pipe()
  pending.resolve(streams)
  expect((await buffer(streams.writable)).toString()).toBe('early and all')
  streams.readable.end('back')
  expect((await buffer(tunnel)).toString()).toBe('back')
  if (!tunnel.closed) await once(tunnel, 'close')
  expect(streams.closed).toEqual([])
})

test('waits for a reader, and for a writer', async () => {
  const streams = pipe()
  const tunnel = new Tunnel(async () => streams)
  const chunk = Buffer.alloc(100_000)
  streams.readable.write(chunk)
  streams.readable.write(chunk)
  await expect.poll(() => streams.readable.isPaused()).toBe(true)
  expect(streams.readable.readableLength).toBeGreaterThan(0)
  for (let index = 0; index < 5; index++) tunnel.write(chunk)
  expect(tunnel.writableNeedDrain).toBe(true)
  tunnel.end()
  streams.readable.end()
  const [there, here] = await Promise.all([buffer(streams.writable), buffer(tunnel)])
  expect([there.length, here.length]).toEqual([500_000, 200_000])
})

test('when the other side ends, so does this one, with all that was sent before', async () => {
  const streams = pipe()
  const tunnel = new Tunnel(async () => streams)
  streams.readable.end('last words')
  expect((await buffer(tunnel)).toString()).toBe('last words')
  expect((await buffer(streams.writable)).length).toBe(0)
})

test('fails with what the connection fails with: while it is made, while it is read, when it is gone', async () => {
  const error = new Error('no')
  const refused = new Tunnel(async () => Promise.reject(error))
  expect(await once(refused, 'error')).toEqual([error])

  const broken = pipe()
  const reading = new Tunnel(async () => broken)
  reading.resume()
  await once(broken.readable, 'resume')
  broken.readable.destroy(error)
  expect(await once(reading, 'error')).toEqual([error])
  expect(broken.closed).toEqual([error])

  const gone = pipe()
  const cut = new Tunnel(async () => gone)
  cut.resume()
  await once(gone.readable, 'resume')
  gone.readable.destroy()
  expect(await once(cut, 'error')).toMatchObject([{ message: 'the connection was closed' }])
})

test('is destroyed before it stands without waiting, and what comes too late is closed', async () => {
  let aborted: AbortSignal | undefined
  const pending = Promise.withResolvers<StreamPair>()
  const tunnel = new Tunnel(async (signal) => {
    aborted = signal
    return pending.promise
  })
  await expect.poll(() => aborted).toBeDefined()
  tunnel.destroy()
  expect(aborted?.aborted).toBe(true)
  const streams = pipe()
  pending.resolve(streams)
  await expect.poll(() => streams.closed).toEqual([null])
})

test('a write to a closed connection fails', async () => {
  const unwritable = new Duplex({ read: () => undefined, write: () => undefined, emitClose: false })
  const tunnel = new Tunnel(async () => ({
    readable: unwritable,
    writable: unwritable,
    close: () => undefined,
  }))
  tunnel.resume()
  tunnel.write('anybody?')
  await once(unwritable, 'resume')
  unwritable.push(null)
  await once(unwritable, 'end')
  unwritable.emit('close')
  expect(await once(tunnel, 'error')).toMatchObject([{ message: 'the connection was closed' }])
})
