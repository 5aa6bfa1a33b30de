import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { signal, type RemoteSubject } from './subject.ts'

const here = '127.0.0.1'

export function testDialling({ remote, connectAnother, echo, silentRefusals }: RemoteSubject): void {
  const exchange = async (stream: Duplex, word: string): Promise<string> => {
    stream.write(word)
    const [replies]: unknown[] = await once(stream, 'data')
    return String(replies)
  }

  test('dial carries 8 MiB in both directions at once and closes', async () => {
    const port = await echo()
    const content = randomBytes(8 << 20)
    const stream = await remote().dial(here, port, { signal })
    const back = buffer(stream)
    for (let at = 0; at < content.length; at += 100_000) stream.write(content.subarray(at, at + 100_000))
    stream.end()
    expect((await back).equals(content)).toBe(true)
  })

  test('several dialled connections work at the same time', async () => {
    const port = await echo()
    const words = ['one', 'two', 'three', 'four', 'five']
    const replies = words.map(async (word) => {
      const stream = await remote().dial(here, port, { signal })
      const reply = await exchange(stream, word)
      stream.destroy()
      return reply
    })
    expect(await Promise.all(replies)).toEqual(words)
  })

  test('a port without a listener fails at once', async () => {
    const started = performance.now()
    await expect(remote().dial(here, 2, { signal })).rejects.toMatchObject({
      code: 'SSH_DIAL_REFUSED',
      host: remote().host,
      message: expect.stringMatching(
        silentRefusals === true
          ? 'cannot connect to '
          : /^cannot connect to 127.0.0.1 port 2: nothing listens there$/,
      ),
      hint: 'on the host: ss -Htlnp sport = :2',
    })
    expect(performance.now() - started).toBeLessThan(3000)
  })

  test('an abort ends a dialled connection with its reason', async () => {
    const stop = new AbortController()
    const stream = await remote().dial(here, await echo(), { signal: stop.signal })
    expect(await exchange(stream, 'hello')).toBe('hello')
    const reason = new Error('enough')
    const failed = once(stream, 'error')
    stop.abort(reason)
    expect(await failed).toEqual([reason])
    expect(stream.destroyed).toBe(true)
  })

  test('an abort before or during dial rejects with its reason', async () => {
    const port = await echo()
    const reason = new Error('enough')
    await expect(remote().dial(here, port, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const stop = new AbortController()
    const given = remote().dial(here, port, { signal: stop.signal })
    stop.abort(reason)
    await expect(given).rejects.toBe(reason)
  })

  test('closing the remote ends its dialled connections with SSH_LOST', async () => {
    const way = await connectAnother()
    const stream = await way.dial(here, await echo(), { signal })
    expect(await exchange(stream, 'hello')).toBe('hello')
    const failed = once(stream.resume(), 'error')
    await way.close()
    expect(await failed).toMatchObject([{ code: 'SSH_LOST' }])
    await expect(way.dial(here, await echo(), { signal })).rejects.toMatchObject({ code: 'SSH_LOST' })
  })
}
