import { once } from 'node:events'
import { Duplex, PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { type Ends, Tunnel } from './tunnel.ts'

interface Pipe extends Ends {
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
  const way = Promise.withResolvers<Ends>()
  const tunnel = new Tunnel(async () => way.promise)
  tunnel.write('early ')
  tunnel.end('and all')
  const ends = pipe()
  way.resolve(ends)
  expect((await buffer(ends.writable)).toString()).toBe('early and all')
  ends.readable.end('back')
  expect((await buffer(tunnel)).toString()).toBe('back')
  if (!tunnel.closed) await once(tunnel, 'close')
  expect(ends.closed).toEqual([])
})

test('waits for a reader, and for a writer', async () => {
  const ends = pipe()
  const tunnel = new Tunnel(async () => ends)
  const chunk = Buffer.alloc(100_000)
  ends.readable.write(chunk)
  ends.readable.write(chunk)
  await expect.poll(() => ends.readable.isPaused()).toBe(true)
  expect(ends.readable.readableLength).toBeGreaterThan(0)
  for (let turn = 0; turn < 5; turn++) tunnel.write(chunk)
  expect(tunnel.writableNeedDrain).toBe(true)
  tunnel.end()
  ends.readable.end()
  const [there, here] = await Promise.all([buffer(ends.writable), buffer(tunnel)])
  expect([there.length, here.length]).toEqual([500_000, 200_000])
})

test('when the other side ends, so does this one, with all that was sent before', async () => {
  const ends = pipe()
  const tunnel = new Tunnel(async () => ends)
  ends.readable.end('last words')
  expect((await buffer(tunnel)).toString()).toBe('last words')
  expect((await buffer(ends.writable)).length).toBe(0)
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
  const way = Promise.withResolvers<Ends>()
  const tunnel = new Tunnel(async (signal) => {
    aborted = signal
    return way.promise
  })
  await expect.poll(() => aborted).toBeDefined()
  tunnel.destroy()
  expect(aborted?.aborted).toBe(true)
  const ends = pipe()
  way.resolve(ends)
  await expect.poll(() => ends.closed).toEqual([null])
})

test('a writer whose words are not taken any more is told', async () => {
  const deaf = new Duplex({ read: () => undefined, write: () => undefined, emitClose: false })
  const tunnel = new Tunnel(async () => ({ readable: deaf, writable: deaf, close: () => undefined }))
  tunnel.resume()
  tunnel.write('anybody?')
  await once(deaf, 'resume')
  deaf.push(null)
  await once(deaf, 'end')
  deaf.emit('close')
  expect(await once(tunnel, 'error')).toMatchObject([{ message: 'the connection was closed' }])
})
